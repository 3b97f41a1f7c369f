import { parseTimeRange, type TimeRange } from '../domain/time-range.ts'
import { usageError } from '../errors.ts'
import type { Input } from './inputs.ts'

/**
 * The options that select a range of time (docs/reference/cli.md, "Lists of failing tests"). Reading them
 * throws a usage error if two options give the same bound, and where `parseTimeRange` does.
 */
export const rangeInput: Input<TimeRange> = {
  definitions: [
    {
      name: '--since',
      value: 'duration|time',
      summary: 'Start of the range: a duration before now, such as 7d, or a date and time',
      defaultText: '24h',
    },
    {
      name: '--until',
      value: 'duration|time',
      summary: 'End of the range: a duration before now, such as 7d, or a date and time',
      defaultText: 'now',
    },
    { name: '--start', value: 'time', summary: 'Start of the range, inclusive' },
    { name: '--end', value: 'time', summary: 'End of the range, exclusive' },
  ],
  read(args, { now }) {
    for (const [first, second] of [
      ['--since', '--start'],
      ['--until', '--end'],
    ] as const)
      if (args.has(first) && args.has(second))
        throw usageError(`${first} and ${second} cannot be used together.`, 'Use only one of them.')
    const from = args.get('--since')?.[0] ?? args.get('--start')?.[0]
    const to = args.get('--until')?.[0] ?? args.get('--end')?.[0]
    return parseTimeRange(from, to, now)
  },
}
