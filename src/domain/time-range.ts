import type { Input } from '../cli/inputs.ts'
import { usageError } from '../errors.ts'
import { maxWindow } from './limits.ts'
import { parseDuration, parseInstant } from './values/time.ts'

/** A range of time in milliseconds since 1970: start inclusive, end exclusive. */
export interface TimeRange {
  readonly start: number
  readonly end: number
}

/** Windows of at most 7 days that touch, never overlap and cover the range exactly, the newest first. */
export function windows({ start, end }: TimeRange): readonly TimeRange[] {
  const cut: TimeRange[] = []
  for (let to = end; to > start; to -= maxWindow)
    cut.push({ start: Math.max(start, to - maxWindow), end: to })
  return cut
}

const dayBack = 86_400_000

/** An instant, or a duration back from now. */
const moment = (word: string, now: number): number =>
  /^\d+(ms|[smhdw])/.test(word) || word === '0' ? now - parseDuration(word) : parseInstant(word)

/** The range of time that is asked for: start inclusive, end exclusive and not in the future (CLI.md section 6). */
export const rangeInput: Input<TimeRange> = {
  definitions: [
    {
      syntax: '--since <duration|instant>',
      summary: 'From so long ago, or from that instant on (default 24h)',
    },
    {
      syntax: '--until <duration|instant>',
      summary: 'Until so long ago, or until that instant (default now)',
    },
    { syntax: '--start <instant>', summary: 'Start of the range, inclusive' },
    { syntax: '--end <instant>', summary: 'End of the range, exclusive' },
  ],
  read(args, { now }) {
    for (const [one, other] of [
      ['--since', '--start'],
      ['--until', '--end'],
    ] as const)
      if (args.has(one) && args.has(other)) throw usageError(`${one} and ${other} name the same thing twice.`)
    const word = (...names: readonly string[]) =>
      names.map(name => args.get(name)?.[0]).find(found => found !== undefined)
    const [from, to] = [word('--since', '--start'), word('--until', '--end')]
    const end = to === undefined ? now : moment(to, now)
    const start = from === undefined ? end - dayBack : moment(from, now)
    if (end > now)
      throw usageError('The end of the range lies in the future.', 'Leave --until out to end now.')
    if (start >= end) throw usageError('The range is empty: its start is not before its end.')
    return { start, end }
  },
}
