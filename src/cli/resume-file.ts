import { buildRequest } from '../api/call.ts'
import { type Checkpoint, describeRange, type Paginator } from '../api/pagination.ts'
import { pluralize } from '../domain/format.ts'
import { MergeqError, usageError } from '../errors.ts'
import { get, getString, isObject, type Json, type JsonObject } from '../json.ts'
import { jsonToText, parseJson, stringifyJson } from '../json-text.ts'
import type { RequestDefinition } from './command.ts'
import type { CommandContext } from './context.ts'
import type { Invocation } from './invocation.ts'
import { rangeInput as rangeField } from './time-range-options.ts'

/** The format in the first line of a resume file; another format gets another number. */
const fileFormat = 'mergeq walk 1'
/** A larger file is not read: the ids of about ten million tests. */
const maxFileSize = 400 * 1024 * 1024

/** A file that holds how far a list was printed, so that another run can go on from there. */
export interface ResumeFile {
  /** Writes that a run is active, before a page is printed. */
  begin(): Promise<void>
  /** Writes how far the list was printed, after everything up to there was written to standard output. */
  save(): Promise<void>
  /** Writes that the run has ended, unless it ended while a page was printed. */
  close(): Promise<void>
  readonly resumeHint: string
}

/**
 * What identifies a query: the service, the body, the options that select records, and the output format.
 */
type QueryIdentity = Readonly<Record<string, string>>

const rangeOptions = rangeField.definitions.map(({ name }) => name)
/** Options that a second run may change. */
const changeableOptions = ['--max-pages', '--resume-file', ...rangeOptions]

async function queryOf(
  { operation, inputs }: RequestDefinition,
  { values, overrides }: Invocation,
  context: CommandContext,
): Promise<QueryIdentity> {
  const { args, options } = context
  const { request } = await buildRequest(context, operation, values, { overrides })
  const pieces = request.body?.pieces ?? []
  const body = parseJson(pieces.map(piece => new TextDecoder().decode(piece)).join(''))
  const flags = Object.values(inputs)
    .flatMap(({ definitions }) => definitions.map(({ name }) => name))
    .filter(name => args.has(name) && !changeableOptions.includes(name))
  const formatValue = (value: Json | undefined) =>
    isObject(value) ? Object.values(value).map(jsonToText).join('/') : jsonToText(value)
  return Object.fromEntries([
    ['service', request.url],
    ...Object.entries(isObject(body) ? body : {}).map(([key, value]) => [key, formatValue(value)]),
    ...flags.map(name => [name, args.get(name)?.join(',') ?? '']),
    ['--output', options.format],
    ['--fields', options.fields.join(',')],
  ])
}

/**
 * The range options as they were typed: the same options in a second run mean the range of the first run.
 */
const rangeOf = ({ args }: CommandContext): string =>
  rangeOptions.flatMap(name => (args.has(name) ? [`${name} ${args.get(name)?.[0]}`] : [])).join(' ')

const quoted = (text: string | undefined): string =>
  text === undefined || text === '' ? 'not given' : `'${text}'`

/** Throws a usage error for a file of another query; it names what differs. */
function compare(
  file: string,
  current: QueryIdentity,
  saved: Json | undefined,
  ranges: readonly [Checkpoint, Checkpoint],
): void {
  const refuse = (what: string, one: string, other: string) =>
    usageError(
      `--resume-file: ${file} belongs to another walk: ${what} is ${one} there and ${other} here.`,
      'Name another file, or run the command that it belongs to.',
    )
  const keys = new Set([...Object.keys(isObject(saved) ? saved : {}), ...Object.keys(current)])
  for (const key of keys) {
    const [one, other] = [isObject(saved) ? getString(saved, key) : undefined, current[key]]
    if ((one ?? '') !== (other ?? '')) throw refuse(key, quoted(one), quoted(other))
  }
  const [one, other] = ranges.map(({ range }) => describeRange(range))
  if (one !== other) throw refuse('the range', one ?? '', other ?? '')
}

/** The content of a resume file: the checkpoint, and the ids of the printed tests, a line for each page. */
interface SavedProgress {
  readonly checkpoint: Checkpoint
  readonly query: Json | undefined
  readonly typed: string | undefined
  readonly lines: string
  readonly ids: readonly string[]
  /**
   * Whether the run that wrote the file was killed: its last page may be incomplete and is not in the file.
   */
  readonly isCutOff: boolean
}

const isCount = (value: Json | undefined): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/** Parses a resume file; undefined when the text is not a complete resume file. */
function parseResumeFile(text: string): SavedProgress | undefined {
  const [first = '', ...rest] = text.split('\n')
  const head = parseJson(first)
  const token = getString(head, 'token')
  const [start, end, window, pages, tests, met] = ['start', 'end', 'window', 'pages', 'tests', 'ids'].map(
    key => get(head, key),
  )
  const complete = get(head, 'complete')
  const lists = rest.slice(0, -1).map(line => parseJson(line))
  const ids = lists.flatMap(list => (Array.isArray(list) ? list.map(id => jsonToText(id)) : []))
  if (
    getString(head, 'form') !== fileFormat ||
    token === undefined ||
    rest.at(-1) !== '' ||
    ids.length !== met
  )
    return undefined
  if (
    !isCount(start) ||
    !isCount(end) ||
    start >= end ||
    !isCount(window) ||
    !isCount(pages) ||
    !isCount(tests)
  )
    return undefined
  return {
    checkpoint: { range: { start, end }, window, token, pages, tests, complete: complete === true },
    query: get(head, 'query'),
    typed: getString(head, 'typed'),
    lines: rest.join('\n'),
    ids,
    isCutOff: get(head, 'running') === true,
  }
}

/**
 * Reads a resume file; undefined when there is none. Throws a usage error when the file is not a resume
 * file.
 */
async function readSavedProgress(
  file: string,
  target: string,
  { host }: CommandContext,
): Promise<SavedProgress | undefined> {
  const refuse = (why: string) =>
    usageError(
      `--resume-file: ${file} ${why}.`,
      'It was left as it is. Name another file, or remove it to begin anew.',
    )
  const text = await host.files.read(target, maxFileSize).catch((error: Error) => {
    throw refuse(`cannot be read: ${error.message}`)
  })
  if (text === undefined) return undefined
  const saved = parseResumeFile(text)
  if (saved === undefined) throw refuse('is no resume file of mergeq, or it is damaged')
  return saved
}

/** Removes the temporary files of runs that were killed while they wrote. */
async function removeTemporaryFiles(target: string, { files }: CommandContext['host']): Promise<void> {
  const folder = target.replace(/[^\\/]*$/, '')
  const name = target.slice(folder.length)
  for (const entry of await files.list(folder === '' ? '.' : folder))
    if (entry.startsWith(`.${name}.`) && /^[\da-f-]{36}\.new$/.test(entry.slice(name.length + 2)))
      await files.remove(`${folder}${entry}`)
}

/**
 * Opens the resume file, where one is named, and moves the pages to its checkpoint; undefined where none is
 * named. Throws a usage error when the file belongs to another query. Each page is printed first and saved
 * then: when a run is killed in between, the next run prints the page again, so each test is printed at
 * least once.
 */
export async function openResumeFile(
  definition: RequestDefinition,
  invocation: Invocation,
  pages: Paginator,
  context: CommandContext,
): Promise<ResumeFile | undefined> {
  const { options, printer, logger, host } = context
  const file = context.args.get('--resume-file')?.[0]
  if (file === undefined) return undefined
  if (
    options.format === 'json' ||
    (options.format === 'table' && (host.out.terminal || options.isTableForced))
  )
    throw usageError(
      `--resume-file goes with what can be appended to, and ${options.format === 'json' ? 'a JSON document' : 'a table'} cannot.`,
      'Use -o ndjson, csv or markdown, or a pipe, which gets tab-separated values.',
    )
  const target = await host.files.follow(file).catch((error: Error) => {
    throw usageError(`--resume-file: ${file}: ${error.message}.`)
  })
  const query = await queryOf(definition, invocation, context)
  const typed = rangeOf(context)
  const saved = await readSavedProgress(file, target, context)
  const initial = pages.checkpoint()
  let [lines, ids, isBegun] = [saved?.lines ?? '', saved?.ids.length ?? 0, false]
  if (saved !== undefined) {
    const { checkpoint } = saved
    compare(file, query, saved.query, [checkpoint, saved.typed === typed ? checkpoint : initial])
    pages.resume(checkpoint, saved.ids)
    if (checkpoint.pages > 0) printer.skipHeader()
    await logger.info(
      checkpoint.complete
        ? `${file}: this list was printed whole. Remove the file to begin anew.`
        : `${file}: going on after ${pluralize(checkpoint.pages, 'page')} with ${pluralize(checkpoint.tests, 'test')}.`,
    )
    if (saved.isCutOff)
      await logger.info(
        `${file}: the run before was cut off: its last line may be cut, and the tests of one page may come twice.`,
      )
  }
  let isPrinting = false
  const write = async ({ range, ...place }: Checkpoint, running: boolean) => {
    const head: JsonObject = {
      form: fileFormat,
      query,
      typed,
      ...range,
      ...place,
      ids,
      ...(running ? { running } : {}),
    }
    await host.files.replace(target, `${stringifyJson(head)}\n${lines}`, 0o600).catch((error: Error) => {
      throw new MergeqError('output', `--resume-file: ${file} could not be written: ${error.message}.`, {
        hint: 'What it held before is unchanged. Check the folder and the space on its disk.',
      })
    })
  }
  return {
    async begin() {
      isPrinting = true
      if (isBegun) return
      isBegun = true
      await removeTemporaryFiles(target, host)
      await write(saved === undefined ? initial : pages.checkpoint(), true)
      // A line that was cut off must not run into the first line of this run.
      if (saved?.isCutOff === true) await host.out.write(options.format === 'csv' ? '\r\n' : '\n')
    },
    async save() {
      const checkpoint = pages.checkpoint()
      const news = pages.newIds()
      // A complete list needs no ids any more.
      ids = checkpoint.complete ? 0 : ids + news.length
      lines = checkpoint.complete ? '' : `${lines}${news.length > 0 ? `${stringifyJson(news)}\n` : ''}`
      await write(checkpoint, !checkpoint.complete)
      isPrinting = false
    },
    async close() {
      const checkpoint = pages.checkpoint()
      if (isBegun && !isPrinting && !checkpoint.complete) await write(checkpoint, false)
    },
    resumeHint: `Run the same command again to go on: ${file} holds how far it came.`,
  }
}
