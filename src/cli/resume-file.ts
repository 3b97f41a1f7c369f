import type { Checkpoint, Paginator } from '../api/pagination.ts'
import { pluralize } from '../domain/format.ts'
import { MergeqError, usageError } from '../errors.ts'
import { stringifyJson } from '../json-text.ts'
import type { CommandContext } from './context.ts'
import type { Invocation, RequestDefinition } from './invocation.ts'
import { formatResumeFile, parseResumeFile } from './resume-file-format.ts'
import { checkSameQuery, identifyQuery, typedRange } from './resume-query.ts'

/** A larger file is not read: the ids of about ten million tests. */
const maxFileSize = 400 * 1024 * 1024

export interface ResumeFile {
  /** Writes that a run is active, before a page is printed. */
  begin(): Promise<void>
  /** Writes how far the list was printed, after everything up to there was written to standard output. */
  save(): Promise<void>
  /** Writes that the run has ended, unless it ended while a page was printed. */
  close(): Promise<void>
  readonly resumeHint: string
}

/** Undefined when there is none. Throws a usage error when the file is not a resume file. */
async function readResumeFile(
  file: string,
  target: string,
  { host }: CommandContext,
): Promise<ReturnType<typeof parseResumeFile>> {
  const refuse = (why: string) =>
    usageError(
      `--resume-file: ${file} ${why}.`,
      'The file was not changed. Use another file, or delete this file to start over.',
    )
  const text = await host.files.read(target, maxFileSize).catch((error: Error) => {
    throw refuse(`cannot be read: ${error.message}`)
  })
  if (text === undefined) return undefined
  const saved = parseResumeFile(text)
  if (saved === undefined) throw refuse('is not a mergeq resume file, or is damaged')
  return saved
}

async function removeTemporaryFiles(target: string, { files }: CommandContext['host']): Promise<void> {
  const folder = target.replace(/[^\\/]*$/, '')
  const name = target.slice(folder.length)
  for (const entry of await files.list(folder === '' ? '.' : folder))
    if (entry.startsWith(`.${name}.`) && /^[\da-f-]{36}\.new$/.test(entry.slice(name.length + 2)))
      await files.remove(`${folder}${entry}`)
}

/** Throws a usage error for an output to which a second run cannot append. */
function checkAppendable({ options, host }: CommandContext): void {
  const isDocument = options.format === 'json'
  const isTable = options.format === 'table' && (host.out.terminal || options.isTableForced)
  if (isDocument || isTable)
    throw usageError(
      `--resume-file cannot be used with ${isDocument ? 'a JSON document' : 'a table'}, because the next run appends to the output.`,
      'Use -o ndjson, -o csv or -o markdown, or write to a pipe (tab-separated values).',
    )
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
  const { resumable: list } = pages
  if (file === undefined || list === undefined) return undefined
  checkAppendable(context)
  const target = await host.files.resolveLink(file).catch((error: Error) => {
    throw usageError(`--resume-file: ${file}: ${error.message}.`)
  })
  const query = await identifyQuery(definition, invocation, context)
  const typed = typedRange(context)
  const saved = await readResumeFile(file, target, context)
  const initial = list.checkpoint()
  if (saved !== undefined) {
    const { checkpoint } = saved
    // The same range options mean the range of the first run, whatever the time is now.
    const { range } = saved.typed === typed ? checkpoint : initial
    checkSameQuery(file, { query: saved.query, range: checkpoint.range }, { query, range })
    list.resume(checkpoint, saved.ids)
    if (checkpoint.pages > 0) printer.skipHeader()
    await logger.info(
      checkpoint.complete
        ? `${file}: the list is complete. To start over, delete the file.`
        : `${file}: resuming after ${pluralize(checkpoint.pages, 'page')} with ${pluralize(checkpoint.tests, 'test')}.`,
    )
    if (saved.isRunning)
      await logger.info(
        `${file}: the previous run was stopped. Its last line may be incomplete, and the tests of one page may be printed twice.`,
      )
  }
  let [lines, idCount] = [saved?.lines ?? '', saved?.idCount ?? 0]
  let [hasBegun, isPrinting] = [false, false]
  const write = async (checkpoint: Checkpoint, isRunning: boolean) => {
    const text = formatResumeFile({ checkpoint, query, typed, lines, idCount, isRunning })
    await host.files.replace(target, text, 0o600).catch((error: Error) => {
      throw new MergeqError('output', `--resume-file: ${file} could not be written: ${error.message}.`, {
        hint: 'The file was not changed. Check the directory and the free disk space.',
      })
    })
  }
  return {
    async begin() {
      isPrinting = true
      if (hasBegun) return
      hasBegun = true
      await removeTemporaryFiles(target, host)
      await write(saved === undefined ? initial : list.checkpoint(), true)
      // A line that was cut off must not run into the first line of this run.
      if (saved?.isRunning === true) await host.out.write(options.format === 'csv' ? '\r\n' : '\n')
    },
    async save() {
      const checkpoint = list.checkpoint()
      const newIds = list.newIds()
      // A complete list needs no ids any more.
      idCount = checkpoint.complete ? 0 : idCount + newIds.length
      lines = checkpoint.complete ? '' : `${lines}${newIds.length > 0 ? `${stringifyJson(newIds)}\n` : ''}`
      await write(checkpoint, !checkpoint.complete)
      isPrinting = false
    },
    async close() {
      const checkpoint = list.checkpoint()
      if (hasBegun && !isPrinting && !checkpoint.complete) await write(checkpoint, false)
    },
    resumeHint: `Progress is saved in ${file}. To resume, run the same command again.`,
  }
}
