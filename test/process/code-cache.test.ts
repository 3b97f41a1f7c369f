import {
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, serveScript } from '../support/harness.ts'
import { bareEnvironment, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const place = temporaryFolder('mergeq-code-cache-')
let service: Service
beforeAll(async () => {
  service = await serveScript(() => ({ body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }))
})
afterAll(async () => {
  await service.close()
})

let homes = 0
const openHome = (): string => {
  const home = join(place, `home${homes++}`)
  mkdirSync(home)
  return home
}

const queueGet = ['queue', 'get', '-R', 'acme/web', '-b', 'main', '--json']

/** Runs the program with a home; resolves to how it ended and what it said. */
function run(home: string, words: readonly string[] = queueGet, program = launcher) {
  const own = { ...bareEnvironment(home), XDG_CACHE_HOME: '' }
  const env = { ...own, MERGEQ_TOKEN: 'tok_4f2a9c1e77d0', MERGEQ_BASE_URL: service.baseUrl }
  return runProgram([program, ...words], { cwd: home, env, timeout: 15_000 })
}

const works = { code: 0, out: '{"state":"RUNNING","enqueuedPullRequests":[]}\n', err: '' }
const cacheOf = (home: string): string => join(home, '.cache/mergeq')

/** The files of a cache, with what they hold. */
const filesIn = (folder: string): readonly (readonly [path: string, bytes: Buffer])[] =>
  readdirSync(folder)
    .map(name => join(folder, name))
    .map(path => [path, readFileSync(path)])

/** A home whose cache is filled, and the files of that cache. */
async function openFilled() {
  const home = openHome()
  expect(await run(home)).toEqual(works)
  const files = filesIn(cacheOf(home))
  expect(files.length).toBeGreaterThan(1)
  return { home, files }
}

describe('a damaged code cache', () => {
  test('of any kind does not keep the program from working, and is replaced', async () => {
    const { home, files } = await openFilled()
    for (let start = 0; start < 8; start++) {
      for (const [path, bytes] of files) {
        const damaged = Buffer.from(bytes)
        // Spread over the whole file.
        for (let index = 0; index < 20; index++)
          damaged[((8 * index + start) * 7919) % damaged.length] = 17 * index
        writeFileSync(path, damaged)
      }
      expect({ start, ...(await run(home)) }).toEqual({ start, ...works })
    }
    const [[path = '', damaged] = []] = filesIn(cacheOf(home))
    expect(await run(home)).toEqual(works)
    expect(damaged?.equals(readFileSync(path)), 'what verifies is not written again').toBe(true)
  }, 120_000)

  test('of each part four files are kept: other builds, other versions of Node, processes that were killed', async () => {
    const home = openHome()
    mkdirSync(join(home, '.cache'), { mode: 0o700 })
    mkdirSync(cacheOf(home), { mode: 0o700 })
    const others = ['1', '2', '3', '4', '5'].map(other => `start.cjs-${other}`)
    for (const [index, other] of others.entries()) {
      writeFileSync(join(cacheOf(home), other), 'half of it')
      utimesSync(join(cacheOf(home), other), index, index)
    }
    expect(await run(home)).toEqual(works)
    const kept = readdirSync(cacheOf(home)).filter(name => name.startsWith('start.cjs'))
    expect(kept.length).toBe(4)
    expect(kept.filter(name => others.includes(name)).sort()).toEqual(others.slice(2))
  })
})

test('of several first starts at once each works, and one leaves the cache', async () => {
  const home = openHome()
  const starts = await Promise.all(Array.from({ length: 4 }, () => run(home)))
  expect(starts.filter(({ code }) => code !== 0)).toEqual([])
  const before = filesIn(cacheOf(home))
  expect(before.map(([path]) => path).filter(path => !path.endsWith(process.arch))).toEqual([])
  expect(await run(home)).toEqual(works)
  // toEqual would compare the bytes one by one.
  const after = new Map(filesIn(cacheOf(home)))
  expect([...after.keys()]).toEqual(before.map(([path]) => path))
  for (const [path, bytes] of before) expect(after.get(path)?.equals(bytes), path).toBe(true)
}, 120_000)

test('a CI job has no cache', async () => {
  const home = openHome()
  expect(await run(home, ['CI=true', launcher, ...queueGet], 'env')).toEqual(works)
  expect(readdirSync(home)).toEqual([])
})

test('a cache file over the limit of the process (`ulimit -f`) is not kept, and the request works', async () => {
  const home = openHome()
  const words = ['-c', 'ulimit -f 0; exec "$@"', '-', launcher, ...queueGet]
  expect(await run(home, words, 'sh')).toEqual(works)
  expect(readdirSync(cacheOf(home))).toEqual([])
})

test('a part of the same size and time, but of another build, is what runs', async () => {
  const home = openHome()
  const installed = join(place, 'installed')
  for (const name of ['bin', 'dist', 'package.json'])
    cpSync(resolve(name), join(installed, name), { recursive: true, preserveTimestamps: true })
  const program = join(installed, 'bin/mergeq.js')
  const agent = async () => {
    expect(await run(home, queueGet, program)).toEqual(works)
    return service.requests.at(-1)?.headers['user-agent']
  }
  const before = await agent()
  expect(await agent()).toBe(before)
  const version = /mergeq\/(\S+)/.exec(before ?? '')?.[1] ?? ''
  const other = version.replace(/\d/g, '9')
  for (const name of readdirSync(join(installed, 'dist'))) {
    const path = join(installed, 'dist', name)
    const { atime, mtime, size } = statSync(path)
    const text = readFileSync(path, 'utf8').replaceAll(version, other)
    // The build writes a hash of the code to the last line.
    writeFileSync(
      path,
      text.replace(/[\da-f]{16}(?=\n$)/, hash => hash.split('').reverse().join('')),
    )
    utimesSync(path, atime, mtime)
    expect(statSync(path)).toMatchObject({ size, mtime })
  }
  expect(await agent()).toBe(before?.replace(`mergeq/${version}`, `mergeq/${other}`))
})

describe.runIf(process.getuid?.() === 0)('root with the HOME of another user', () => {
  const nobody = 65_534
  const give = (path: string) => {
    chownSync(path, nobody, nobody)
    for (const entry of readdirSync(path, { recursive: true, encoding: 'utf8' }))
      chownSync(join(path, entry), nobody, nobody)
  }

  test('makes no cache folder there', async () => {
    const home = openHome()
    give(home)
    expect(await run(home)).toEqual(works)
    expect(readdirSync(home)).toEqual([])
    mkdirSync(join(home, '.cache'))
    give(home)
    expect(await run(home)).toEqual(works)
    expect(readdirSync(join(home, '.cache'))).toEqual([])
  })

  test('neither runs nor replaces what is in the cache folder', async () => {
    const { home, files } = await openFilled()
    const [[path = '', bytes = Buffer.of()] = []] = files
    for (const old of [bytes, Buffer.from('not what V8 made')]) {
      writeFileSync(path, old)
      give(home)
      expect(await run(home)).toEqual(works)
      expect(readFileSync(path).equals(old)).toBe(true)
      expect(filesIn(cacheOf(home)).length).toBe(files.length)
      expect(statSync(path).uid).toBe(nobody)
    }
  })
})
