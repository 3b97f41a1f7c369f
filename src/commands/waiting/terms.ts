import type { Given } from '../../contract/field.ts'
import type { Aim } from '../../contract/waiting.ts'
import { duration } from '../../contract/words.ts'
import { type Failure, usage } from '../../failure.ts'
import type { Desk } from '../../run/desk.ts'
import type { WaitFlags } from './flags.ts'

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

/** After so many failed polls in a row a wait gives up, unless told otherwise. */
export const mostErrors = 10

/** Milliseconds that a whole wait may take: an hour, unless `--timeout` was typed. */
export function limitOf(given: Given): number {
  const [typed] = given.get('--timeout') ?? []
  return typed === undefined ? 60 * minute : duration(typed)
}

/** Whether a failed poll ends a wait at once; any other is not a result (CLI.md section 5). */
export const isFinal = ({ kind }: Failure): boolean => /^(auth|usage|internal|output|interrupted)$/.test(kind)

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

const attemptLimit = minute / 2
const leastAttempt = 1_000

/** In a wait `--timeout` bounds the whole wait: attempts have the limit that the environment or the settings give. */
export async function forAttempts(desk: Desk): Promise<Desk> {
  const given = new Map(desk.given)
  given.delete('--timeout')
  const timeout = await desk.settings.under(given).read('timeout')
  return { ...desk, options: { ...desk.options, timeout } }
}

/**
 * A desk for one round, of which `left` milliseconds of the wait are left: a poll is repeated by the next one, and takes
 * no longer than the wait. One that is the only one is repeated as any other reading is.
 */
export function forRound(desk: Desk, { limit }: Pick<Terms, 'limit'>, left: number): Desk {
  if (limit === 0) return desk
  const { timeout = attemptLimit } = desk.options
  return {
    ...desk,
    options: { ...desk.options, retries: 0, timeout: Math.min(timeout, Math.max(left, leastAttempt)) },
  }
}
