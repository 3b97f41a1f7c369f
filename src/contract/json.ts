// The plain data of answers, as the rooms that may not know the view import it.
export {
  at,
  count,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  marked,
  size,
  textAt,
} from '../view/shapes.ts'
