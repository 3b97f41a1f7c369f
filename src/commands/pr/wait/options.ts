import { type Context, type Field, flag, nameOfWord, on, type Values } from '../../../cli/inputs.ts'
import { milestones } from '../../../domain/wait.ts'
import { duration, integer, oneOf, pause } from '../../../domain/values/parsers.ts'
import { usage } from '../../../errors.ts'

/** Reads an interval: a pause, or `auto`. */
const interval = (word: string): number | 'auto' => (word === 'auto' ? word : pause(word))

const spelling = '--match-head <sha|HEAD>'

/** The commit that the head must stay at; HEAD is the one that the settings find. */
const matchHead: Field<string | undefined> = {
  words: [
    {
      spell: spelling,
      summary: 'End with 14 when the head of the pull request is another commit',
      offers: ['HEAD'],
    },
  ],
  async read(given, context: Context) {
    const [word] = given.get(nameOfWord(spelling)) ?? []
    if (word === undefined) return undefined
    const sha = word === 'HEAD' ? await context.setting('sha') : word
    if (sha === undefined)
      throw usage(
        '--match-head: nothing says which commit HEAD is.',
        'Run it in the checkout, or name the commit: --match-head 4f2a9c1.',
      )
    if (!/^[\da-f]{4,64}$/i.test(sha))
      throw usage(`--match-head: '${sha}' is not a commit.`, 'Give HEAD, or 4 to 64 hexadecimal digits.')
    return sha
  },
}

/** The flags of a wait (CLI.md section 5); its `--timeout` stands with every command. */
export const waitFields = {
  until: flag(
    '--until <state>',
    'How far: merged (the default), tests-passed, testing or left',
    oneOf(milestones),
    {
      choices: milestones,
    },
  ),
  interval: flag('--interval <duration|auto>', 'Time between polls, at least 1s (default auto)', interval, {
    offers: ['auto'],
  }),
  grace: flag('--grace <duration>', 'For so long, not found means not there yet (default 90s)', duration),
  matchHead,
  maxErrors: flag(
    '--max-errors <n>',
    'Give up after so many failed polls in a row (default 10)',
    integer(1, 1_000_000),
  ),
  failOnPaused: on('--fail-on-paused', 'End with 8 when the queue is paused'),
}

/** What a wait prints. */
export const printsResults = {
  table: 'how each ended, in a sentence or (on a pipe) a row; changes go to standard error',
  json: 'a result for each: {"type":"result","pr","outcome","state","elapsedSeconds","exit"}',
  ndjson:
    'a line for each change as it comes, {"type":"change","pr","from","to","at","position"}, and the results',
}

/** What the flags of a wait were given. */
export type WaitFlags = Values<typeof waitFields>
