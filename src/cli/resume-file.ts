import type { Operation } from '../api/operation.ts'
import { type Checkpoint, describeRange, type Paginator } from '../api/pagination.ts'
import { MergeqError, usageError } from '../errors.ts'
import { get, getString, isObject, type Json, type JsonObject } from '../json.ts'
import { jsonToText, parseJson, stringifyJson } from '../output/json-text.ts'
import { pluralize } from '../output/view.ts'
import type { CommandContext } from './context.ts'
import { optionName } from './inputs.ts'
import { buildRequest, type Invocation } from './invocation.ts'
import { rangeInput as rangeField } from './time-range-options.ts'

/** What a resume file calls itself, in its first line; a later form of it gets another number. */
const fileFormat = 'mergeq walk 1'
/** A larger file is not read: the ids of some ten million tests. */
const maxFileSize = 400 * 1024 * 1024

/** A walk whose standing is noted in a file, so that another run goes on where this one ended. */
export interface ResumeFile {
  /** Notes before a page is printed that a run is under way. */
  begin(): Promise<void>
  /** Notes how far the walk has come, once everything up to there has been handed over. */
  save(): Promise<void>
  /** Notes that the run has ended by itself, unless it ended while a page was printed. */
  close(): Promise<void>
  readonly resumeHint: string
}

/** What makes a walk another one: the service, the body, the flags that choose records, and how they are printed. */
type QueryIdentity = Readonly<Record<string, string>>

const rangeOptions = rangeField.definitions.map(({ syntax }) => optionName(syntax))
/** What a second run may change. */
const changeableOptions = ['--max-pages', '--resume-file', ...rangeOptions]

async function queryOf(row: Operation, run: Invocation, context: CommandContext): Promise<QueryIdentity> {
  const { args, options } = context
  const { request } = await buildRequest(row, run, context)
  const pieces = request.body?.pieces ?? []
  const body = parseJson(pieces.map(piece => new TextDecoder().decode(piece)).join(''))
  const flags = Object.values(row.inputs)
    .flatMap(({ definitions }) => definitions.map(({ syntax }) => optionName(syntax)))
    .filter(name => args.has(name) && !changeableOptions.includes(name))
  const told = (value: Json | undefined) =>
    isObject(value) ? Object.values(value).map(jsonToText).join('/') : jsonToText(value)
  return Object.fromEntries([
    ['service', request.url],
    ...Object.entries(isObject(body) ? body : {}).map(([key, value]) => [key, told(value)]),
    ...flags.map(name => [name, args.get(name)?.join(',') ?? '']),
    ['--output', options.format],
    ['--fields', options.fields.join(',')],
  ])
}

/** The words of the range as they were typed: the same words in a second run mean the range of the first. */
const rangeOf = ({ args }: CommandContext): string =>
  rangeOptions.flatMap(name => (args.has(name) ? [`${name} ${args.get(name)?.[0]}`] : [])).join(' ')

const quoted = (text: string | undefined): string =>
  text === undefined || text === '' ? 'not given' : `'${text}'`

/** Refuses a file of another walk, naming what differs on both sides. */
function compare(
  file: string,
  here: QueryIdentity,
  there: Json | undefined,
  ranges: readonly [Checkpoint, Checkpoint],
): void {
  const refuse = (what: string, one: string, other: string) =>
    usageError(
      `--resume-file: ${file} belongs to another walk: ${what} is ${one} there and ${other} here.`,
      'Name another file, or run the command that it belongs to.',
    )
  const keys = new Set([...Object.keys(isObject(there) ? there : {}), ...Object.keys(here)])
  for (const key of keys) {
    const [one, other] = [isObject(there) ? getString(there, key) : undefined, here[key]]
    if ((one ?? '') !== (other ?? '')) throw refuse(key, quoted(one), quoted(other))
  }
  const [one, other] = ranges.map(({ range }) => describeRange(range))
  if (one !== other) throw refuse('the range', one ?? '', other ?? '')
}

/** What stands in a resume file: the mark, and the ids that were met, a line for each page. */
interface SavedProgress {
  readonly mark: Checkpoint
  readonly query: Json | undefined
  readonly typed: string | undefined
  readonly lines: string
  readonly ids: readonly string[]
  /** Whether the run that wrote the file was cut off: what it printed last may be cut, and was not noted. */
  readonly isCutOff: boolean
}

const isCount = (value: Json | undefined): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/** Reads the text of a resume file; undefined when it is none, or is not whole. */
function parse(text: string): SavedProgress | undefined {
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
    mark: { range: { start, end }, window, token, pages, tests, complete: complete === true },
    query: get(head, 'query'),
    typed: getString(head, 'typed'),
    lines: rest.join('\n'),
    ids,
    isCutOff: get(head, 'running') === true,
  }
}

/** What is read of the file; undefined where there is none. A file that is no resume file is refused, and stays. */
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
  const standing = parse(text)
  if (standing === undefined) throw refuse('is no resume file of mergeq, or it is damaged')
  return standing
}

/** Removes what a run that was killed while it wrote has left beside the file. */
async function removeTemporaryFiles(target: string, { files }: CommandContext['host']): Promise<void> {
  const folder = target.replace(/[^\\/]*$/, '')
  const name = target.slice(folder.length)
  for (const one of await files.list(folder === '' ? '.' : folder))
    if (one.startsWith(`.${name}.`) && /^[\da-f-]{36}\.new$/.test(one.slice(name.length + 2)))
      await files.remove(`${folder}${one}`)
}

/**
 * Opens the file that a walk is resumed from, where one is named, and takes the walk to where it says; undefined where
 * none is. The file belongs to one query: with another it is refused. Each page is printed first and noted then: a run
 * that is killed in between leaves a page that the next run prints again, so each test is printed at least once.
 */
export async function openResumeFile(
  row: Operation,
  run: Invocation,
  walk: Paginator,
  context: CommandContext,
): Promise<ResumeFile | undefined> {
  const { options, printer, logger, host } = context
  const file = walk.resumeFile
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
  const query = await queryOf(row, run, context)
  const typed = rangeOf(context)
  const standing = await readSavedProgress(file, target, context)
  const begins = walk.checkpoint()
  let [lines, ids, isBegun] = [standing?.lines ?? '', standing?.ids.length ?? 0, false]
  if (standing !== undefined) {
    const { mark } = standing
    compare(file, query, standing.query, [mark, standing.typed === typed ? mark : begins])
    walk.resume(mark, standing.ids)
    if (mark.pages > 0) printer.skipHeader()
    await logger.info(
      mark.complete
        ? `${file}: this list was printed whole. Remove the file to begin anew.`
        : `${file}: going on after ${pluralize(mark.pages, 'page')} with ${pluralize(mark.tests, 'test')}.`,
    )
    if (standing.isCutOff)
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
      await write(standing === undefined ? begins : walk.checkpoint(), true)
      // A line that was cut must not run into the first one of this run.
      if (standing?.isCutOff === true) await host.out.write(options.format === 'csv' ? '\r\n' : '\n')
    },
    async save() {
      const mark = walk.checkpoint()
      const news = walk.newIds()
      // A list that is complete needs no ids any more.
      ids = mark.complete ? 0 : ids + news.length
      lines = mark.complete ? '' : `${lines}${news.length > 0 ? `${stringifyJson(news)}\n` : ''}`
      await write(mark, !mark.complete)
      isPrinting = false
    },
    async close() {
      const mark = walk.checkpoint()
      if (isBegun && !isPrinting && !mark.complete) await write(mark, false)
    },
    resumeHint: `Run the same command again to go on: ${file} holds how far it came.`,
  }
}
