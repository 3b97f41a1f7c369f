import { createReadStream, existsSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Files } from './world.ts'

/** Small files are read at once: it happens at every start, and is faster than going through the thread pool. */
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

/** The files of this machine. */
export const files: Files = {
  stream: path => createReadStream(path),
  read,
  exists: async path => existsSync(path),
  list: async folder => (existsSync(folder) ? readdir(folder) : []),
  makeFolder: async path => {
    await mkdir(path, { recursive: true, mode: 0o700 })
  },
  follow,
  rename,
  remove: path => rm(path, { force: true }),
}
