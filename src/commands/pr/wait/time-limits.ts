import { type RequestLimits, withMaxRetries } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { ParsedArgs } from '../../../config/settings.ts'
import { attemptLimit } from '../../../domain/limits.ts'
import { parseDuration } from '../../../domain/values/time.ts'
import type { WaitGoal } from '../../../domain/wait-state.ts'
import { usageError } from '../../../errors.ts'
import type { WaitInputValues } from './wait-inputs.ts'

export interface WaitOptions extends WaitGoal {
  /** Milliseconds between polls. */
  readonly interval: number | 'auto'
  /** How many consecutive failed readings of a pull request end its wait. */
  readonly maxErrors: number
  readonly failOnPaused: boolean
  /** Milliseconds for the whole wait; 0 reads every pull request once. */
  readonly limit: number
  readonly stopsOnError: boolean
}

const minute = 60_000

/** Returns the milliseconds that a whole wait may take: `--timeout` if it was typed, else an hour. */
export function readWaitTimeLimit(args: ParsedArgs): number {
  const [typed] = args.get('--timeout') ?? []
  return typed === undefined ? 60 * minute : parseDuration(typed)
}

/**
 * Reads the options of a wait for a number of pull requests. Throws a usage error when a head commit is given
 * for more than one pull request.
 */
export function readWaitOptions(
  values: WaitInputValues,
  pullRequestCount: number,
  { args }: Pick<CommandContext, 'args'>,
): WaitOptions {
  const { matchHead: head, until, interval, grace, maxErrors, failOnPaused } = values
  if (head !== undefined && pullRequestCount > 1)
    throw usageError(
      '--match-head works with only one pull request.',
      'Run a separate wait for each pull request.',
    )
  return {
    until,
    interval,
    grace,
    head,
    maxErrors,
    failOnPaused,
    limit: readWaitTimeLimit(args),
    stopsOnError: args.has('--stop-on-error'),
  }
}

/** Every attempt has at least this much time, in milliseconds. */
const minAttemptTime = 1_000

export interface WaitLimits {
  /**
   * For a poll. A failed poll is not retried, as the next round repeats it. A wait with the limit 0 polls
   * once: its polls keep the usual retries.
   */
  readonly poll: RequestLimits
  /** For a change before the wait. It keeps the usual retries, because its outcome must be known. */
  readonly change: RequestLimits
  /** Returns the limits of a read before the wait: only as many retries as fit into the remaining time. */
  forRead(): RequestLimits
}

/**
 * Returns the limits of the requests of a wait; `remaining` returns the milliseconds that remain of it. No
 * attempt takes longer than the time that remains when it begins, but at least a second: so a silent service
 * delays the command by at most a second beyond the wait. `--timeout` limits the wait and not its attempts,
 * which the environment and the settings still limit. The limit 0 limits no attempt.
 */
export async function createWaitLimits(
  limit: number,
  remaining: () => number,
  context: CommandContext,
): Promise<WaitLimits> {
  const args = new Map(context.args)
  args.delete('--timeout')
  const configured = (await context.settings.withArgs(args).read('timeout')) || undefined
  const client = context.client()
  if (limit === 0) {
    const limits = { timeout: (usual: number) => configured ?? usual }
    return { poll: limits, change: limits, forRead: () => limits }
  }
  const timeout = (usual: number) => Math.min(configured ?? usual, Math.max(remaining(), minAttemptTime))
  return {
    poll: { timeout, ...withMaxRetries(client, 0) },
    change: { timeout },
    forRead() {
      const attempts = Math.floor(remaining() / (configured ?? attemptLimit))
      return { timeout, ...withMaxRetries(client, Math.max(0, attempts - 1)) }
    },
  }
}
