import { usage } from '../errors.ts'
import type { Field } from '../cli/inputs.ts'
import { widestWindow } from './limits.ts'
import { duration, instant } from './values/parsers.ts'

/** A range of time in milliseconds since 1970: start inclusive, end exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Windows of at most 7 days that touch, never overlap and cover the range exactly, the newest first. */
export function windows({ start, end }: Range): readonly Range[] {
  const cut: Range[] = []
  for (let to = end; to > start; to -= widestWindow)
    cut.push({ start: Math.max(start, to - widestWindow), end: to })
  return cut
}

const dayBack = 86_400_000

/** An instant, or a duration back from now. */
const moment = (word: string, now: number): number =>
  /^\d+(ms|[smhdw])/.test(word) || word === '0' ? now - duration(word) : instant(word)

/** The range of time that is asked for: start inclusive, end exclusive and not in the future (CLI.md section 6). */
export const range: Field<Range> = {
  words: [
    {
      spell: '--since <duration|instant>',
      summary: 'From so long ago, or from that instant on (default 24h)',
    },
    {
      spell: '--until <duration|instant>',
      summary: 'Until so long ago, or until that instant (default now)',
    },
    { spell: '--start <instant>', summary: 'Start of the range, inclusive' },
    { spell: '--end <instant>', summary: 'End of the range, exclusive' },
  ],
  needed: true,
  fills: ['start_time', 'end_time'],
  read(given, { now }) {
    for (const [one, other] of [
      ['--since', '--start'],
      ['--until', '--end'],
    ] as const)
      if (given.has(one) && given.has(other)) throw usage(`${one} and ${other} name the same thing twice.`)
    const word = (...names: readonly string[]) =>
      names.map(name => given.get(name)?.[0]).find(found => found !== undefined)
    const [from, to] = [word('--since', '--start'), word('--until', '--end')]
    const end = to === undefined ? now : moment(to, now)
    const start = from === undefined ? end - dayBack : moment(from, now)
    if (end > now) throw usage('The end of the range lies in the future.', 'Leave --until out to end now.')
    if (start >= end) throw usage('The range is empty: its start is not before its end.')
    return { start, end }
  },
}
