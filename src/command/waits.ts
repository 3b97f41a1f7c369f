// What the waits of all commands share: their time, the live line, signs of life, the bell and the end by Ctrl-C.

import type { WaitTime } from '../api/wait-time.ts'
import { exitCodeOf, extendError, type MergeqError } from '../base/errors.ts'
import { type Pieces, plainText, type StyledLine } from '../output/styled-text.ts'
import { textWidth } from '../output/text-width.ts'
import { formatAge, formatDuration, formatRounded } from '../values/format.ts'
import type { Cli } from './command.ts'

/** A part of the live line. On a narrow terminal the parts with the highest `rank` are left out first. */
export interface LinePart {
  readonly pieces: Pieces
  readonly rank: number
}

/** The times of a wait that its live line says. */
export interface LineTimes {
  /** How long the wait has lasted, in milliseconds. */
  readonly elapsed: number
  /** The milliseconds for the whole wait; 0 if it has no time limit. */
  readonly limit: number
  /** The usual time in the queue, in milliseconds. */
  readonly usual?: number | undefined
  /** Whether the line says already how long the wait has lasted. */
  readonly saysAge?: boolean
}

/** Returns the line of what is waited for, with the times of the wait as far as they fit. */
export function withTimes(
  what: readonly LinePart[],
  { elapsed, limit, usual, saysAge = false }: LineTimes,
  columns: number,
): StyledLine {
  let parts: readonly LinePart[] = [
    ...what,
    ...(usual === undefined ? [] : [{ pieces: [`, usually ${formatRounded(usual)} in the queue`], rank: 5 }]),
    ...(saysAge ? [] : [{ pieces: [`    waited ${formatDuration(elapsed)}`], rank: 3 }]),
    ...(limit > 0
      ? [
          {
            pieces: [`${saysAge ? '    ' : ', '}times out in ${formatAge(Math.max(0, limit - elapsed))}`],
            rank: 6,
          },
        ]
      : []),
  ]
  const lineOf = () => parts.flatMap(({ pieces }) => pieces)
  while (textWidth(plainText(lineOf())) > columns) {
    const lastRank = Math.max(...parts.map(({ rank }) => rank))
    if (lastRank === 0) break
    parts = parts.filter(({ rank }) => rank !== lastRank)
  }
  return lineOf()
}

/** How long a wait stays without output, in milliseconds. */
const maxSilence = 5 * 60_000

/** Elsewhere than on a terminal, says after five silent minutes that a wait goes on; once in an outage. */
export function createSignsOfLife(time: WaitTime, { host, logger }: Cli) {
  const { clock, err, interrupted } = host
  let lastOutputAt = 0
  let wasSaid = false
  let isOutage = false
  const noteOutput = () => {
    lastOutputAt = time.elapsed()
  }
  return {
    noteOutput,
    async reportOutage(text: string, isOver: boolean): Promise<void> {
      isOutage = !isOver
      wasSaid = false
      noteOutput()
      await logger.info(text)
    },
    /** Sleeps; `describe` returns what the wait is for. */
    async sleep(delay: number, describe: () => string): Promise<void> {
      const wakeAt = time.elapsed() + delay
      for (;;) {
        const now = time.elapsed()
        const isSilent = err.terminal || wasSaid
        if (!isSilent && now - lastOutputAt >= maxSilence) {
          lastOutputAt = now
          wasSaid = isOutage
          await logger.info(`Still waiting after ${Math.round(now / 60_000)} minutes for ${describe()}`)
        }
        if (now >= wakeAt) return
        const silence = isSilent ? delay : lastOutputAt + maxSilence - now
        await clock.sleep(Math.min(wakeAt - now, silence), interrupted)
      }
    },
  }
}

/** A shorter wait ends in silence, in milliseconds. */
const bellDelay = 10_000

/** Rings the bell of the terminal where a person may have turned to something else. */
export async function ringBell(time: WaitTime, { args, host, messages }: Cli): Promise<void> {
  const hasBell = messages === 'person' && host.env.TERM !== 'dumb' && !args.has('--no-bell')
  if (hasBell && time.elapsed() > bellDelay) await host.err.write('\u0007')
}

/** Says at a terminal that Ctrl-C ended a wait, in words of the wait. Returns the error that ends the command. */
export async function reportStop(
  failure: MergeqError,
  sentence: string,
  { host, logger, messages, results }: Cli,
): Promise<MergeqError> {
  if (failure.exit !== exitCodeOf('interrupted') || messages === 'log' || results === 'json') return failure
  // The terminal shows ^C; only a spinner clears it.
  if (!logger.hasSpinner) await host.err.write('\n')
  await logger.info(sentence)
  return extendError(failure, { isShown: true })
}
