import {
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../base/json.ts'
import type { Files, PipeLimits, SettingsFile } from './host.ts'

// Small files are read and written synchronously: this happens at every start, and the thread pool would
// take longer than the work.

/** Returns what a path is; undefined if there is nothing, and below a file. */
function statIfPresent(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}

/** Returns what a regular file is; undefined if there is none. Throws an error for anything else, and a larger file. */
function requireSmallFile(path: string, maxBytes: number): Stats | undefined {
  const stat = statIfPresent(path)
  if (stat === undefined) return undefined
  if (!stat.isFile()) throw new Error('it is not a regular file')
  if (stat.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
  return stat
}

const readText = async (path: string, maxBytes = Number.POSITIVE_INFINITY): Promise<string | undefined> =>
  requireSmallFile(path, maxBytes) && readFileSync(path, 'utf8')

async function openSettings(
  path: string,
  maxBytes: number,
  parse: (text: string) => JsonObject,
): Promise<SettingsFile | undefined> {
  const stat = requireSmallFile(path, maxBytes)
  if (stat === undefined) return undefined
  const { readSettings } = await import('./settings-file.ts')
  const { get, store } = readSettings(path, parse)
  return { get, store, owner: stat.uid, mode: stat.mode & 0o777 }
}

/** The size of the pieces of a file, in bytes. */
const pieceSize = 1024 * 1024

/** Yields a file in pieces, which share a buffer: allocating each would take longer than reading. */
async function* readPieces(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const descriptor = openSync(path, 'r')
  try {
    const buffer = new Uint8Array(pieceSize)
    for (let bytes = readSync(descriptor, buffer); bytes > 0; bytes = readSync(descriptor, buffer)) {
      yield buffer.subarray(0, bytes)
      // Let signals be handled and the spinner be drawn.
      await new Promise(setImmediate)
      signal.throwIfAborted()
    }
  } finally {
    closeSync(descriptor)
  }
}

async function* readStream(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const stat = statSync(path)
  if (stat.isFile() || stat.isDirectory()) {
    yield* readPieces(path, signal)
    return
  }
  if (!stat.isFIFO()) {
    // A terminal or another device, which may be idle for long.
    yield* createReadStream(path, { signal })
    return
  }
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const start = readAvailable(descriptor)
  if (start !== undefined) yield start
  // Without a writer the FIFO is empty, and a stream would wait for one.
  if (start?.length === 0) {
    closeSync(descriptor)
    return
  }
  // A file stream could not be cancelled while it waits for the writer.
  const { Socket } = process.getBuiltinModule('node:net')
  const pipe = new Socket({ fd: descriptor, writable: false })
  const stop = () => pipe.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    yield* pipe
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Reads what a pipe holds: nothing if it has no writer. Returns undefined if the writer has written nothing yet. */
function readAvailable(descriptor: number, size = pieceSize): Uint8Array | undefined {
  const buffer = new Uint8Array(size)
  try {
    return buffer.subarray(0, readSync(descriptor, buffer))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined
    throw error
  }
}

/** How often a pipe is looked at, in milliseconds. */
const pipeInterval = 20

async function readPipe(path: string, { maxBytes, time, interrupted }: PipeLimits): Promise<string> {
  // A pipe that a shell has opened ends with its writer; that of a named pipe may come later than its reader.
  const isNamed = !/^\/(?:dev|proc)\//.test(path)
  const until = performance.now() + time
  const pieces: Uint8Array[] = []
  let bytes = 0
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    for (;;) {
      const piece = readAvailable(descriptor, maxBytes + 1)
      if (piece?.length === 0 && (bytes > 0 || !isNamed)) return Buffer.concat(pieces).toString()
      if (piece !== undefined) pieces.push(piece)
      bytes += piece?.length ?? 0
      if (bytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
      if (performance.now() > until) throw new Error(`the pipe has not ended after ${time / 1_000} seconds`)
      if (piece === undefined || piece.length === 0) await pause(pipeInterval)
      interrupted.throwIfAborted()
    }
  } finally {
    closeSync(descriptor)
  }
}

/** What pipes held, by their path. */
const pipes = new Map<string, Promise<string>>()

async function readOnce(path: string, limits: PipeLimits): Promise<string | undefined> {
  const read = pipes.get(path)
  if (read !== undefined) return read
  if (statSync(path, { throwIfNoEntry: false })?.isFIFO() !== true) return readText(path, limits.maxBytes)
  const text = readPipe(path, limits)
  pipes.set(path, text)
  return text
}

/** Resolves a symbolic link by hand, because its target need not exist. */
async function resolveLink(path: string): Promise<string> {
  let end = path
  for (let depth = 0; depth < 40; depth++) {
    try {
      end = resolve(dirname(end), readlinkSync(end))
    } catch {
      return end
    }
  }
  throw new Error('it is a circular link')
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Creates each directory separately: the `recursive` option never returns below /proc. */
function createDirectory(path: string, mode = 0o700): void {
  if (isDirectory(path)) return
  if (dirname(path) !== path) createDirectory(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

function listBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (entry.isFile()) return [entry.name]
    if (!entry.isDirectory() || entry.name.startsWith('.')) return []
    return listBelow(join(folder, entry.name)).map(path => join(entry.name, path))
  })
}

async function replaceFile(path: string, text: string, mode = 0o666): Promise<void> {
  const target = await resolveLink(path)
  const existing = statSync(target, { throwIfNoEntry: false })
  if (existing?.isFile() === false) throw new Error('it is not a regular file')
  if (existing === undefined && target !== path) throw new Error('it is a link to a file that does not exist')
  const temporaryFile = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}.new`)
  replaceBy(temporaryFile, target, text, () => {
    writeFileSync(temporaryFile, text, { flag: 'wx', mode })
    if (existing !== undefined) chmodSync(temporaryFile, existing.mode)
  })
}

/** Renames a file over another one, after `write` has written it. */
function replaceBy(temporaryFile: string, target: string, text: string, write: () => void): void {
  try {
    write()
    requireText(temporaryFile, text)
    renameSync(temporaryFile, target)
  } finally {
    rmSync(temporaryFile, { force: true })
  }
}

async function replaceSettings(
  path: string,
  document: JsonObject,
  format: (document: JsonObject) => string,
): Promise<void> {
  const prefix = `${basename(path)}.`
  // Removes the files of a process that died, which may contain a token.
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(prefix) && /\.new(?:\.tmp-\w+)?$/.test(name))
      rmSync(join(dirname(path), name), { force: true })
  const { writeSettings } = await import('./settings-file.ts')
  const temporaryFile = `${path}.${crypto.randomUUID()}.new`
  replaceBy(temporaryFile, path, format(document), () => writeSettings(temporaryFile, document, format))
}

/** Throws an error if a file does not have the text that was written: a full disk may truncate it without an error. */
function requireText(path: string, text: string): void {
  if (readFileSync(path, 'utf8') !== text)
    throw new Error('the written file has different content (is the disk full?)')
}

async function createFile(path: string, text: string): Promise<void> {
  writeFileSync(path, '', { flag: 'wx' })
  try {
    writeFileSync(path, text)
    requireText(path, text)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

async function versionOf(path: string): Promise<string | undefined> {
  const stat = statIfPresent(path)
  return stat && [stat.dev, stat.ino, stat.size, stat.mtimeMs].join(' ')
}

function createTemporary() {
  const { tmpdir } = process.getBuiltinModule('node:os')
  const path = mkdtempSync(join(tmpdir(), 'mergeq-'))
  return { path, remove: async () => rmSync(path, { recursive: true, force: true }) }
}

export const files: Files = {
  stream: readStream,
  read: readText,
  readOnce,
  openSettings,
  replaceSettings,
  exists: async path => existsSync(path),
  listBelow: async folder => (isDirectory(folder) ? listBelow(folder) : undefined),
  absolute: path => resolve(path),
  createDirectory: async (path, mode) => createDirectory(path, mode),
  resolveLink,
  replace: replaceFile,
  create: createFile,
  version: versionOf,
  remove: async path => rmSync(path, { force: true }),
  createTemporary: async () => createTemporary(),
}
