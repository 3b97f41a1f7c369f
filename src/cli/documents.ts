// What each command prints with --json, for `mergeq help --json`, where that does not follow from its operation.
import { isChange, type Operation } from '../api/operation.ts'
import {
  type Field,
  field,
  flag,
  list,
  nested,
  number,
  oneOf,
  type RecordType,
  required,
  shownPullRequestRecord,
  testRecord,
  text,
} from '../api/operations/fields.ts'
import { queueReportRecord } from '../api/operations/queue-report-record.ts'
import { getQueue, queueSettingsRecord } from '../api/operations/queues.ts'
import {
  explanationRecord,
  queueExplanationRecord,
  queueSummaryRecord,
  serviceWordFields,
} from '../api/operations/records.ts'
import { waitOutcomes } from '../domain/states.ts'

const textOrNull = field('string | null')
const flagOrNull = field('boolean | null')
const objectOrNull = field('object | null')

/** A document: its fields that are always there, and others. */
const record = (always: RecordType['fields'], others: RecordType['fields'] = {}): RecordType => ({
  name: '',
  summary: '',
  fields: {
    ...Object.fromEntries(Object.entries(always).map(([name, each]) => [name, required(each)])),
    ...others,
  },
})

const queueName = { repo: text, targetBranch: text }
const failure = { exit: number, message: text }

const sent = {
  operation: text,
  delivery: field(oneOf('confirmed', 'confirmed-by-read', 'not-applied', 'unknown')),
}

/** The receipt of a change; `more` are fields that are always there, `others` some that are not. */
const receipt = (more: RecordType['fields'] = {}, others: RecordType['fields'] = {}) =>
  record(
    { ...sent, ...more, ok: flag },
    {
      ...queueName,
      pr: number,
      testId: text,
      ticket: text,
      targets: field("number | 'ALL'"),
      ...others,
      ...failure,
    },
  )

/** What a result has of why the pull request left; its `reason` is the sentence of the wait. */
const { reason: _, ...wordsOfResult } = serviceWordFields

/** The result of a wait; `more` are fields of waits that submit. */
const waitResult = (more: RecordType['fields'] = {}) =>
  record(
    {
      type: field(oneOf('result')),
      pr: number,
      title: textOrNull,
      url: text,
      outcome: field(oneOf(...waitOutcomes)),
      state: field('PullRequestState | null'),
      reason: text,
      elapsedSeconds: number,
      exit: number,
    },
    {
      repo: text,
      ...wordsOfResult,
      stacked: flag,
      failingChecks: list(record({ name: text, url: textOrNull, conclusion: text })),
      ...more,
    },
  )

const window = nested(record({ start: text, end: text, complete: flag }))

/** What `--all`, `--file` and `--from` print; otherwise there is a receipt. */
const stateChanges = [
  nested(receipt()),
  list(
    record({
      ...queueName,
      ok: flag,
      result: field(oneOf('changed', 'unchanged', 'skipped', 'error')),
      before: textOrNull,
      after: textOrNull,
      ...failure,
    }),
  ),
]

const queueCheck = record({
  ok: flag,
  ...queueName,
  result: field(oneOf('pass', 'fail', 'error')),
  checks: list(record({ check: text, ok: flag, reason: text })),
  notReady: field('number | null'),
  ...failure,
})

/** Without an entry, or with an empty one, a command prints no JSON of its own. */
const documents: Readonly<Record<string, readonly Field[]>> = {
  'pr submit': [
    nested(receipt({ submitted: flagOrNull }, { stacked: flag })),
    nested(waitResult({ submitted: flagOrNull })),
  ],
  'pr land': [nested(waitResult({ submitted: flagOrNull, attempts: number }))],
  'pr wait': [nested(waitResult())],
  'pr get': [nested(shownPullRequestRecord)],
  'pr explain': [nested(explanationRecord)],
  'queue explain': [nested(queueExplanationRecord)],
  'queue list': [
    list({
      ...queueSummaryRecord,
      fields: { ...queueSummaryRecord.fields, state: field('QueueState | null'), mode: textOrNull },
    }),
  ],
  'queue pause': stateChanges,
  'queue resume': stateChanges,
  'queue drain': stateChanges,
  'queue check': [nested(queueCheck), list(queueCheck)],
  'queue report': [nested(queueReportRecord)],
  'queue wait': [
    nested(
      record({
        type: field(oneOf('result')),
        ...queueName,
        until: text,
        outcome: text,
        depth: field('number | null'),
        testing: field('number | null'),
        elapsedSeconds: number,
        exit: number,
      }),
    ),
  ],
  'queue watch': [nested(getQueue.response ?? queueSettingsRecord)],
  'queue export': [nested(record({ ...queueName, settings: nested(queueSettingsRecord) }))],
  'queue diff': [
    nested(
      record({
        same: flagOrNull,
        digest: textOrNull,
        queues: list(record({ ...queueName, file: text }, { exists: flag, digest: textOrNull, ...failure })),
        changes: list(record({ ...queueName, setting: text }, { live: field('Json'), file: field('Json') })),
      }),
    ),
  ],
  'queue apply': [
    nested(
      record(
        {
          ...queueName,
          ok: flag,
          file: text,
          result: field(oneOf('changed', 'created', 'unchanged', 'error')),
          before: objectOrNull,
          after: objectOrNull,
          changed: field('readonly string[]'),
          ...failure,
        },
        // A queue that needs no change has no receipt.
        {
          ...sent,
          digest: text,
          notApplied: field('readonly string[]'),
        },
      ),
    ),
  ],
  'flaky gate': [
    nested(
      record(
        {
          ok: flag,
          failing: number,
          max: number,
          baseline: number,
          complete: flag,
          reason: text,
          notInWindow: number,
          tests: list(testRecord),
        },
        { window },
      ),
    ),
  ],
  'flaky match': [
    nested(
      record({
        counts: nested(
          record({ failed: number, new: number, unknown: number, known: number, quarantined: number }),
        ),
        tests: list(
          record(
            { verdict: text, name: text, classname: textOrNull, parent: textOrNull, file: textOrNull },
            { test: { ...nested(testRecord), isNullable: true }, inWindow: flag },
          ),
        ),
        window,
      }),
    ),
  ],
  'guard install': [nested(record({ hook: text, did: text }, { line: textOrNull }))],
  'guard uninstall': [nested(record({ hook: text, did: text }))],
  'auth status': [
    nested(
      record({
        source: text,
        origin: text,
        profile: text,
        settingsFile: text,
        lastCharacters: text,
        verification: text,
      }),
    ),
  ],
  'auth list': [
    list(record({ profile: text, origin: text, source: text, from: textOrNull, selected: flag })),
  ],
  'config get': [nested(record({ key: text, value: text, origin: text }))],
  'config list': [list(record({ key: text, value: text }, { origin: text }))],
  doctor: [
    list(record({ check: text, result: field(oneOf('pass', 'warn', 'fail')), found: text }, { fix: text })),
  ],
  'sandbox start': [nested(record({ baseUrl: text, token: text }))],
}

/** Returns the documents of a command: it prints one of them, or several after each other. */
export function documentsOf(command: string, operation: Operation | undefined): readonly Field[] {
  const own = documents[command]
  if (own !== undefined || operation === undefined) return own ?? []
  const { response, document = response, decoder } = operation
  const all = document === undefined ? [] : [decoder.expects === 'text' ? list(document) : nested(document)]
  return isChange(operation) ? [...all, nested(receipt())] : all
}
