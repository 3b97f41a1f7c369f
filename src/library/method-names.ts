import type { RequestName } from '../api/operations/index.ts'

export type IteratorName = RequestName extends infer Name
  ? Name extends `list${infer Records}`
    ? `iterate${Records}`
    : never
  : never

/** The name of the method that iterates a list: `iterateFailingTests` for `listFailingTests`. */
export const iteratorName = (methodName: string): string => methodName.replace(/^list/, 'iterate')
