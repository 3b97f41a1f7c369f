import type { Json, JsonObject } from '../../base/json.ts'

/**
 * The fields of responses (docs/reference/service.md): what `--fields` knows, what the reference lists, and what the
 * published types are made from. The service may add fields.
 */

/** A field; `T` is the type of its value. */
export interface Field<T = unknown> {
  /** The type in TypeScript, where the field has no record. */
  readonly type?: string
  /** The type of its value, or of each item of its list. */
  readonly record?: RecordType
  readonly isList?: boolean
  readonly isNullable?: boolean
  /** Whether it is always there; false is for `optional` and `usual`. */
  readonly required?: boolean
  /** Whether most records have it: the outline of the record names it. */
  readonly isUsual?: boolean
  /** Whether mergeq adds it: the service does not send it. */
  readonly isOurs?: boolean
  /** Whether it is an object whose fields are not known. */
  readonly isOpen?: boolean
  readonly summary?: string | undefined
  /** Not of a field: a record is none. */
  readonly fields?: never
  /** Never set: for the compiler, see `Infer`. */
  readonly value?: T
}

export interface RecordType<T = unknown> {
  /** The name of the published type. */
  readonly name: string
  readonly summary: string
  readonly fields: Readonly<Record<string, Field>>
  /** The type whose fields it has too, in the published declarations. */
  readonly base?: RecordType
  /** Never set: for the compiler, see `Infer`. */
  readonly value?: T
}

/** The type of the objects that a record describes. */
export type Infer<R extends RecordType> = R extends RecordType<infer T> ? T : never

/** The types that a field can name. */
interface NamedTypes {
  readonly string: string
  readonly number: number
  readonly boolean: boolean
  readonly true: true
  readonly null: null
  readonly object: JsonObject
  readonly PullRequestState: string
  readonly QueueState: string
}

/** The type that a text names, as it is written in TypeScript. */
type TypeNamed<Text> = Text extends `${infer One} | ${infer Others}`
  ? TypeNamed<One> | TypeNamed<Others>
  : Text extends `'${infer Word}'`
    ? Word
    : Text extends `readonly ${infer Item}[]`
      ? readonly TypeNamed<Item>[]
      : Text extends keyof NamedTypes
        ? NamedTypes[Text]
        : Json

/** The type of a field, or of a record, or that a text names; JSON where that is not described. */
type ValueOf<Each> = Each extends Field<infer T> | RecordType<infer T>
  ? unknown extends T
    ? Json
    : T
  : TypeNamed<Each>

/** The type of objects with fields. A field that need not be there can be undefined. */
type ObjectOf<Fields> = {
  readonly [Name in keyof Fields as undefined extends ValueOf<Fields[Name]> ? never : Name]: ValueOf<
    Fields[Name]
  >
} & {
  readonly [Name in keyof Fields as undefined extends ValueOf<Fields[Name]> ? Name : never]?: Exclude<
    ValueOf<Fields[Name]>,
    undefined
  >
}

/** The end of a name that matches every field of an object whose fields are not known: `labels.<name>`. */
export const anyField = '.<name>'

/** Returns the dotted names of the fields of a record, as the service sends them. */
export const fieldNames = (record: RecordType): readonly string[] => [...new Set(namesIn(record))]

const namesIn = ({ fields, base }: RecordType): readonly string[] => [
  ...(base === undefined ? [] : namesIn(base)),
  ...Object.entries(fields).flatMap(([name, { record, isOpen, isOurs }]) =>
    isOurs
      ? []
      : [
          name,
          ...(isOpen ? [`${name}${anyField}`] : []),
          ...(record === undefined ? [] : namesIn(record).map(below => `${name}.${below}`)),
        ],
  ),
]

export const field = <const Text extends string>(type: Text, summary?: string): Field<TypeNamed<Text>> => ({
  type,
  summary,
})
export const nested = <T>(record: RecordType<T>, summary?: string): Field<T> => ({ record, summary })
export const list = <T>(record: RecordType<T>, summary?: string): Field<readonly T[]> => ({
  record,
  summary,
  isList: true,
})
export const open = (type: string, summary?: string): Field => ({ ...field(type, summary), isOpen: true })
export const nullable = <T>({ value: _, ...field }: Field<T>): Field<T | null> => ({
  ...field,
  isNullable: true,
})
export const required = <T>(field: Field<T>): Field<T> => ({ ...field, required: true })

/** One of some words. */
export const oneOf = <const Word extends string>(...words: readonly Word[]): `'${Word}'` =>
  words.map(word => `'${word}'`).join(' | ') as `'${Word}'`

/** Some words, or any other text: the service may add words. */
export const words = (...known: readonly string[]): string => `${oneOf(...known)} | OtherString`

/** A field, or its type: the name of one in TypeScript, or a record. */
type FieldOrType = Field | RecordType | string

export function fieldOf<const Each extends FieldOrType>(each: Each): Field<ValueOf<Each>>
export function fieldOf(each: FieldOrType): Field {
  if (typeof each === 'string') return field(each)
  return each.fields === undefined ? each : nested(each)
}

/** A field that a record of mergeq need not have. */
export const optional = <const Each extends FieldOrType>(each: Each): Field<ValueOf<Each> | undefined> => ({
  ...fieldOf(each),
  required: false,
})

/** An optional field that most records have. */
export const usual = <const Each extends FieldOrType>(each: Each): Field<ValueOf<Each> | undefined> => ({
  ...optional(each),
  isUsual: true,
})

/**
 * A record that mergeq prints, with its fields in the order in which they are printed, and always there unless they are
 * `optional` or `usual`: the names for `--fields`, the JSON schema, the outline in help and the type are made from it.
 */
export const ownRecord = <const Fields extends Readonly<Record<string, FieldOrType>>>(
  fields: Fields,
): RecordType<ObjectOf<Fields>> => ({
  name: '',
  summary: '',
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, each]) => [name, { required: true, ...fieldOf(each) }]),
  ),
})

/** A record of mergeq with further fields behind its own. */
export const extended = <T, const Fields extends Readonly<Record<string, FieldOrType>>>(
  { name, summary, fields }: RecordType<T>,
  more: Fields,
): RecordType<Omit<T, keyof Fields> & ObjectOf<Fields>> => ({
  name,
  summary,
  fields: { ...fields, ...ownRecord(more).fields },
})

/** A record of mergeq as the library publishes it. */
export const named = <const Fields extends Readonly<Record<string, FieldOrType>>>(
  name: string,
  summary: string,
  fields: Fields,
): RecordType<ObjectOf<Fields>> => ({ ...ownRecord(fields), name, summary })

/** A record of the service. A field may be missing unless it is `required`. */
export const sentRecord = (
  name: string,
  summary: string,
  fields: RecordType['fields'],
  base?: RecordType,
): RecordType => ({ name, summary, fields, ...(base && { base }) })

const withFields = (record: RecordType, more: RecordType['fields']): RecordType => ({
  ...record,
  fields: { ...record.fields, ...more },
})

/** Names as an outline has them: `"repo","branch"`. */
export const quoted = (fields: object): string =>
  Object.keys(fields)
    .map(name => JSON.stringify(name))
    .join(',')

/** Returns the outline of a record for help, `{"type":"result","pr"}`; fields in `expanded` have their own outline. */
export function outline(record: RecordType, ...expanded: readonly string[]): string {
  const outlineOf = ([name, { type, record, isList }]: [string, Field]): string => {
    const [, word] = /^'(\w+)'$/.exec(type ?? '') ?? []
    if (word !== undefined) return `"${name}":"${word}"`
    if (record === undefined || !expanded.includes(name)) return `"${name}"`
    return `"${name}":${isList ? '[...]' : outline(record)}`
  }
  const shown = Object.entries(record.fields).filter(([, { required, isUsual }]) => required || isUsual)
  return `{${shown.map(outlineOf).join(',')}}`
}

export const text = field('string')
export const number = field('number')
export const flag = field('boolean')

export const queueNameFields = { repo: 'string', targetBranch: 'string' } as const

/** How the part of a command ended that a record is about. */
export const failureFields = { exit: 'number', message: 'string' } as const

/** A pull request in the list of a queue (docs/reference/service.md, "getQueue"). */
export const entryRecord = sentRecord('EnqueuedPullRequest', 'A pull request in the list of a queue.', {
  prNumber: number,
  prTitle: text,
  prAuthor: text,
  prSha: field('string', 'The head commit, which may be newer than the commit under test.'),
  prBaseBranch: text,
  state: field('PullRequestState'),
  stateChangedAt: field('string', 'In ISO 8601.'),
  priorityName: text,
  priorityValue: field('number', 'From 0 (first) to 255 (last).'),
  usedDefaultPriorityName: field('string', 'The name of the default priority, if it was used.'),
  skipTheLine: field('boolean', 'Whether the priority is 0.'),
  noBatch: field('boolean', 'Whether the pull request is tested alone, never in a batch.'),
  id: field(
    'string',
    'The id of the queue entry; it stays the same if the pull request is cancelled and submitted again.',
  ),
})

const readinessRecord = sentRecord(
  'Readiness',
  'The conditions that a submitted pull request must meet before it is tested.',
  {
    doesBaseBranchMatch: flag,
    requiresImpactedTargets: flag,
    hasImpactedTargets: flag,
    gitHubMergeability: field(words('unspecified', 'in_progress', 'mergeable', 'not_mergeable')),
  },
)

/** A submitted pull request (docs/reference/service.md, "getSubmittedPullRequest"). */
export const pullRequestRecord = sentRecord(
  'PullRequest',
  'A submitted pull request.',
  {
    state: required(field('PullRequestState')),
    isCurrentlySubmittedToQueue: field(
      'boolean',
      'True after the submission; false after the pull request merged, failed or was cancelled.',
    ),
    forceEnqueued: field('boolean', 'Whether the pull request was queued although it was not ready.'),
    readiness: nested(readinessRecord),
    verifiedByTestRun: field('string | null', 'The test run that verified a merged pull request.'),
    timeline: open(
      'readonly JsonObject[]',
      'The events of the pull request, newest first; present only if the request asked for them.',
    ),
  },
  entryRecord,
)

export const stacked = field('boolean', 'Whether the pull requests below it are tested and merged with it.')

/** Where a pull request is, which mergeq adds to records for scripts that go on with them. */
export const placeFields = {
  repo: field('string', 'As `host/owner/name`.'),
  targetBranch: text,
  url: field('string', 'The page of the pull request.'),
}

/** What `pr get` prints: the record of the service, and what mergeq concludes from it. */
export const shownPullRequestRecord = withFields(pullRequestRecord, { stacked })

/** What `pr get` prints of one of several pull requests; of an unknown one only its number and `"state":null`. */
export const listedPullRequestRecord = withFields(shownPullRequestRecord, {
  state: field('PullRequestState | null'),
  pr: field('number', 'Of an unknown pull request.'),
  ...placeFields,
})

/** A test run (docs/reference/service.md, "getMergeQueueTestingDetails"). */
export const testRunRecord = sentRecord('TestRun', 'A test run of a queue.', {
  status: field(words('in_progress', 'succeeded', 'failed', 'cancelled')),
  createdAt: field('string', 'In ISO 8601.'),
  testBranch: text,
  testBranchSha: text,
  testedPullRequests: list(
    sentRecord('TestedPullRequest', 'A pull request in a test run.', {
      prNumber: number,
      prUrl: text,
      title: text,
    }),
    'The pull requests that the run tests; several in a batch.',
  ),
  checkSuites: list(
    sentRecord('CheckSuite', 'A check suite of a test run.', {
      checkRuns: list(
        sentRecord('CheckRun', 'A check run of a test run.', {
          name: text,
          url: text,
          status: field(words('QUEUED', 'IN_PROGRESS', 'COMPLETED')),
          conclusion: field(
            words(
              'SUCCESS',
              'FAILURE',
              'NEUTRAL',
              'SKIPPED',
              'CANCELLED',
              'TIMED_OUT',
              'STALE',
              'ACTION_REQUIRED',
            ),
            'Present once the status is `COMPLETED`.',
          ),
        }),
      ),
    }),
  ),
  statusChecks: list(
    sentRecord('StatusCheck', 'A status check of a test run.', {
      context: text,
      url: text,
      state: field(words('SUCCESS', 'PENDING', 'FAILURE', 'ERROR')),
    }),
    'All status changes, newest first: a context can have several entries.',
  ),
  requiredStatuses: field('readonly string[]'),
  requiredStatusesSource: field(words('trunk_config', 'repo_provider_branch_protection', 'merge_instance')),
  impactedTargetsForTestedPrs: field('readonly string[]', 'The targets of the tested pull requests.'),
  impactedTargets: field(
    'readonly string[]',
    'The targets of the tested pull requests and of all pull requests that they build on.',
  ),
  dependentPrs: field(
    'readonly number[]',
    'The numbers of the pull requests that the run builds on without testing them.',
  ),
})

/** A sample of a metric, as `metrics --json` prints it. */
export const sampleRecord = sentRecord('Sample', 'One sample of a metric.', {
  name: required(text),
  type: usual('string'),
  labels: required(open('{ readonly [label: string]: string }')),
  value: required(field('number | string', 'A number, or the text `NaN`, `+Inf` or `-Inf`.')),
})

/** The window of a list, which mergeq adds. */
export const windowField = (type: string): Field => ({ ...required(field(type)), isOurs: true })

export const pullRequestListRecord = sentRecord(
  'PullRequestList',
  'The pull requests of all pages as one list, each pull request once.',
  {
    pullRequests: required(list(pullRequestRecord)),
    nextCursor: field('string | null', 'The cursor of the next page, if only one page was read.'),
    window: windowField('PullRequestWindow'),
  },
)

/** A result of a finished test run (docs/reference/service.md, "listMergeQueueTestingResults"). */
export const testingResultRecord = sentRecord(
  'TestRunResult',
  'How a finished test run ended for one of its pull requests.',
  {
    endedAt: field('string', 'In ISO 8601.'),
    prNumber: number,
    testRunId: text,
    outcome: field(words('passed', 'failed', 'interrupted', 'cancelled'), 'How the test run ended.'),
    cycleConclusion: field(
      words('merged', 'failed', 'cancelled'),
      'How the pull request left the queue; missing while it is queued.',
    ),
    bisection: field(words('in_bisection', 'entered_bisection'), 'Its part in splitting a failed batch.'),
    testingDurationMs: field('number', 'In milliseconds, of whole seconds.'),
  },
)

export const testingResultListRecord = sentRecord(
  'TestRunResultList',
  'The results of all pages as one list, newest first.',
  {
    testingResults: required(list(testingResultRecord)),
    totalItems: number,
    window: windowField('TestRunWindow'),
  },
)

/** A result as `queue runs` and `listTestRuns` give it. */
export const listedTestingResultRecord = withFields(testingResultRecord, placeFields)

export const listedTestingResultListRecord = withFields(testingResultListRecord, {
  testingResults: required(list(listedTestingResultRecord)),
})
