import type { Operation } from '../api/operation.ts'
import { operationName } from '../api/operation.ts'
import type { OperationName } from '../api/operations/index.ts'

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

type LastPart<Name extends string> = Name extends `${string}/${infer Last}` ? Last : Name

/** The names of methods that are not those of their operations. */
type OwnName<Name extends string> = Name extends 'listMergeQueueTestingResults' ? 'listTestRuns' : Name

type OperationMethodName = OwnName<CamelCase<LastPart<OperationName>>>

export type MethodName = OperationMethodName | 'explainPullRequest' | 'explainQueue' | 'listQueues'

export type IteratorName = OperationMethodName extends infer Name
  ? Name extends `list${infer Records}`
    ? `iterate${Records}`
    : never
  : never

/** The name of the method of an operation: `listFailingTests` for `flaky-tests/list-failing-tests`. */
export const methodName = ({ route, name }: Operation): string =>
  name ??
  (operationName(route).split('/').at(-1) ?? '').replace(/-./g, ([, letter = '']) => letter.toUpperCase())

/** The name of the method that iterates a list: `iterateFailingTests`. */
export const iteratorName = (operation: Operation): string =>
  methodName(operation).replace(/^list/, 'iterate')
