import { isChange, operationName } from '../api/operation.ts'
import { pullRequestsPage } from '../api/operations/pull-requests.ts'
import { testingResultsPage } from '../api/operations/testing-results.ts'
import { usageError } from '../base/errors.ts'
import { getString, isObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import type { ParseContext } from '../config/settings.ts'
import { isKnownState, normalizeState, stateOf } from '../domain/states.ts'
import { parseCsv } from '../output/parse-csv.ts'
import { formatInteger, shorten } from '../values/format.ts'
import { isPullRequestReference, parsePullRequest } from '../values/pull-request.ts'
import { readText } from '../values/text.ts'
import { openInput } from './input-files.ts'
import type { InputContext } from './inputs.ts'

const maxItems = 10_000

/** Bytes of standard input; far more than 10,000 records have. */
const maxInputSize = 16 * 1024 * 1024

interface InputOptions {
  /** What the items are, in the plural: `pull requests`. */
  readonly noun: string
  /** What to write if there are none. */
  readonly hint: string
  /** Whether no item at all is no error. */
  readonly mayBeEmpty?: boolean
}

/** Reads what standard input names, at most 10,000 items. */
export async function readInputItems<T>(
  { noun, hint, mayBeEmpty = false }: InputOptions,
  parse: (text: string) => readonly T[] | Promise<readonly T[]>,
  context: ParseContext,
): Promise<readonly T[]> {
  const text = await readText(openInput('-', context), 'Standard input', maxInputSize)
  const items = await parse(text)
  if (items.length === 0 && !mayBeEmpty) {
    const problem = text.trim() === '' ? 'Standard input was empty' : `Standard input names no ${noun}`
    throw usageError(`${problem}; the previous command may have failed.`, hint)
  }
  if (items.length <= maxItems) return items
  throw usageError(
    `Too many ${noun} (${formatInteger(items.length)}): the limit is ${formatInteger(maxItems)}.`,
    'Split the list, and run the command once for each part.',
  )
}

export const linesOf = (text: string): readonly string[] =>
  text
    .split(/\r?\n/)
    .map(line => line.trim())
    .filter(line => line !== '')

const whatToWrite =
  'Write one pull request per line, a number or a URL, or pipe what these commands print: pr list, pr get, pr wait, pr explain, pr submit, queue get, queue runs (all of them with --json, -o ndjson or -o csv).'

/** A pull request that standard input names: as it would be typed, and what its record says. */
export interface PullRequestItem {
  readonly word: string
  readonly targetBranch?: string | undefined
  /** The record that mergeq printed; undefined for a pull request that is only named. */
  readonly record?: JsonObject
}

/** The lists of records in the documents of lists and queues. */
const lists = [pullRequestsPage.pages?.key, testingResultsPage.pages?.key, 'enqueuedPullRequests']

/** Returns the records of a document; those of a queue are in the branch that it names. */
function recordsOf(document: Json): readonly Json[] {
  if (Array.isArray(document)) return document.flatMap(recordsOf)
  if (!isObject(document)) return [document]
  const list = lists.map(key => document[key ?? '']).find(Array.isArray)
  if (list === undefined) return [document]
  const { branch: targetBranch = document.targetBranch } = document
  return list.map(record => (isObject(record) ? { targetBranch, ...record } : record))
}

/** Returns the pull request of a record; none for a line of a wait that is not a result. */
function itemOf(record: Json): readonly PullRequestItem[] {
  if (isObject(record) && record.type !== undefined && record.type !== 'result') return []
  const item = isObject(record) ? readRecord(record) : undefined
  if (item !== undefined) return [item]
  throw usageError(
    `Standard input has JSON without a pull request: '${shorten(JSON.stringify(record), 40)}'.`,
    whatToWrite,
  )
}

function readRecord(record: JsonObject): PullRequestItem | undefined {
  const url = getString(record, 'url') ?? ''
  const page = isPullRequestReference(url) ? parsePullRequest(url) : undefined
  const number = String(record.pr ?? record.prNumber ?? page?.number ?? '')
  if (!/^\d+$/.test(number) || !isPullRequestReference(number)) return undefined
  const repo = getString(record, 'repo') ?? page?.repo
  const word = repo ? `${repo}#${number}` : number
  return { word, targetBranch: getString(record, 'targetBranch') || undefined, record }
}

/** Returns the record of a row: of a receipt, or of `pr list` with a known state and a time. */
function recordOfRow(line: string): JsonObject {
  const [pr = '', second = '', third = ''] = line.split('\t')
  if (second === 'true' || second === 'false') return { pr, ok: second === 'true' }
  const isListed = isKnownState(normalizeState(second)) && !Number.isNaN(Date.parse(third))
  if (isListed) return { pr, state: second }
  throw usageError(`'${line.slice(0, 80)}' is not a row of \`mergeq pr list\` or of a change.`, whatToWrite)
}

/** Returns the record of a row of CSV, whose cells are texts. */
const recordOfCells = (cells: Readonly<Record<string, string>>): JsonObject => ({
  ...cells,
  ...(cells.ok !== undefined && { ok: cells.ok === 'true' }),
  ...(cells.state !== undefined && { state: cells.state || null }),
  targetBranch: cells.targetBranch ?? cells.target_branch ?? null,
})

/** Returns the records of the fields and values of `pr explain`: of several, each begins with its number. */
function recordsOfFields(rows: readonly Readonly<Record<string, string>>[]): readonly JsonObject[] {
  const records: Record<string, string>[] = []
  for (const { field = '', value = '' } of rows) {
    if (records.length === 0 || field === 'pr') records.push({})
    const record = records.at(-1)
    if (record !== undefined) record[field] ??= value
  }
  return records.map(record => recordOfCells({ ...record, state: record.state ?? '' }))
}

/** The header of CSV: names, of which one is that of a pull request. */
const csvHeader = /^(?:[\w. ]*,)*(?:pr|prNumber)(?:,[\w. ]*)*$/

/** Reads pull requests as they are typed, one a line, and the JSON, NDJSON, CSV and rows that mergeq prints. */
async function parsePullRequestItems(text: string): Promise<readonly PullRequestItem[]> {
  const document = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  if (document !== undefined) return recordsOf(document).flatMap(itemOf)
  const lines = linesOf(text)
  // A program that saved the file again may have put the names into quotes.
  const header = lines[0]?.replaceAll('"', '') ?? ''
  if (header === 'field,value') return recordsOfFields(await parseCsv(text)).flatMap(itemOf)
  if (csvHeader.test(header)) return (await parseCsv(text)).map(recordOfCells).flatMap(itemOf)
  return lines.flatMap(line => {
    if (line.includes('\t')) return itemOf(recordOfRow(line))
    if (!/^[[{]/.test(line)) return [{ word: line }]
    const document = parseJson(line)
    if (document === undefined) throw usageError(`'${shorten(line, 40)}' is not valid JSON.`, whatToWrite)
    return recordsOf(document).flatMap(itemOf)
  })
}

/** Whether a change has something to do for a record: it is no success, not merged, and not unknown. */
function mayChange({ record = {} }: PullRequestItem): boolean {
  const isDone = record.ok === true || (record.type === 'result' && record.exit === 0)
  return !isDone && record.state !== null && stateOf(record) !== 'MERGED'
}

/** Reads the pull requests of standard input: a read takes every record, a change those that are left to change. */
export async function readPullRequestItems(
  mayBeEmpty: boolean,
  context: InputContext,
): Promise<readonly PullRequestItem[]> {
  const { operation, settings, logger } = context
  const hint = 'If no pull request is no mistake, add --if-empty ok.'
  const options = { noun: 'pull requests', hint, mayBeEmpty }
  const items = await readInputItems(options, parsePullRequestItems, context)
  if (operation !== undefined && isChange(operation)) checkReceipts(items, operationName(operation.route))
  const left = settings.changes ? items.filter(mayChange) : items
  if (left.length === 0)
    await logger.info(
      items.length === 0
        ? 'Standard input names no pull request: nothing to do.'
        : `Nothing to do: standard input has only pull requests (${items.length}) that are done, merged or unknown.`,
    )
  return left
}

/** Throws a usage error for a receipt of another operation than the change that is to be made. */
function checkReceipts(items: readonly PullRequestItem[], change: string): void {
  for (const { record = {} } of items)
    if (typeof record.operation === 'string' && record.operation !== change)
      throw usageError(
        `Standard input has the receipt of another operation: ${record.operation}, not ${change}.`,
        'Name the pull requests, or pipe the receipts of the same command.',
      )
}
