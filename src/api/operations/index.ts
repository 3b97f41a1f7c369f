import type { Row } from '../operation.ts'
import { list } from './failing-tests.ts'
import { metrics } from './metrics.ts'
import { cancel, get, restart, submit } from './pull-requests.ts'
import { create, read, remove, stateChanges, update } from './queues.ts'
import { targets } from './impacted-targets.ts'
import { details } from './test-details.ts'
import { testing } from './testing-details.ts'

/** The thirteen operations of the service, in the order of CLI.md section 1. */
export const endpoints = [
  submit,
  cancel,
  restart,
  get,
  targets,
  testing,
  create,
  read,
  update,
  remove,
  metrics,
  list,
  details,
] as const satisfies readonly Row[]

/** Every row that is a command: the operations, and those that are one operation with a value already given. */
export const rows: readonly Row[] = [...endpoints, ...stateChanges]

type NameIn<P extends string> = P extends `${string} /${infer Name}` ? Name : never

/** The name of an operation that the service documents. */
export type Operation = NameIn<(typeof endpoints)[number]['route']>
