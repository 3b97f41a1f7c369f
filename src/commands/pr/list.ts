import { listPullRequests } from '../../api/operations/pull-requests.ts'
import type { ParamValues } from '../../api/params.ts'
import { usageError } from '../../base/errors.ts'
import { command, userOf } from '../../command/command.ts'
import { type Input, paramInput } from '../../command/inputs.ts'
import { runList } from '../../command/lists.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { cutListSentence, limitInput } from '../../command/shared-inputs.ts'
import { pullRequestStates, stateOption } from '../../domain/states.ts'
import { pullRequestCsvColumns, withAges, withLinks, withMark } from '../../output/pull-request-columns.ts'
import { columns } from '../../output/view.ts'
import { pluralize } from '../../values/format.ts'
import { urlOfPullRequest } from '../../values/pull-request.ts'
import { queueName } from '../../values/repository.ts'
import { parseMoment } from '../../values/time.ts'
import { describeWhen, formatDate } from '../../values/time-range.ts'

const listColumns = columns(
  'prNumber',
  'state',
  'stateChangedAt',
  ['prAuthor', { priority: 1 }],
  ['priorityName', { priority: 2, usual: 'medium' }],
  'prTitle',
)

const flagAuthor = paramInput('author', listPullRequests.params.author)

/** The author; `@me` is the user of the settings, because the service does not know whose token it is. */
const author: Input<string | undefined> = {
  ...flagAuthor,
  // The param, as the library has it, refuses @me.
  definitions: flagAuthor.definitions.map(({ parse, ...definition }) => ({
    ...definition,
    summary: `${definition.summary}; @me is the setting user`,
    parse: text => (text === '@me' ? undefined : parse?.(text)),
  })),
  async read(args, context) {
    if (args.get('--author')?.[0] !== '@me') return flagAuthor.read(args, context)
    const user = await context.settings.read('user')
    if (user !== undefined) return user
    throw usageError(
      '--author: who @me is, is not known.',
      'Store your login (config set user), or use it, such as: --author octocat',
    )
  },
}

const closed = ['merged', 'failed', 'cancelled']
const open = pullRequestStates.map(stateOption).filter(state => !closed.includes(state))

const hintFor = (word: string, states: readonly string[]): string =>
  `For ${word} pull requests: ${states.map(state => `--state ${state}`).join(' ')}`

/** What to type instead of words that are no states: `open` is one of gh. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['open', hintFor('open', open)],
  ['queued', hintFor('queued', open)],
  ['closed', hintFor('closed', closed)],
  ['all', 'For all pull requests, omit --state.'],
])

const flagStates = paramInput('states', listPullRequests.params.states)

const states: Input<readonly string[] | undefined> = {
  ...flagStates,
  read(args, context) {
    for (const typed of args.get('--state') ?? []) {
      const hint = otherWords.get(typed.toLowerCase())
      if (hint !== undefined) throw usageError(`--state: '${typed}' is not a state.`, hint)
    }
    return flagStates.read(args, context)
  },
}

export const definition = command({
  name: 'pr list',
  summary: 'List pull requests of a queue, including finished ones',
  operation: listPullRequests,
  options: {
    ...paramsOf(listPullRequests),
    limit: limitInput(listPullRequests.params.limit),
    author,
    states,
  },
  set: setOf(listPullRequests),
  prints: { columns: listColumns },
  examples: [
    'mergeq pr list --state merged --since 24h',
    'mergeq pr list --state not-ready --state pending --author ada',
    'mergeq pr list --state failed --since 2026-01-04 --until 2026-01-05',
    'mergeq pr list --limit 100',
  ],
  async run(values, cli) {
    const user = await userOf(cli)
    return runList(cli, listPullRequests, values, {
      columns: cli.options.format.name === 'csv' ? pullRequestCsvColumns : listColumns,
      screenColumns: withLinks(withMark(withAges(listColumns), user), pr =>
        urlOfPullRequest(values.repo, pr),
      ),
      ending({ shown, complete, isBroken }) {
        if (isBroken) return undefined
        const queue = describeSelection(values, cli.serviceTime.startedAt())
        if (shown === 0) return { sentence: `No pull requests for ${queue}.` }
        const count = pluralize(shown, 'pull request')
        return { footer: [complete ? `${count} for ${queue}.` : cutListSentence(count)] }
      },
    })
  },
})

/** Returns which pull requests are listed: `main of acme/web (merged, by ada)`. */
function describeSelection(
  { repo, targetBranch, states = [], since, until, author }: ParamValues<typeof listPullRequests.params>,
  now: number,
): string {
  const conditions = [
    ...states.map(stateOption),
    ...endedWhen(since, until, now),
    ...(author === undefined ? [] : [`by ${author}`]),
  ].join(', ')
  return `${queueName({ repo, targetBranch })}${conditions === '' ? '' : ` (${conditions})`}`
}

/** Returns when the listed pull requests ended: `ended in the last 24 hours`. */
function endedWhen(since: string | undefined, until: string | undefined, now: number): readonly string[] {
  const end = until === undefined ? now : parseMoment(until, now)
  if (since === undefined) return until === undefined ? [] : [`ended until ${formatDate(end)} UTC`]
  return [`ended ${describeWhen({ start: parseMoment(since, now), end }, until === undefined, since)}`]
}
