import { flag, type Input, type InputValues, option, optionName } from '../../../cli/inputs.ts'
import type { ParseContext } from '../../../config/parse-context.ts'
import { integerParser } from '../../../domain/values/numbers.ts'
import { choiceParser } from '../../../domain/values/text.ts'
import { parseDuration, parseInterval } from '../../../domain/values/time.ts'
import { milestones } from '../../../domain/wait-state.ts'
import { usageError } from '../../../errors.ts'

/** Reads an interval: a pause, or `auto`. */
const interval = (word: string): number | 'auto' => (word === 'auto' ? word : parseInterval(word))

const spelling = '--match-head <sha|HEAD>'

/** The commit that the head must stay at; HEAD is the one that the settings find. */
const matchHead: Input<string | undefined> = {
  definitions: [
    {
      syntax: spelling,
      summary: 'End with 14 when the head of the pull request is another commit',
      suggestions: ['HEAD'],
    },
  ],
  async read(args, context: ParseContext) {
    const [word] = args.get(optionName(spelling)) ?? []
    if (word === undefined) return undefined
    const sha = word === 'HEAD' ? await context.setting('sha') : word
    if (sha === undefined)
      throw usageError(
        '--match-head: nothing says which commit HEAD is.',
        'Run it in the checkout, or name the commit: --match-head 4f2a9c1.',
      )
    if (!/^[\da-f]{4,64}$/i.test(sha))
      throw usageError(`--match-head: '${sha}' is not a commit.`, 'Give HEAD, or 4 to 64 hexadecimal digits.')
    return sha
  },
}

/** The flags of a wait (CLI.md section 5); its `--timeout` stands with every command. */
export const waitInputs = {
  until: option(
    '--until <state>',
    'How far: merged (the default), tests-passed, testing or left',
    choiceParser(milestones),
    {
      choices: milestones,
    },
  ),
  interval: option('--interval <duration|auto>', 'Time between polls, at least 1s (default auto)', interval, {
    suggestions: ['auto'],
  }),
  grace: option(
    '--grace <duration>',
    'For so long, not found means not there yet (default 90s)',
    parseDuration,
  ),
  matchHead,
  maxErrors: option(
    '--max-errors <n>',
    'Give up after so many failed polls in a row (default 10)',
    integerParser(1, 1_000_000),
  ),
  failOnPaused: flag('--fail-on-paused', 'End with 8 when the queue is paused'),
}

/** What a wait prints. */
export const waitOutput = {
  table: 'how each ended, in a sentence or (on a pipe) a row; changes go to standard error',
  json: 'a result for each: {"type":"result","pr","outcome","state","elapsedSeconds","exit"}',
  ndjson:
    'a line for each change as it comes, {"type":"change","pr","from","to","at","position"}, and the results',
}

/** What the flags of a wait were given. */
export type WaitInputValues = InputValues<typeof waitInputs>
