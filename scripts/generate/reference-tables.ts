import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import {
  maxBodySize,
  maxJsonSize,
  maxMetricsSize,
  maxRawResponseSize,
  maxRecords,
  maxResponseSize,
  maxValues,
} from '../../src/api/limits.ts'
import {
  type Operation,
  operationMethod,
  operationName,
  type WriteRecovery,
} from '../../src/api/operation.ts'
import { outline, ownRecord, type RecordType, required } from '../../src/api/operations/fields.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { exitCodeList, mostSevere } from '../../src/base/errors.ts'
import { maxJsonDepth } from '../../src/base/json.ts'
import { otherVariables } from '../../src/cli/command-doc.ts'
import { queueWaitRecord } from '../../src/commands/queue/wait.ts'
import { sources } from '../../src/config/sources.ts'
import { reasonTable } from '../../src/domain/reasons/reason-table.ts'
import { causerTexts } from '../../src/domain/reasons/reasons.ts'
import { connectLimit } from '../../src/http/early-connection.ts'
import { maxPatience, maxRetriesPerClient, retryDelays } from '../../src/http/http-client.ts'
import { maxRetryAfter } from '../../src/http/traffic.ts'
import { idleLimit } from '../../src/http/undici.ts'
import { outputFormats } from '../../src/output/output-formats.ts'
import { type Dialect, dialects } from '../../src/sandbox/dialects.ts'
import { scenarios } from '../../src/sandbox/scenarios.ts'
import { formatBytes, formatInteger } from '../../src/values/format.ts'
import { attemptLimit, changeLimit, maxSamples, maxWindow } from '../../src/values/limits.ts'
import { scenarioNames } from '../../src/values/scenario-names.ts'
import { pollDelays } from '../../src/wait/poll.ts'
import { changeRecord, waitResultRecord } from '../../src/wait/records.ts'
import { allCommands } from '../../test/support/commands.ts'
import type { ProgramHelp } from './man-page.ts'
import { renderCommandTable, renderExitCodeTable, renderSettingsTable, renderTable } from './readme-tables.ts'
import { shownHeadings, shownSettings, shownStates } from './screen-words.ts'

const code = (text: string): string => `\`${text}\``

const renderGlobalOptions = ({ globalFlags }: ProgramHelp): string =>
  renderTable(
    ['option', 'meaning'],
    globalFlags.map(({ name, short, value, summary }) => [
      code([short === undefined ? name : `${short}, ${name}`, value ?? ''].join(' ').trim()),
      summary,
    ]),
  )

/** Returns the Markdown table of the output formats. */
const renderFormats = (): string =>
  renderTable(
    ['`--output`', 'what it prints'],
    outputFormats.map(({ name, summary }) => [code(name), summary]),
  )

const codeNames = (names: string): string => names.split(', ').map(code).join(', ')

/** The exit codes, the most severe first, as a list in a sentence. */
const renderExitCodeOrder = (): string =>
  `${exitCodeList
    .map(({ code }) => code)
    .toSorted((one, other) => (one === other ? 0 : mostSevere([one, other]) === one ? -1 : 1))
    .join(', ')}.`

const operations: readonly Operation[] = serviceOperations

/** What happens to a change that got no response. */
function outcomeTextOf({ readBack, replay }: WriteRecovery): string {
  if (readBack === undefined) return replay === 'never' ? 'reported as unknown' : 'sent again once'
  return `read back: ${code(readBack.rule)}${replay === 'never' ? ', never sent again' : ''}`
}

const renderOperations = ({ commands }: ProgramHelp): string =>
  renderTable(
    ['operation', 'method', 'effect', 'without a response', 'command'],
    operations.map(({ route, change, isHostedOnly = false }) => {
      const name = operationName(route)
      // The command that is the operation, or else the first that begins with it.
      const sender =
        allCommands.find(command => command.operation?.route === route) ??
        commands.find(({ sends }) => sends[0] === route)
      return [
        code(name),
        operationMethod(route),
        `${change === undefined ? 'read' : 'change'}${isHostedOnly ? ', hosted service only' : ''}`,
        change === undefined ? 'retried' : outcomeTextOf(change.recovery),
        sender === undefined ? '' : code(`mergeq ${sender.command}`),
      ]
    }),
  )

/** The outlines of records, with the fields that they need not have. */
const renderRecords = (...records: readonly RecordType[]): string =>
  [
    '```text',
    ...records.map(({ fields }) =>
      outline(
        ownRecord(Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, required(each)]))),
      ),
    ),
    '```',
  ].join('\n')

const formatSeconds = (milliseconds: number): string => `${milliseconds / 1_000} s`

const renderTimeLimits = (): string =>
  renderTable(
    ['limit', 'value'],
    [
      ['opening a connection', formatSeconds(connectLimit)],
      ['an attempt of a read, without its upload', formatSeconds(attemptLimit)],
      ['an attempt of a change, without its upload', formatSeconds(changeLimit)],
      ['a pause between two pieces of a response body', formatSeconds(idleLimit)],
      ['the range of a list of failing tests in one request', `${maxWindow / 86_400_000} days`],
    ],
  )

const renderRetryDelays = (): string =>
  renderTable(
    ['limit', 'value'],
    [
      ['bound of the first delay', formatSeconds(retryDelays.first)],
      ['shortest delay', formatSeconds(retryDelays.min)],
      ['longest delay, without a `Retry-After`', formatSeconds(retryDelays.max)],
      ['longest `Retry-After` that is waited for', formatSeconds(maxRetryAfter)],
      ['retries of one command in total', String(maxRetriesPerClient)],
      ['time that a command over several goes on after a 429', `${maxPatience / 60_000} min`],
    ],
  )

const renderPollDelays = (): string =>
  renderTable(
    ['poll', 'delay'],
    [
      ['the first ones after a change', pollDelays.first.map(formatSeconds).join(', ')],
      ['the next ones', formatSeconds(pollDelays.usual)],
      ['the next ones of a pull request that is `NOT_READY`', formatSeconds(pollDelays.notReady)],
      ['after errors', `at most ${formatSeconds(pollDelays.max)}`],
    ],
  )

const renderSizeLimits = (): string =>
  renderTable(
    ['limit', 'value'],
    [
      ['request body', formatBytes(maxBodySize)],
      ['response with a record, a queue or a receipt, after decompression', formatBytes(maxResponseSize)],
      ['response with metrics, after decompression', formatBytes(maxMetricsSize)],
      ['response to `mergeq api`, after decompression', formatBytes(maxRawResponseSize)],
      ['JSON in a response', formatBytes(maxJsonSize)],
      ['levels of lists and objects', formatInteger(maxJsonDepth)],
      ['records in a response', formatInteger(maxRecords)],
      ['values in a response of more than 1 MiB', formatInteger(maxValues)],
      ['samples of metrics that are parsed', formatInteger(maxSamples)],
    ],
  )

const renderScenarios = (): string =>
  renderTable(
    ['scenario', 'what happens'],
    scenarioNames.map(name => [code(name), scenarios[name].summary ?? '']),
  )

const dialectRows: readonly (readonly [subject: string, describe: (dialect: Dialect) => string])[] = [
  ['states', ({ formatState }) => code(formatState('RUNNING'))],
  ['times', ({ formatTime }) => code(formatTime(Date.UTC(2026, 0, 5, 9, 30, 0, 123)))],
  [
    'response to a change without a document',
    ({ emptyResponse: { text, contentType } }) => `${code(text)} as ${code(contentType)}`,
  ],
  [
    'error body',
    ({ createErrorBody }) => {
      const { text, contentType } = createErrorBody('Not Found')
      return `${code(text)} as ${code(contentType)}`
    },
  ],
  ['GET on a POST path', ({ methodNotAllowed: { status, body } }) => `${status}, ${code(body.contentType)}`],
  [
    '`setImpactedTargets` without `pr.sha`, `getMergeQueueTestingDetails` without `testRunId`',
    ({ hasObservedFields }) => (hasObservedFields ? '400' : 'accepted'),
  ],
  ['`deleteQueue` on a queue that is not empty', ({ queueNotEmptyStatus }) => String(queueNotEmptyStatus)],
  [
    'operations that the API document does not have',
    ({ hasHostedOperations }) => (hasHostedOperations ? 'yes' : '404'),
  ],
  [
    'fields that the API document does not show',
    ({ hasObservedFields }) => (hasObservedFields ? 'yes' : 'no'),
  ],
  [
    'time until a new submission is visible, at speed 1',
    ({ readDelay }) => (readDelay === 0 ? 'none' : `${readDelay} ms`),
  ],
]

/** What the words of a state mean. */
const renderReasons = (state: keyof typeof reasonTable): string =>
  renderTable(
    ['word', 'meaning', 'caused by', 'again', 'what to do'],
    Object.entries(reasonTable[state] ?? {}).map(
      ([word, { by, again, meaning, advice = '', mayBeMerged = false }]) => [
        code(word),
        meaning.replace('{by}', ''),
        by === 'unknown' ? 'not known' : causerTexts[by],
        again === null ? '' : mayBeMerged ? `${code(again)}, may be merged` : code(again),
        advice,
      ],
    ),
  )

/** The words of states of which nothing is to be done. */
const renderOtherReasons = (states: readonly (keyof typeof reasonTable)[]): string =>
  renderTable(
    ['state', 'word', 'meaning', 'caused by'],
    states.flatMap(state =>
      Object.entries(reasonTable[state] ?? {}).map(([word, { by, meaning }]) => [
        code(state),
        code(word),
        meaning.replace('{by}', ''),
        causerTexts[by],
      ]),
    ),
  )

const renderDialects = (): string =>
  renderTable(
    ['', ...Object.keys(dialects).map(code)],
    dialectRows.map(([subject, describe]) => [subject, ...Object.values(dialects).map(describe)]),
  )

/** Returns the generated parts of each reference page, by the page and the name of the marker. */
interface Alert {
  readonly alert?: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}

/** The alerts for Prometheus. The message is that of a queue for main of acme/web; N is the value. */
function renderAlerts(): string {
  const rules: readonly Alert[] = parse(readFileSync('docs/prometheus/mergeq.rules.yml', 'utf8')).groups[0]
    .rules
  return renderTable(
    ['alert', 'severity', 'fires after', 'message'],
    rules.flatMap(({ alert, for: time, labels, annotations }) =>
      alert === undefined
        ? []
        : [
            [
              code(alert),
              labels.severity,
              time,
              annotations.summary
                .replaceAll('{{ $labels.branch }}', 'main')
                .replaceAll('{{ $labels.repo }}', 'acme/web')
                .replace('{{ $value }}', 'N')
                .replace('{{ $value | humanizePercentage }}', 'N%'),
            ],
          ],
    ),
  )
}

export const referenceParts = (
  help: ProgramHelp,
): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  'docs/reference/cli.md': {
    commands: renderCommandTable(allCommands),
    'global options': renderGlobalOptions(help),
    sources: renderTable(
      ['source', 'repository', 'target branch', 'except'],
      sources.map(({ name, repo = '', targetBranch = '', except }) => [
        name,
        repo,
        targetBranch,
        except.map(text => `${text}.`).join(' '),
      ]),
    ),
    settings: renderSettingsTable(),
    'other variables': renderTable(
      ['variable', 'meaning'],
      otherVariables.map(([names, description]) => [codeNames(names), description]),
    ),
    formats: renderFormats(),
    headings: renderTable(
      ['heading', 'field', 'in CSV'],
      shownHeadings.map(({ heading, field, csv }) => [
        heading,
        code(field),
        csv === undefined ? '' : code(csv),
      ]),
    ),
    states: renderTable(
      ['on a terminal', 'in rows and JSON'],
      shownStates.map(({ words, sign, name }) => [`${sign} ${words}`, code(name)]),
    ),
    'setting words': renderTable(
      ['as flags and people write it', 'in JSON, rows and files'],
      shownSettings.map(({ words, name }) => [code(words), code(name)]),
    ),
    'poll delays': renderPollDelays(),
    'wait records': renderRecords(changeRecord, waitResultRecord),
    'queue wait record': renderRecords(queueWaitRecord),
    'exit codes': renderExitCodeTable(),
    'exit code order': renderExitCodeOrder(),
  },
  'docs/reference/network.md': {
    'retry delays': renderRetryDelays(),
    'time limits': renderTimeLimits(),
    'size limits': renderSizeLimits(),
  },
  'docs/prometheus.md': { alerts: renderAlerts() },
  'docs/reference/service.md': { operations: renderOperations(help) },
  'docs/reference/sandbox.md': { dialects: renderDialects() },
  'docs/failures.md': {
    failed: renderReasons('FAILED'),
    cancelled: renderReasons('CANCELLED'),
    pending: renderOtherReasons(['PENDING']),
    others: renderOtherReasons(['NOT_READY', 'TESTS_PASSED', 'MERGED']),
  },
  'docs/sandbox.md': { scenarios: renderScenarios() },
})
