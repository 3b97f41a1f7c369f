import { maxErrorsOption } from '../../../cli/common-inputs.ts'
import type { RecordFields } from '../../../cli/fields.ts'
import { choiceOption, flag, type Input, type InputValues, option } from '../../../cli/inputs.ts'
import type { ParseContext } from '../../../config/settings.ts'
import { parseDuration, parseInterval } from '../../../domain/values/time.ts'
import { milestones } from '../../../domain/wait-outcomes.ts'
import { usageError } from '../../../errors.ts'

/** Parses a poll interval: a duration of at least one second, in milliseconds, or `auto`. */
const parsePollInterval = (text: string): number | 'auto' => (text === 'auto' ? text : parseInterval(text))

/** The commit that must stay the head of the pull request; `HEAD` is the commit that the settings resolve. */
const matchHead: Input<string | undefined> = {
  definitions: [
    {
      name: '--match-head',
      value: 'sha|HEAD',
      summary: 'Exit 14 if the head of the pull request is not this commit',
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
        'Run the command in a git checkout, or specify the commit: --match-head 4f2a9c1',
      )
    if (!/^[\da-f]{4,64}$/i.test(sha))
      throw usageError(`--match-head: '${sha}' is not a commit.`, 'Use HEAD, or 4 to 64 hexadecimal digits.')
    return sha
  },
}

/** The options of a wait (docs/reference/cli.md, "Waiting"), except `--timeout`, which is a global option. */
export const waitInputs = {
  until: choiceOption({
    name: 'until',
    value: 'state',
    default: 'merged',
    summary: 'State to wait for: merged, tests-passed, testing, or left, meaning no longer in the queue',
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
    summary: 'Treat "not found" as "not visible yet" for this long',
    parse: parseDuration,
  }),
  matchHead,
  maxErrors: maxErrorsOption,
  failOnPaused: flag({ name: 'fail-on-paused', summary: 'Exit 8 if the queue is paused' }),
}

/** A record of a wait is a result or, in NDJSON, also a state change. */
export const waitRecord: RecordFields = {
  names: [
    ...['type', 'pr', 'repo', 'outcome', 'state', 'elapsedSeconds', 'exit'],
    ...['from', 'to', 'at', 'position'],
  ],
  columns: [
    ['PR', 'pr', 'pr'],
    ['OUTCOME', 'outcome'],
    ['STATE', 'state', 'state'],
    ['SECONDS', 'elapsedSeconds', 'number'],
  ],
}

export const waitOutput = {
  table:
    'the result of each pull request, with failing checks and next commands (on a pipe, one row); changes go to standard error',
  json: 'one result per pull request: {"type":"result","pr","outcome","state","elapsedSeconds","exit"}',
  ndjson: 'one line per change, {"type":"change","pr","from","to","at","position"}, then the results',
}

export type WaitInputValues = InputValues<typeof waitInputs>
