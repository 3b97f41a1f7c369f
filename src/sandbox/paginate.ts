import type { JsonObject } from '../json.ts'
import { createHex } from './seed.ts'
import { statusError } from './status-error.ts'

export interface SandboxPage<T> {
  readonly items: readonly T[]
  readonly page: JsonObject
}

/**
 * Returns one page of a list. An empty token asks for the first page; in `page` an empty token means that
 * there is no such page. The sandbox's own: a token is valid only for the same `queryKey` and page size; any
 * other is refused with 400.
 *
 * @param queryKey Text that identifies the query; the same for all its pages.
 */
export function paginate<T>(
  allItems: readonly T[],
  pageSize: number,
  token: string,
  queryKey: string,
): SandboxPage<T> {
  const pageCount = Math.ceil(allItems.length / pageSize)
  const createToken = (index: number) =>
    index < 0 || index >= pageCount
      ? ''
      : `${index.toString(36)}-${createHex(20, 'page', queryKey, pageSize, index)}`
  const index = token === '' ? 0 : Number.parseInt(token, 36)
  if (token !== '' && token !== createToken(index))
    throw statusError(400, 'page_token is not valid for this request.')
  return {
    items: allItems.slice(index * pageSize, (index + 1) * pageSize),
    page: {
      total_rows: allItems.length,
      total_pages: pageCount,
      next_page_token: createToken(index + 1),
      prev_page_token: createToken(index - 1),
      last_page_token: createToken(pageCount - 1),
      page_index: index,
    },
  }
}
