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

// Small files are handled at once: it happens at every start, and the thread pool would cost more than the work.

async function read(path: string, most = Number.POSITIVE_INFINITY): Promise<string | undefined> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (!stat.isFile()) throw new Error('it is no regular file')
  if (stat.size > most) throw new Error(`it is larger than ${most} bytes`)
  return readFileSync(path, 'utf8')
}

/** Pieces of a file that is read as a stream, in bytes. */
const pieceSize = 1024 * 1024

/** One buffer for all pieces: a new one each time would cost more than the reading. */
async function* pieces(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const descriptor = openSync(path, 'r')
  try {
    const buffer = new Uint8Array(pieceSize)
    for (let bytes = readSync(descriptor, buffer); bytes > 0; bytes = readSync(descriptor, buffer)) {
      yield buffer.subarray(0, bytes)
      // Signals and the spinner have their turn.
      await new Promise(setImmediate)
      signal.throwIfAborted()
    }
  } finally {
    closeSync(descriptor)
  }
}

async function* stream(path: string, patience: number, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const stat = statSync(path)
  if (stat.isFile() || stat.isDirectory()) {
    yield* pieces(path, signal)
    return
  }
  if (!stat.isFIFO()) {
    // A terminal or another device, which may have nothing to say for long.
    yield* createReadStream(path, { signal })
    return
  }
  const { Socket } = await import('node:net')
  // Not as a file: a read that waits for a writer could not be given up.
  const pipe = new Socket({ fd: await openPipe(path, patience, signal), writable: false })
  const stop = () => pipe.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    yield* pipe
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Opens a FIFO, which is done when somebody opens it to write. */
const openPipe = (path: string, patience: number, signal: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    let isGivenUp = false
    const end = (error: unknown) => {
      isGivenUp = true
      clearTimeout(timer)
      reject(error)
      // Nothing else ends the waiting, which would keep the program alive, than a writer: this one.
      closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    }
    const timer = setTimeout(() => end(new Error(`nobody wrote to it in ${patience} ms`)), patience)
    const stop = () => end(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    open(path, (error, descriptor) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      if (error !== null) reject(error)
      else if (isGivenUp) closeSync(descriptor)
      else resolve(descriptor)
    })
  })

/** Follows a link to its end by hand: the file at its end need not be there yet. */
async function follow(path: string): Promise<string> {
  let end = path
  for (let steps = 0; steps < 40; steps++) {
    try {
      end = resolve(dirname(end), readlinkSync(end))
    } catch {
      return end
    }
  }
  throw new Error('it is a link that leads in a circle')
}

async function access(path: string): Promise<Access | undefined> {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && { owner: stat.uid, mode: stat.mode & 0o7777, modifiedAt: stat.mtimeMs }
}

async function removeFolder(path: string): Promise<void> {
  if (existsSync(path)) rmdirSync(path)
}

/** Folder by folder: `recursive` never returns below /proc. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

async function replace(path: string, text: string, mode = 0o666): Promise<void> {
  const target = await follow(path)
  const standing = statSync(target, { throwIfNoEntry: false })
  if (standing?.isFile() === false) throw new Error('it is no regular file')
  const fresh = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}.new`)
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode })
    if (standing !== undefined) chmodSync(fresh, standing.mode)
    // A full disk may leave the file cut without an error.
    if (readFileSync(fresh, 'utf8') !== text)
      throw new Error('what was written does not read back (is the disk full?)')
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { force: true })
  }
}

/** The files of this machine. */
export const files: Files = {
  stream,
  read,
  exists: async path => existsSync(path),
  list: async folder => (existsSync(folder) ? readdirSync(folder) : []),
  makeProgram: async (path, text) => writeFileSync(path, text, { mode: 0o755, flag: 'wx' }),
  makeFolder: async path => {
    makeFolder(path)
  },
  follow,
  access,
  rename: async (from, to) => renameSync(from, to),
  replace,
  remove: async path => rmSync(path, { force: true }),
  removeFolder,
}
