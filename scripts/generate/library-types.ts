// Renders the published types of the library: those of src/library/types.ts, the kinds of errors, and the types of
// the operations. The build writes them.

import type { Operation } from '../../src/api/operation.ts'
import { operationMethod } from '../../src/api/operation.ts'
import { extended, type Field, field, optional, type RecordType } from '../../src/api/operations/fields.ts'
import { clientOperations } from '../../src/api/operations/index.ts'
import { receiptRecord } from '../../src/api/receipts.ts'
import { exitCodeList } from '../../src/base/errors.ts'
import { pullRequestStates, queueStates } from '../../src/domain/states.ts'
import { iteratorName } from '../../src/library/client.ts'
import {
  bodyParams,
  callParams,
  clientParams,
  type LibraryParam,
  settingParams,
} from '../../src/library/options.ts'
import { landParams, waitParams, watchParams } from '../../src/library/wait-options.ts'
import { sandboxTypes } from '../../src/values/sandbox.ts'
import { pullRequest } from '../../src/values/types.ts'
import { attemptRecord, changeRecord, landResultRecord, queueChangeRecord } from '../../src/wait/records.ts'

/** The name of a method, and its operation. */
type Method = readonly [name: string, operation: Operation]

const methods = Object.entries<Operation>(clientOperations)

/** The longest line of a comment, and the longest type on one line. */
const maxLineLength = 120
const maxTypeLength = 90

/** Returns a comment above a declaration. */
function comment(text: string | undefined, indent = ''): string {
  if (text === undefined) return ''
  const line = `${indent}/** ${text} */`
  if (line.length <= maxLineLength) return `${line}\n`
  const lines = wrapWords(text, maxLineLength - indent.length - 3)
  return [`${indent}/**`, ...lines.map(each => `${indent} * ${each}`), `${indent} */\n`].join('\n')
}

/** Splits a text into lines. */
function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && longer.length <= width) lines.splice(-1, 1, longer)
    else lines.push(word)
  }
  return lines
}

const withPeriod = (text: string): string => (text.endsWith('.') ? text : `${text}.`)

/** Returns the type of a field, behind the colon. */
function fieldType({ type = 'Json', record, isList, isNullable }: Field): string {
  const name = record?.name ?? type
  const inList = isList ? `readonly ${name}[]` : name
  const text = isNullable ? `${inList} | null` : inList
  return text.length <= maxTypeLength
    ? text
    : text
        .split(' | ')
        .map(part => `\n    | ${part}`)
        .join('')
}

/** Returns a record type and all record types in it, each once. */
const typesIn = (record: RecordType): readonly RecordType[] => [
  ...(record.base === undefined ? [] : typesIn(record.base)),
  ...Object.values(record.fields).flatMap(field => (field.record === undefined ? [] : typesIn(field.record))),
  record,
]

const declareRecord = ({ name, summary, base, fields }: RecordType): string =>
  `${comment(summary)}export interface ${name}${base === undefined ? '' : ` extends ${base.name}`} {\n${Object.entries(
    fields,
  )
    .map(([key, field]) =>
      `${comment(field.summary, '  ')}  readonly ${key}${field.required ? '' : '?'}: ${fieldType(field)}\n`.replace(
        ': \n',
        ':\n',
      ),
    )
    .join('')}}\n`

const capitalized = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

/** The params that every method takes from the settings. */
const commonOptions: readonly string[] = ['repo', 'targetBranch', 'org']

const optionsName = (method: string): string => `${capitalized(method)}Options`

/** Whether a call without the option is an error. */
const isRequired = (operation: Operation, name: string): boolean =>
  operation.params[name]?.required === true && operation.params[name]?.setting === undefined

/** Declares an option, with its range, its unit and its default. */
function declareOption(
  name: string,
  { type, summary, default: usual, note }: LibraryParam<unknown>,
  isNeeded: boolean,
): string {
  const { declaration, expected } = type
  const range = expected.startsWith('a whole number')
    ? `, ${expected.replace(/^a whole number (?:of )?/, '')}`
    : ''
  const or = expected.includes(' or ') ? ',' : ' or'
  const unit = declaration === 'number | string' ? `: milliseconds${or} ${expected} such as \`30s\`` : ''
  const text = `${summary}${range}${unit}${usual === undefined ? '' : `; \`${usual}\` by default`}`
  const about = [withPeriod(text), note ?? []].flat().join(' ')
  const value = declaration.includes('=>') ? `(${declaration})` : declaration
  return `${comment(about, '  ')}  readonly ${name}${isNeeded ? '' : '?'}: ${value}${isNeeded ? '' : ' | undefined'}\n`
}

/** Declares options; one that has a default need not be given. */
const declareParams = (
  heading: string,
  summary: string,
  params: Readonly<Record<string, LibraryParam<unknown>>>,
): string =>
  `${comment(summary)}export interface ${heading} {\n${Object.entries(params)
    .map(([name, param]) =>
      declareOption(name, param, param.required === true && param.default === undefined),
    )
    .join('')}}\n`

/** Declares the options of a method that waits. */
const declareWaitOptions = (
  method: string,
  params: Readonly<Record<string, LibraryParam<unknown>>>,
  bases: string,
): string => declareParams(`${optionsName(method)} extends ${bases}`, `Options of \`${method}\`.`, params)

function declareOptions([method, operation]: Method): string {
  const hasBody = operationMethod(operation.route) === 'POST'
  const own = Object.entries(operation.params).filter(
    ([name]) => !commonOptions.includes(name) && !(name === 'branch' && !hasBody),
  )
  const lines = own.map(([name, param]) =>
    declareOption(name, name === 'pr' ? { ...param, type: pullRequest } : param, isRequired(operation, name)),
  )
  return `${comment(`Options of \`${method}\`.`)}export interface ${optionsName(method)} extends ${hasBody ? 'BodyOptions' : 'CommonOptions'} {\n${lines.join('')}}\n`
}

function resultType(operation: Operation): string {
  const { response, document, change, decoder } = operation
  const record = (document ?? response)?.name
  if (change !== undefined) return record === undefined ? 'Receipt' : `${record} | Receipt`
  if (record === undefined) return 'ServiceStatus'
  return decoder.expects === 'text' ? `readonly ${record}[]` : record
}

function declareMethod([method, operation]: Method): string {
  const summary = operation.isHostedOnly ? `${operation.summary} Hosted service only.` : operation.summary
  const isOptional = !Object.keys(operation.params).some(name => isRequired(operation, name))
  return `${comment(summary, '  ')}  ${method}(options${isOptional ? '?' : ''}: ${optionsName(method)}): Promise<${resultType(operation)}>\n`
}

const declareIterator = ([method, { response }]: Method): string =>
  `${comment(`Iterates over what \`${method}\` lists. A page is requested when the records before it were taken.`, '  ')}  ${iteratorName(method)}(options?: ${optionsName(method)}): AsyncGenerator<${response?.name}, void>\n`

const errorKinds = [...new Set(exitCodeList.map(({ kind }) => kind))].filter(kind => kind !== 'ok')

const declareErrorKind = `${comment('The kind of an error.')}export type ErrorKind =${errorKinds.map(kind => `\n  | '${kind}'`).join('')}\n`

const declareOtherString = `${comment('Any other string: the service may add values.')}type OtherString = string & Readonly<Record<never, never>>\n`

/** Declares the type of a state. */
const declareState = (name: string, summary: string, states: readonly string[]): string =>
  `${comment(summary)}export type ${name} =${[...states.map(state => `'${state}'`), 'OtherString'].map(word => `\n  | ${word}`).join('')}\n`

const waitMethod = `${comment('Waits until each pull request reached a state, failed or was cancelled, or the time is over. Resolves to a result for each, in the order given.', '  ')}  waitForPullRequests(options: WaitForPullRequestsOptions): Promise<readonly WaitResult[]>\n`

const landMethod = `${comment('Submits each pull request, waits for it, and submits it again after a failure that it did not cause, until it has merged or no further submission helps. Resolves to a result for each, in the order given.', '  ')}  landPullRequests(options: LandPullRequestsOptions): Promise<readonly LandResult[]>\n`

const watchMethod = `${comment('Yields each change of a queue. It polls only while a change is asked for, and outages of the service are notices. It ends by `return`, as by a `break`, by a signal, or with an error that does not pass.', '  ')}  watchQueue(options?: WatchQueueOptions): AsyncGenerator<QueueChange, void>\n`

const declareCreateClient = `/**
 * Returns a client of the service. Settings that are left out are found where the command line finds them.
 * Throws a {@link MergeqError} for a wrong option.
 *
 * @example
 * const client = createClient({ repo: 'acme/web', targetBranch: 'main', token: process.env.MERGEQ_TOKEN })
 * await client.submitPullRequest({ pr: 123 })
 * const [result] = await client.waitForPullRequests({ prs: [123], timeout: '45m' })
 * console.log(result.reason)
 */
export declare function createClient(options?: ClientOptions): Client

/** Returns whether a value is a {@link MergeqError}, also one of another copy of this package. */
export declare function isMergeqError(value: unknown): value is MergeqError

/**
 * Reads a pull request as people write it: \`123\`, \`#123\`, \`acme/web#123\` or its URL. Throws a {@link MergeqError} of kind
 * \`usage\` for anything else.
 */
export declare function parsePullRequest(reference: PullRequestReference): ParsedPullRequest

/** The version of this build: \`0.1.0\`, and with the commit where it is not a release: \`0.1.0+02ead434\`. */
export declare const version: string
`

/** Returns the published types. `source` is src/library/types.ts, which ends with stand-ins for generated types. */
export function renderLibraryTypes(source: string): string {
  const receipt = extended(receiptRecord, {
    submitted: optional(
      field(
        'boolean | null',
        'Only of `submitPullRequest`: whether the call submitted it, null if that is not known. False with `ok` if it was in the queue already.',
      ),
    ),
  })
  const ofWaits = [queueChangeRecord, changeRecord, attemptRecord, landResultRecord]
  const records = new Map(
    [receipt, ...methods.flatMap(([, { response, document }]) => [response, document]), ...ofWaits]
      .flatMap(record => (record === undefined ? [] : typesIn(record)))
      .map(record => [record.name, record]),
  )
  return [
    source.slice(0, source.indexOf('// In the place of what follows')).trimEnd(),
    declareParams(
      'CommonOptions',
      'Settings of a call. A setting that is omitted is resolved as on the command line.',
      { ...settingParams, ...callParams },
    ),
    declareParams(
      'ClientOptions extends CommonOptions',
      'Options of a client: the settings of all its calls, the token, and callbacks.',
      clientParams,
    ),
    declareParams('BodyOptions extends CommonOptions', 'Options of a method that sends a body.', bodyParams),
    declareErrorKind,
    declareOtherString,
    declareState('PullRequestState', 'The state of a pull request, in upper case.', pullRequestStates),
    declareState('QueueState', 'The state of a queue, in upper case.', queueStates),
    ...[...records.values()].map(declareRecord),
    ...methods.map(declareOptions),
    declareWaitOptions('waitForPullRequests', waitParams, 'CommonOptions'),
    declareWaitOptions(
      'landPullRequests',
      landParams,
      "WaitForPullRequestsOptions, Omit<SubmitPullRequestOptions, 'pr'>",
    ),
    declareWaitOptions('watchQueue', watchParams, 'CommonOptions'),
    `${comment('A client of the service: a method for each operation, with the settings, retries, limits and errors of the command line. Every method rejects with a {@link MergeqError}.')}export interface Client {\n${[...methods.map(declareMethod), ...methods.filter(([, { pages }]) => pages !== undefined).map(declareIterator), waitMethod, landMethod, watchMethod].join('')}}\n`,
    declareCreateClient,
  ].join('\n')
}

const { scenario, dialect, speed, seed } = sandboxTypes

/** Returns the published types of `mergeq/testing`. */
export const renderTestingTypes = (): string => `/** Options of {@link startSandbox}. */
export interface SandboxOptions {
  /** What happens to pull requests; \`happy\` by default: all merge. */
  readonly scenario?: ${scenario.declaration} | undefined
  /** Behave as the service is documented, the default, or as the hosted service does. */
  readonly dialect?: ${dialect.declaration} | undefined
  /** Divides every duration; at 1, the default, a test run takes about two seconds. */
  readonly speed?: ${speed.declaration} | undefined
  /** The same seed gives the same data. */
  readonly seed?: ${seed.declaration} | undefined
  /** Queues in addition to the one of \`acme/web\` and \`main\`: \`acme/web:release\`. */
  readonly queues?: readonly string[] | undefined
}

/** A local service: options for \`createClient\`, and what stops it. */
export interface Sandbox {
  readonly baseUrl: string
  readonly token: string
  /** Stops the sandbox. It also ends with the process. */
  close(): Promise<void>
}

/**
 * Starts a sandbox, a local service for tests, on a free port of this machine. It prints nothing, and its data is in
 * memory. Rejects with a \`MergeqError\` for a wrong option.
 */
export declare function startSandbox(options?: SandboxOptions): Promise<Sandbox>
`
