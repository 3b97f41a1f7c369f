import { choiceOption, flag, type Input, type InputValues, option } from '../../../cli/inputs.ts'
import type { ParseContext } from '../../../config/parse-context.ts'
import { integerParser } from '../../../domain/values/numbers.ts'
import { parseDuration, parseInterval } from '../../../domain/values/time.ts'
import { defaultMaxErrors, milestones } from '../../../domain/wait-state.ts'
import { usageError } from '../../../errors.ts'

/** Parses a poll interval: a duration of at least one second, in milliseconds, or `auto`. */
const parsePollInterval = (text: string): number | 'auto' => (text === 'auto' ? text : parseInterval(text))

/** The commit that must stay the head of the pull request; `HEAD` is the commit that the settings resolve. */
const matchHead: Input<string | undefined> = {
  definitions: [
    {
      name: '--match-head',
      value: 'sha|HEAD',
      summary: 'End with 14 when the head of the pull request is another commit',
      suggestions: ['HEAD'],
    },
  ],
  async read(args, context: ParseContext) {
    const [text] = args.get('--match-head') ?? []
    if (text === undefined) return undefined
    const sha = text === 'HEAD' ? await context.setting('sha') : text
    if (sha === undefined)
      throw usageError(
        '--match-head: the commit of HEAD is unknown.',
        'Run the command in a git checkout, or name the commit: --match-head 4f2a9c1',
      )
    if (!/^[\da-f]{4,64}$/i.test(sha))
      throw usageError(`--match-head: '${sha}' is not a commit.`, 'Use HEAD, or 4 to 64 hexadecimal digits.')
    return sha
  },
}

/** The options of a wait (CLI.md section 5), except `--timeout`, which is a global option. */
export const waitInputs = {
  until: choiceOption({
    name: 'until',
    value: 'state',
    default: 'merged',
    summary: 'How far: merged, tests-passed, testing or left',
    choices: milestones,
  }),
  interval: option({
    name: 'interval',
    value: 'duration|auto',
    default: 'auto',
    summary: 'Time between polls, at least 1s',
    suggestions: ['auto'],
    parse: parsePollInterval,
  }),
  grace: option({
    name: 'grace',
    value: 'duration',
    default: '90s',
    summary: 'For so long, not found means not there yet',
    parse: parseDuration,
  }),
  matchHead,
  maxErrors: option({
    name: 'max-errors',
    value: 'n',
    default: String(defaultMaxErrors),
    summary: 'Give up after so many failed polls in a row',
    parse: integerParser(1, 1_000_000),
  }),
  failOnPaused: flag({ name: 'fail-on-paused', summary: 'End with 8 when the queue is paused' }),
}

/** What a wait prints in each format, for the help. */
export const waitOutput = {
  table: 'how each ended, in a sentence or (on a pipe) a row; changes go to standard error',
  json: 'a result for each: {"type":"result","pr","outcome","state","elapsedSeconds","exit"}',
  ndjson:
    'a line for each change as it comes, {"type":"change","pr","from","to","at","position"}, and the results',
}

/** The values of the options of a wait. */
export type WaitInputValues = InputValues<typeof waitInputs>
