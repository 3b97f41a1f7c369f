import type { Operation } from '../operation.ts'
import { conclusions } from './conclusions.ts'
import { metricsOperations } from './metrics.ts'
import { pullRequestOperations, pullRequestRequests } from './pull-requests.ts'
import { queueOperations } from './queues.ts'
import { testRunOperations, testRunRequests } from './testing-results.ts'
import { testOperations, testRequests } from './tests.ts'

/** The requests that the service takes, by the names of the methods of the library. */
const requests = {
  ...pullRequestRequests,
  ...queueOperations,
  ...metricsOperations,
  ...testRunRequests,
  ...testRequests,
}

export type RequestName = keyof typeof requests

const isHosted = ({ isHostedOnly = false }: Pick<Operation, 'isHostedOnly'>): number => Number(isHostedOnly)

/** The requests that the service takes, first those of its API document. */
export const serviceOperations = Object.values(requests).sort((one, other) => isHosted(one) - isHosted(other))

type NameIn<P extends string> = P extends `${string} /${infer Name}` ? Name : never

export type OperationName = NameIn<(typeof serviceOperations)[number]['route']>

/** What command line and library call, by the names of the methods of the library. */
export const clientOperations = {
  ...pullRequestOperations,
  ...queueOperations,
  ...metricsOperations,
  ...testRunOperations,
  ...testOperations,
  ...conclusions,
}

export type ClientOperationName = keyof typeof clientOperations
