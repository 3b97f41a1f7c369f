import {
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  existsSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Access, Files } from './host.ts'

// Small files are read and written synchronously: this happens at every start, and the thread pool would
// take longer than the work.

async function readText(path: string, maxBytes = Number.POSITIVE_INFINITY): Promise<string | undefined> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (!stat.isFile()) throw new Error('it is not a regular file')
  if (stat.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
  return readLockedFile(path, () => readFileSync(path, 'utf8'))
}

/** The size of the pieces of a file, in bytes. */
const pieceSize = 1024 * 1024

/**
 * Yields a regular file in pieces. All pieces share a buffer: allocating each one would take longer than
 * reading.
 */
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

async function* readStream(path: string, timeout: number, signal: AbortSignal): AsyncIterable<Uint8Array> {
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
  const { Socket } = await import('node:net')
  // A socket, because a file read that waits for a writer could not be cancelled.
  const pipe = new Socket({ fd: await openPipe(path, timeout, signal), writable: false })
  const stop = () => pipe.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    yield* pipe
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * Opens a FIFO, which succeeds when another process opens it for writing. Rejects after `timeout`
 * milliseconds.
 */
const openPipe = (path: string, timeout: number, signal: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    let isCancelled = false
    const end = (error: unknown) => {
      isCancelled = true
      clearTimeout(timer)
      reject(error)
      // Only a writer ends the pending open, which would keep the process alive.
      closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    }
    const timer = setTimeout(() => end(new Error(`no process wrote to it within ${timeout} ms`)), timeout)
    const stop = () => end(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    open(path, (error, descriptor) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      if (error !== null) reject(error)
      else if (isCancelled) closeSync(descriptor)
      else resolve(descriptor)
    })
  })

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

async function readAccess(path: string): Promise<Access | undefined> {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && { owner: stat.uid, mode: stat.mode & 0o7777, modifiedAt: stat.mtimeMs }
}

async function removeDirectory(path: string): Promise<void> {
  if (existsSync(path)) rmdirSync(path)
}

/** Creates each directory separately: the `recursive` option never returns below /proc. */
function createDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(path) !== path) createDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

async function replaceFile(path: string, text: string, mode = 0o666): Promise<void> {
  const target = await resolveLink(path)
  const existing = statSync(target, { throwIfNoEntry: false })
  if (existing?.isFile() === false) throw new Error('it is not a regular file')
  const temporaryFile = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}.new`)
  try {
    writeFileSync(temporaryFile, text, { flag: 'wx', mode })
    if (existing !== undefined) chmodSync(temporaryFile, existing.mode)
    // A full disk may truncate the file without an error.
    if (readFileSync(temporaryFile, 'utf8') !== text)
      throw new Error('the written file has different content (is the disk full?)')
    await changeFile(target, () => renameSync(temporaryFile, target))
  } finally {
    rmSync(temporaryFile, { force: true })
  }
}

/** The file system of this machine. */
export const files: Files = {
  stream: readStream,
  read: readText,
  exists: async path => existsSync(path),
  list: async folder => (existsSync(folder) ? readdirSync(folder) : []),
  createDirectory: async path => {
    createDirectory(path)
  },
  resolveLink,
  access: readAccess,
  rename: (from, to) => changeFile(to, () => renameSync(from, to)),
  replace: replaceFile,
  remove: path => changeFile(path, () => rmSync(path, { force: true })),
  removeDirectory,
}

/** The errors with which Windows refuses to change a file that another program has open. */
const lockErrors = ['EBUSY', 'EPERM', 'EACCES']

/** How long a change is tried again, in milliseconds: virus scanners and editors have a file open only briefly. */
const retryTime = 2_000
const retryInterval = 50

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

const isReadOnly = (path: string): boolean =>
  ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0o200) & 0o200) === 0

/**
 * Changes a file. On Windows, where a file that another program has open may not be changed, this tries again
 * for two seconds and then throws an error with the code EBUSY. For a read-only file it throws at once.
 */
export const changeFile = <T>(path: string, change: () => T, platform?: string, sleep?: typeof wait) =>
  retryWhileLocked(path, change, lockErrors, platform, sleep)

/** Reads a file. On Windows a file that another program has opened for itself is tried again in the same way. */
export const readLockedFile = <T>(path: string, read: () => T, platform?: string, sleep?: typeof wait) =>
  retryWhileLocked(path, read, ['EBUSY'], platform, sleep)

async function retryWhileLocked<T>(
  path: string,
  action: () => T,
  errors: readonly string[],
  platform: string = process.platform,
  sleep = wait,
): Promise<T> {
  for (let waited = 0; ; waited += retryInterval)
    try {
      return action()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (platform !== 'win32' || !errors.includes(code)) throw error
      if (errors === lockErrors && isReadOnly(path)) throw new Error(`${path} is read-only`)
      if (waited >= retryTime)
        throw Object.assign(new Error(`${path} is in use by another program (${code})`), { code: 'EBUSY' })
      await sleep(retryInterval)
    }
}
