import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Files } from './world.ts'

// Small files are handled at once: it happens at every start, and the thread pool would cost more than the work.

async function read(path: string, most = Number.POSITIVE_INFINITY): Promise<string | undefined> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (!stat.isFile()) throw new Error('it is no regular file')
  if (stat.size > most) throw new Error(`it is larger than ${most} bytes`)
  return readFileSync(path, 'utf8')
}

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

/** The files of this machine. */
export const files: Files = {
  stream: path => createReadStream(path),
  read,
  exists: async path => existsSync(path),
  list: async folder => (existsSync(folder) ? readdirSync(folder) : []),
  makeFolder: async path => {
    makeFolder(path)
  },
  follow,
  rename: async (from, to) => renameSync(from, to),
  remove: async path => rmSync(path, { force: true }),
}
