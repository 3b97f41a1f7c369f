import type { CommandContext } from '../../../cli/context.ts'
import type { ParsedArgs } from '../../../cli/inputs.ts'
import { parseDuration } from '../../../domain/values/parsers.ts'
import { defaultMaxErrors, type WaitGoal } from '../../../domain/wait.ts'
import { usageError } from '../../../errors.ts'
import type { WaitInputValues } from './options.ts'

/** What a wait is told, with what is usual where it was not told. */
export interface WaitOptions extends WaitGoal {
  /** Milliseconds between polls. */
  readonly interval: number | 'auto'
  readonly maxErrors: number
  readonly failOnPaused: boolean
  /** Milliseconds for the whole wait; 0 asks once. */
  readonly limit: number
  readonly stopsOnError: boolean
}

const minute = 60_000

/** Milliseconds that a whole wait may take: an hour, unless `--timeout` was typed. */
export function waitTimeLimit(args: ParsedArgs): number {
  const [typed] = args.get('--timeout') ?? []
  return typed === undefined ? 60 * minute : parseDuration(typed)
}

/**
 * The terms of a wait for so many pull requests. Only one alone has a head to match: a usage failure
 * otherwise.
 */
export function readWaitOptions(
  flags: WaitInputValues,
  pullRequests: number,
  { args }: Pick<CommandContext, 'args'>,
): WaitOptions {
  const {
    until = 'merged',
    interval = 'auto',
    grace = 1.5 * minute,
    matchHead,
    maxErrors = defaultMaxErrors,
  } = flags
  if (matchHead !== undefined && pullRequests > 1)
    throw usageError('--match-head is for one pull request.', 'Wait for each of several by itself.')
  return {
    until,
    interval,
    grace,
    head: matchHead,
    maxErrors,
    failOnPaused: flags.failOnPaused,
    limit: waitTimeLimit(args),
    stopsOnError: args.has('--stop-on-error'),
  }
}

const minAttempt = 1_000

/**
 * In a wait `--timeout` bounds the whole wait: attempts have the limit that the environment or the settings
 * give.
 */
export async function forAttempts(context: CommandContext): Promise<CommandContext> {
  const args = new Map(context.args)
  args.delete('--timeout')
  const timeout = await context.settings.withArgs(args).read('timeout')
  return { ...context, options: { ...context.options, timeout } }
}

/**
 * How long an attempt may take that begins when so many milliseconds of the wait are left: a second is always
 * tried.
 */
const attemptIn = (left: number, usual: number): number => Math.min(usual, Math.max(left, minAttempt))

/**
 * A desk for the rounds of a wait, of which `left` tells the milliseconds that are left: a poll is repeated
 * by the next one, and each takes no longer than what is left when it begins. One that is the only one is
 * repeated as any other reading is.
 */
export function forRounds(
  context: CommandContext,
  { limit }: Pick<WaitOptions, 'limit'>,
  left: () => number,
): CommandContext {
  if (limit === 0) return context
  return {
    ...context,
    options: { ...context.options, retries: 0 },
    limits: { timeout: usual => attemptIn(left(), usual) },
  }
}

/**
 * Desks for what goes before a wait: no attempt takes longer than what is left of the wait when it begins,
 * and a reading is repeated only as often as such attempts fit in it. So a silent service holds the command
 * no longer than the wait, but for a second. A change that was sent is more than that: it is repeated and
 * read back as any other is, in such attempts, for how it ended must be known.
 */
export function beforeWait(
  context: CommandContext,
  { limit }: Pick<WaitOptions, 'limit'>,
  left: () => number,
): { readonly reading: CommandContext; readonly change: CommandContext } {
  if (limit === 0) return { reading: context, change: context }
  const timeout = (usual: number) => attemptIn(left(), usual)
  const retries = (usual: number, longest: number) =>
    Math.max(0, Math.min(usual, Math.floor(left() / longest) - 1))
  return {
    reading: { ...context, limits: { timeout, retries } },
    change: { ...context, limits: { timeout } },
  }
}
