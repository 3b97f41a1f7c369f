import type { CommandContext } from '../../../cli/context.ts'
import type { ParsedArgs } from '../../../config/args.ts'
import { parseDuration } from '../../../domain/values/time.ts'
import type { WaitGoal } from '../../../domain/wait-state.ts'
import { usageError } from '../../../errors.ts'
import type { WaitInputValues } from './wait-inputs.ts'

/** The options of a wait. */
export interface WaitOptions extends WaitGoal {
  /** Milliseconds between polls. */
  readonly interval: number | 'auto'
  /** How many consecutive failed readings of a pull request end its wait. */
  readonly maxErrors: number
  /** Whether a paused queue ends the wait. */
  readonly failOnPaused: boolean
  /** Milliseconds for the whole wait; 0 reads every pull request once. */
  readonly limit: number
  /** Whether the first end without success ends the whole wait. */
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
      '--match-head works with one pull request only.',
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

/**
 * Returns a context in which `--timeout` does not limit single attempts, as it limits the whole wait. The
 * environment and the settings still limit attempts.
 */
export async function withoutWaitTimeout(context: CommandContext): Promise<CommandContext> {
  const args = new Map(context.args)
  args.delete('--timeout')
  const timeout = await context.settings.withArgs(args).read('timeout')
  return { ...context, options: { ...context.options, timeout } }
}

/**
 * Returns the time limit of an attempt that begins when `remaining` milliseconds of the wait remain: at least
 * a second.
 */
const limitAttempt = (remaining: number, usual: number): number =>
  Math.min(usual, Math.max(remaining, minAttemptTime))

/**
 * Returns the context for the polls of a wait; `remaining` returns the milliseconds that remain of the wait.
 * A failed poll is not retried, as the next round repeats it, and no attempt takes longer than the time that
 * remains when it begins. A wait with the limit 0 polls once: its polls keep the usual retries and time
 * limits.
 */
export function limitPolls(
  context: CommandContext,
  { limit }: Pick<WaitOptions, 'limit'>,
  remaining: () => number,
): CommandContext {
  if (limit === 0) return context
  return {
    ...context,
    options: { ...context.options, retries: 0 },
    limits: { timeout: usual => limitAttempt(remaining(), usual) },
  }
}

/**
 * Returns the contexts for the requests before a wait: `reading` for reads, `change` for the submission. No
 * attempt takes longer than the time that remains when it begins, and a read has only as many retries as fit
 * into that time. So a silent service delays the command by at most a second beyond the wait. A submission
 * keeps the usual retries and is read back as usual, because its outcome must be known.
 */
export function limitRequestsBeforeWait(
  context: CommandContext,
  { limit }: Pick<WaitOptions, 'limit'>,
  remaining: () => number,
): { readonly reading: CommandContext; readonly change: CommandContext } {
  if (limit === 0) return { reading: context, change: context }
  const timeout = (usual: number) => limitAttempt(remaining(), usual)
  const retries = (usual: number, attemptTime: number) =>
    Math.max(0, Math.min(usual, Math.floor(remaining() / attemptTime) - 1))
  return {
    reading: { ...context, limits: { timeout, retries } },
    change: { ...context, limits: { timeout } },
  }
}
