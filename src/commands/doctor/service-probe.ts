import { callOperation } from '../../api/call.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { withMaxRetries } from '../../api/service-client.ts'
import type { CommandContext } from '../../cli/context.ts'
import { type MergeqError, toMergeqError } from '../../errors.ts'

/** What one request to the service showed. */
export interface ServiceProbe {
  /** When the request was sent and when it ended, in milliseconds since 1970. */
  readonly sentAt: number
  readonly endedAt: number
  /** The time of the response by the service's clock, in milliseconds since 1970. */
  readonly date?: number | undefined
  /** Why the request failed; undefined for a response with a status of 2xx. */
  readonly error?: MergeqError
}

/**
 * Reads the metrics once, without retries: a read that needs a token and no repository. Throws only the error
 * of a signal.
 */
export async function probeService(context: CommandContext): Promise<ServiceProbe> {
  const { clock } = context.host
  const sentAt = clock.now()
  try {
    const client = context.client()
    const limits = withMaxRetries(client, 0)
    const { date } = await callOperation(client, getMergeQueueMetrics, {}, { limits })
    return { sentAt, endedAt: clock.now(), date }
  } catch (caught) {
    const error = toMergeqError(caught)
    if (error.kind === 'interrupted') throw error
    return { sentAt, endedAt: clock.now(), error }
  }
}
