import { listPullRequests } from '../../api/operations/pull-request-list.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { type Input, option, repeatableOption } from '../../cli/inputs.ts'
import { cutListSentence, limitInput, maxPagesInput, pageSizeInput } from '../../cli/list-inputs.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { pluralize } from '../../domain/format.ts'
import { pullRequestStates } from '../../domain/states.ts'
import { describeInWords, describeMoment, looksLikeDuration, parseMoment } from '../../domain/time-range.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { choiceParser, textParser } from '../../domain/values/text.ts'
import { parseDuration } from '../../domain/values/time.ts'
import { usageError } from '../../errors.ts'
import { type ColumnSpec, table, withLinks } from '../../output/view.ts'

/** The states as they are typed: `not-ready`. */
const stateNames = pullRequestStates.map(state => state.toLowerCase().replaceAll('_', '-'))

const closedStates = ['merged', 'failed', 'cancelled']
const openStates = stateNames.filter(name => !closedStates.includes(name))

/** The states that another word means: `open` with gh. */
const statesMeant: ReadonlyMap<string, readonly string[]> = new Map([
  ['open', openStates],
  ['queued', openStates],
  ['closed', closedStates],
])

/** Returns a state as it is typed. Throws a usage error for any other text. */
function parseState(text: string): string {
  const word = text.toLowerCase()
  const states = statesMeant.get(word)
  const hint =
    word === 'all'
      ? 'For all pull requests, omit --state.'
      : states === undefined
        ? undefined
        : `For ${word} pull requests: ${states.map(state => `--state ${state}`).join(' ')}`
  if (hint !== undefined) throw usageError(`'${text}' is not a state.`, hint)
  return choiceParser(stateNames)(text.replaceAll('_', '-'))
}

const typedStates = repeatableOption({
  name: 'state',
  value: 'state',
  summary: 'Only pull requests in this state',
  choices: stateNames,
  parse: parseState,
})

/** The states that were typed, each once, as the service spells them. */
const stateInput: Input<readonly string[] | undefined> = {
  ...typedStates,
  read(args) {
    const states = typedStates.read(args)?.map(state => state.toUpperCase().replaceAll('-', '_'))
    return states === undefined ? undefined : [...new Set(states)]
  },
}

const sinceText = option({
  name: 'since',
  value: 'duration|time',
  summary: 'Only pull requests that merged, failed or were cancelled since this time',
  parse: text => text,
})

/** The earliest end of a pull request, in milliseconds since 1970. */
const sinceInput: Input<number | undefined> = {
  ...sinceText,
  read(args, { now }) {
    const text = sinceText.read(args)
    return text === undefined ? undefined : parseMoment(text, now)
  },
}

const columns: readonly ColumnSpec[] = [
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['SINCE', 'stateChangedAt', 'time'],
  ['AUTHOR', 'prAuthor', 'plain', 1],
  ['PRIORITY', 'priorityName', 'plain', 2],
  ['TITLE', 'prTitle', 'text'],
]

/**
 * Returns the time since a moment in words: `in the last 24 hours`, or `since 2026-01-05 00:00 UTC`.
 *
 * @param since milliseconds since 1970
 * @param typed the moment as it was typed
 */
function describeSince(since: number, typed: string): string {
  if (!looksLikeDuration(typed)) return describeMoment(since)
  const words = describeInWords({ start: since, end: since + parseDuration(typed) }, true)
  return words.startsWith('last') ? `in the ${words}` : words
}

export const prListCommand = defineOperationCommand({
  command: 'pr list',
  summary: 'List pull requests of a queue, including finished ones',
  operation: listPullRequests,
  inputs: {
    ...queueInputs,
    states: stateInput,
    since: sinceInput,
    author: option({
      name: 'author',
      value: 'name',
      summary: 'Only pull requests by this author (filtered by mergeq, not by the service)',
      parse: textParser('author'),
    }),
    limit: limitInput('pull requests'),
    pageSize: pageSizeInput('Pull requests'),
    maxPages: maxPagesInput,
  },
  fields: serviceRecord(listPullRequests, columns),
  view: ({ records }, { repo }) => withLinks(table(records, columns), pr => urlOfPullRequest(repo, pr)),
  listEnding({ shown, complete, isBroken }, { repo, targetBranch, states = [], since, author }, { args }) {
    if (isBroken) return undefined
    const typed = args.get('--since')?.[0] ?? ''
    const conditions = [
      ...states.map(state => state.toLowerCase().replaceAll('_', '-')),
      ...(since === undefined ? [] : [`ended ${describeSince(since, typed)}`]),
      ...(author === undefined ? [] : [`by ${author}`]),
    ].join(', ')
    const queue = `${targetBranch} in ${repositoryName(repo)}${conditions === '' ? '' : ` (${conditions})`}`
    if (shown === 0) return { sentence: `No pull requests for ${queue}.` }
    const count = pluralize(shown, 'pull request')
    return { footer: [complete ? `${count} for ${queue}.` : cutListSentence(count)] }
  },
  examples: [
    'mergeq pr list --state merged --since 24h',
    'mergeq pr list --state not-ready --state pending --author ada',
    'mergeq pr list --json --limit 0',
  ],
})
