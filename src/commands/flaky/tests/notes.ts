import { describeRange } from '../../../api/operations/tests.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { describeInWords, type TimeRange } from '../../../domain/values/time.ts'

/** Returns the notes at the end of a list of failing tests, with its range in words on a terminal. */
export function notesInWords(
  notes: readonly string[],
  range: TimeRange,
  { args, host }: CommandContext,
): readonly string[] {
  if (!host.err.terminal) return notes
  const words = describeInWords(range, !args.has('--until'))
  const text = words.startsWith('last ')
    ? `in the ${words}`
    : words.startsWith('since ')
      ? words
      : `from ${words}`
  return notes.map(note => note.replace(`from ${describeRange(range)}`, text))
}
