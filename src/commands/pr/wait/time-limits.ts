import type { Given } from '../../../cli/inputs.ts'
import { type Aim, mostErrors } from '../../../domain/wait.ts'
import { duration } from '../../../domain/values/parsers.ts'
import { usage } from '../../../errors.ts'
import type { Desk } from '../../../cli/context.ts'
import type { WaitFlags } from './options.ts'

/** What a wait is told, with what is usual where it was not told. */
export interface Terms extends Aim {
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
export function limitOf(given: Given): number {
  const [typed] = given.get('--timeout') ?? []
  return typed === undefined ? 60 * minute : duration(typed)
}

/** The terms of a wait for so many pull requests. Only one alone has a head to match: a usage failure otherwise. */
export function termsOf(flags: WaitFlags, pullRequests: number, { given }: Pick<Desk, 'given'>): Terms {
  const {
    until = 'merged',
    interval = 'auto',
    grace = 1.5 * minute,
    matchHead,
    maxErrors = mostErrors,
  } = flags
  if (matchHead !== undefined && pullRequests > 1)
    throw usage('--match-head is for one pull request.', 'Wait for each of several by itself.')
  return {
    until,
    interval,
    grace,
    head: matchHead,
    maxErrors,
    failOnPaused: flags.failOnPaused,
    limit: limitOf(given),
    stopsOnError: given.has('--stop-on-error'),
  }
}

const leastAttempt = 1_000

/** In a wait `--timeout` bounds the whole wait: attempts have the limit that the environment or the settings give. */
export async function forAttempts(desk: Desk): Promise<Desk> {
  const given = new Map(desk.given)
  given.delete('--timeout')
  const timeout = await desk.settings.under(given).read('timeout')
  return { ...desk, options: { ...desk.options, timeout } }
}

/** How long an attempt may take that begins when so many milliseconds of the wait are left: a second is always tried. */
const attemptIn = (left: number, usual: number): number => Math.min(usual, Math.max(left, leastAttempt))

/**
 * A desk for the rounds of a wait, of which `left` tells the milliseconds that are left: a poll is repeated by the next
 * one, and each takes no longer than what is left when it begins. One that is the only one is repeated as any other
 * reading is.
 */
export function forRounds(desk: Desk, { limit }: Pick<Terms, 'limit'>, left: () => number): Desk {
  if (limit === 0) return desk
  return {
    ...desk,
    options: { ...desk.options, retries: 0 },
    limits: { timeout: usual => attemptIn(left(), usual) },
  }
}

/**
 * Desks for what goes before a wait: no attempt takes longer than what is left of the wait when it begins, and a reading
 * is repeated only as often as such attempts fit in it. So a silent service holds the command no longer than the wait,
 * but for a second. A change that was sent is more than that: it is repeated and read back as any other is, in such
 * attempts, for how it ended must be known.
 */
export function beforeWait(
  desk: Desk,
  { limit }: Pick<Terms, 'limit'>,
  left: () => number,
): { readonly reading: Desk; readonly change: Desk } {
  if (limit === 0) return { reading: desk, change: desk }
  const timeout = (usual: number) => attemptIn(left(), usual)
  const retries = (usual: number, longest: number) =>
    Math.max(0, Math.min(usual, Math.floor(left() / longest) - 1))
  return { reading: { ...desk, limits: { timeout, retries } }, change: { ...desk, limits: { timeout } } }
}
