import { getTestDetails, listFailingTests } from '../../api/operations/tests.ts'
import { usageError } from '../../base/errors.ts'
import { get, getArray, getNumber, getString, type JsonObject } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { argument, option, optionInput } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { forOne, isSheet, send, show, webPage } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { webOption } from '../../command/shared-inputs.ts'
import { createRateFormat } from '../../domain/failure-rates.ts'
import { ownersOf } from '../../domain/owners.ts'
import { sanitizeLines } from '../../output/sanitize.ts'
import {
  factLines,
  linkSpan,
  type Span,
  type StyledLine,
  stateSpan,
  styled,
} from '../../output/styled-text.ts'
import { truncateCell } from '../../output/text-width.ts'
import { type Fact, factTable } from '../../output/view.ts'
import { ageOf, describeSince, formatAgo, pluralize } from '../../values/format.ts'
import { isUuid } from '../../values/text.ts'
import { duration, text } from '../../values/types.ts'
import { findTests, searchRequest, testSummary } from './shared/find-tests.ts'
import { printSearch } from './shared/read-tests.ts'

/** How often each failure occurred and when last, and its summary. */
const failuresOf = (test: JsonObject, formatDate = (date: string) => date) =>
  getArray(test, 'most_common_failures').map((failure, index) => {
    const count = getNumber(failure, 'occurrence_count')
    const last = getString(failure, 'last_occurrence')
    const times = count === undefined ? 'an unknown number of times' : pluralize(count, 'time')
    return {
      title: `failure ${index + 1}`,
      head: `${times}, last ${last === undefined ? 'at an unknown time' : formatDate(last)}`,
      text: getString(failure, 'summary') ?? '-',
    }
  })

/** Returns the status with its age and reason: `✗ broken for 3 days: Fails on the main branch`. */
function statusLine(test: JsonObject, now: number): readonly StyledLine[] {
  const [value, reason, timestamp] = ['value', 'reason', 'timestamp'].map(key =>
    getString(test, `status.${key}`),
  )
  const since = describeSince(timestamp, now, false)
  if (value !== undefined) return [['  ', stateSpan(value), since, reason === undefined ? '' : `: ${reason}`]]
  if (reason !== undefined) return [`  ${reason}${since === '' ? '' : `,${since}`}`]
  return []
}

/** Returns how often a test fails: `failed in 29% of runs in the last 7 days, 115 pull requests`. */
function failureLine(test: JsonObject): readonly StyledLine[] {
  const rates = createRateFormat([test])
  const week = rates.format(test, 'failure_rate_last_7d')
  const day = rates.format(test, 'failure_rate_last_24h')
  const impact = getNumber(test, 'pull_requests_impacted_last_7d')
  const pullRequests = impact === undefined ? [] : [pluralize(impact, 'pull request')]
  const parts = []
  if (week !== undefined) parts.push([`${week} of runs in the last 7 days`, ...pullRequests].join(', '))
  else if (impact !== undefined) parts.push(`${pullRequests.join()} in the last 7 days`)
  if (day !== undefined) parts.push(`${day} of runs in the last 24 hours`)
  return parts.length === 0 ? [] : [`  failed in ${parts.join('; ')}`]
}

const link = (url: string | undefined): Span | undefined =>
  url === undefined ? undefined : linkSpan(url, url)

/** What the record does not have is left out. */
function testSheet(test: JsonObject, cli: Cli): readonly StyledLine[] {
  const now = cli.serviceTime.startedAt()
  const name = getString(test, 'name') ?? 'a test without a name'
  const variant = getString(test, 'variant') ?? ''
  const owners = ownersOf(test)
  const id = getString(test, 'id')
  return [
    [styled(name, 'bold'), variant === '' ? '' : ` (${variant})`],
    ...statusLine(test, now),
    ...failureLine(test),
    ...(get(test, 'quarantined') === true ? ['  quarantined: its failures are ignored'] : []),
    ...factLines([
      ['owners', owners.length === 0 ? undefined : owners.join(', ')],
      ['file', getString(test, 'file_path')],
      ['suite', getString(test, 'parent')],
      ['page', link(getString(test, 'html_url'))],
      ['ticket', link(getString(test, 'ticket.html_url'))],
      ['id', id === undefined ? undefined : styled(id, 'dim')],
    ]),
    ...failuresOf(test, date => ageOf(date, now, formatAgo)).flatMap(failure => failureBlock(failure, cli)),
  ]
}

const maxFailureLines = 40

/** Returns a failure as an empty line, a line that introduces it, and its text, indented and cut. */
function failureBlock(
  { title, head, text }: ReturnType<typeof failuresOf>[number],
  { host, secrets }: Cli,
): readonly StyledLine[] {
  const lines = sanitizeLines(text).trim().split('\n')
  const shown = lines
    .slice(0, maxFailureLines)
    .map(line => `  ${truncateCell(secrets.redact(line.trimEnd()), host.out.columns - 2)}`)
  const hidden = lines.length - shown.length
  const more = hidden > 0 ? [`  … ${pluralize(hidden, 'more line')}`] : []
  return ['', [styled(title, 'bold'), `: ${head}`], ...shown, ...more]
}

const facts: readonly (readonly [field: string, path: string])[] = [
  ['id', 'id'],
  ['name', 'name'],
  ['variant', 'variant'],
  ['status', 'status.value'],
  ['reason', 'status.reason'],
  ['since', 'status.timestamp'],
  ['quarantined', 'quarantined'],
  ['failure rate, last 24 hours', 'failure_rate_last_24h'],
  ['failure rate, last 7 days', 'failure_rate_last_7d'],
  ['pull requests impacted, last 7 days', 'pull_requests_impacted_last_7d'],
  ['owners', 'codeowners'],
  ['file', 'file_path'],
  ['suite', 'parent'],
  ['class', 'classname'],
  ['repository', 'repository.html_url'],
  ['link', 'html_url'],
  ['ticket', 'ticket.html_url'],
]

const testArgument = optionInput('test', argument(text('test'), testSummary))

export const definition = command({
  name: 'flaky get',
  summary: 'Show the details of a test',
  operation: getTestDetails,
  alsoSends: [listFailingTests],
  options: {
    ...paramsOf(getTestDetails),
    testId: testArgument,
    window: option(duration, 'How far back to search for a name or the beginning of an ID', {
      default: '7d',
    }),
    web: webOption,
  },
  set: setOf(getTestDetails, { testId: testArgument }),
  exits: ['not-found', 'incomplete'],
  examples: [
    'mergeq flaky get 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
    'mergeq flaky get 2b4e8d1c --window 30d',
    'mergeq flaky get "address form"  # exits with 2 if several tests match',
  ],
  async run({ testId: typed, window, web, ...place }, cli) {
    if (window === 0) throw usageError('--window must be longer than 0.', 'For example: --window 30d')
    const search = isUuid(typed) ? undefined : searchRequest(place, window)
    if (search !== undefined && cli.options.dryRun) return printSearch(search, cli)
    const [testId = typed] = search === undefined ? [] : await findTests(cli, [typed], search)
    const values = { ...place, testId }
    return forOne(cli, getTestDetails, values, async () => {
      const sent = await send(cli, getTestDetails, values)
      if (sent === 'printed') return sent
      const [test = {}] = sent.response.records
      const opens = web ? await webPage(cli, getString(test, 'html_url')) : undefined
      return { ...show(sent, testTable(test, cli)), opens }
    })
  },
})

function testTable(test: JsonObject, cli: Cli) {
  const ofTest = facts.map(([field, path]): Fact => [field, get(test, path) ?? null])
  const failures = failuresOf(test).map(({ title, head, text }): Fact => [title, `${head}: ${text}`])
  return {
    ...factTable([...ofTest, ...failures]),
    screen: () => (isSheet([test], cli) ? { heading: testSheet(test, cli) } : factTable(ofTest)),
  }
}
