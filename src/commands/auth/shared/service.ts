import { callOperation } from '../../../api/call.ts'
import { operationName } from '../../../api/operation.ts'
import { getMergeQueueMetrics } from '../../../api/operations/metrics.ts'
import type { Cli } from '../../../command/command.ts'
import type { Token } from '../../../config/token.ts'

/** Tokens are stored by origin. Throws the error of the `baseUrl` setting. */
export const readOrigin = async ({ settings }: Cli): Promise<string> =>
  new URL(await settings.require('baseUrl')).origin

/** Verifies a token with a request for the metrics, which need no repository. */
export async function verifyToken(token: Token, cli: Cli): Promise<void> {
  await callOperation({ ...cli.client(), token: async () => token }, getMergeQueueMetrics, {})
}

export const describeVerification = async ({ settings }: Cli): Promise<string> =>
  `GET ${await settings.require('baseUrl')}/${operationName(getMergeQueueMetrics.route)}`
