import { callOperation } from '../../api/call.ts'
import { operationName } from '../../api/operation.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { Token } from '../../config/token.ts'

/** Returns the origin for which a token is stored: that of the base address. */
export const readOrigin = async ({ settings }: CommandContext): Promise<string> =>
  new URL(await settings.require('baseUrl')).origin

/**
 * Verifies a token with a request for the metrics, which need no repository. Rejects with the error of the
 * request; its kind is `auth` if the service rejects the token.
 */
export async function verifyToken(token: Token, context: CommandContext): Promise<void> {
  await callOperation({ ...context.client(), token: async () => token }, getMergeQueueMetrics, {})
}

/** Returns the request of a verification as a preview names it. */
export const describeVerification = async ({ settings }: CommandContext): Promise<string> =>
  `GET ${await settings.require('baseUrl')}/${operationName(getMergeQueueMetrics.route)}`
