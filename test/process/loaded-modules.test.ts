import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, serveScript } from '../support/harness.ts'
import { packPackage } from '../support/package.ts'
import { bareEnvironment, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const place = temporaryFolder('mergeq-loads-')
const [watch, report] = ['watch.cjs', 'report.json'].map(name => join(place, name)) as [string, string]

/** Writes down which parts of dist/ a process compiles and which of Node's own modules it loads. */
const watcher = `
  const vm = require('node:vm')
  const { writeFileSync } = require('node:fs')
  const parts = []
  const before = new Set(process.moduleLoadList)
  const { Script } = vm
  vm.Script = class extends Script {
    constructor(source, options) {
      super(source, options)
      parts.push(options.filename.replace(/^.*[\\\\/]/, ''))
    }
  }
  process.on('exit', () => {
    const loaded = process.moduleLoadList.filter(name => !before.has(name) && name.startsWith('NativeModule '))
    writeFileSync(process.env.REPORT, JSON.stringify({ parts, builtins: loaded.map(name => name.slice(13)), heap: process.memoryUsage().heapUsed / 1e6 }))
  })
`

let service: Service
beforeAll(async () => {
  writeFileSync(watch, watcher)
  service = await serveScript(() => ({ body: '{"state":"testing","prNumber":7}' }))
})
afterAll(async () => {
  await service.close()
})

interface Loaded {
  readonly code: number | string | undefined
  readonly parts: readonly string[]
  readonly builtins: readonly string[]
  /** What stood on the heap at the end, in MB. */
  readonly heap: number
}

/** Runs a command line and tells what it loaded. */
async function loadedBy(line: string): Promise<Loaded> {
  const home = join(place, 'home')
  mkdirSync(home, { recursive: true })
  rmSync(report, { force: true })
  const env = {
    ...bareEnvironment(home),
    REPORT: report,
    // Checking the code cache needs modules of Node that nothing else does.
    NODE_DISABLE_COMPILE_CACHE: '1',
    MERGEQ_TOKEN: 'token',
    MERGEQ_BASE_URL: service.baseUrl,
  }
  const words = [process.execPath, '--require', watch, launcher, ...line.split(' ')]
  const { code } = await runProgram(words, { env, cwd: place })
  return { code, ...JSON.parse(readFileSync(report, 'utf8')) }
}

/**
 * The files whose loading a command must have a reason for. The other files hold modules that several of
 * these share; the build decides which.
 */
const watchedFiles =
  /^(?:cli-complet(?:e|ion-.*)|commands-[a-z]+(?:-[a-z]+)?|config-(?:checkout|ci-job)|execa|host-settings-file|http-.*|output-(?:table|spinner)|papaparse|sandbox-.*|shared)\.cjs$/

const prGet = ['commands-pr-get.cjs']
const prSubmit = ['commands-pr-submit.cjs', 'commands-pr.cjs', 'shared.cjs']
const request = [...prGet, 'http-http-client.cjs', 'http-undici.cjs']

/** What costs milliseconds and is for a few commands only. */
const dear = [
  'http',
  'http2',
  'https',
  'zlib',
  'assert',
  'perf_hooks',
  'readline',
  'worker_threads',
  'module',
]
const secure = ['crypto', 'tls']
const network = [...secure, 'net', 'stream', 'v8']

const where = '-R acme/web -b main'
type Kind = readonly [line: string, code: number, parts: readonly string[], never: readonly string[]]
const kinds: readonly Kind[] = [
  ['--version', 0, [], [...dear, ...network, 'events']],
  ['--help', 0, [], [...dear, ...network]],
  ['pr get --help', 0, prGet, [...dear, ...network]],
  ['help exit-codes', 0, ['commands-help.cjs'], [...dear, ...network]],
  ['__complete -- pr submit --pri', 0, ['cli-complete.cjs', ...prSubmit], [...dear, ...network]],
  [
    // Without a repository there is no request.
    '__complete -- pr get ',
    0,
    [
      'cli-complete.cjs',
      'cli-completion-values.cjs',
      ...prGet,
      'config-checkout.cjs',
      'config-ci-job.cjs',
      'shared.cjs',
    ],
    [...dear, ...secure],
  ],
  ['pr sbumit', 2, prSubmit, [...dear, ...network]],
  ['pr get --nonsense', 2, prGet, [...dear, ...network]],
  [`pr get 7 ${where} --dry-run`, 0, [...prGet, 'shared.cjs'], [...dear, ...secure]],
  [`pr get 7 ${where} --json`, 0, request, [...dear, ...secure]],
  [`pr get 7 ${where}`, 0, request, [...dear, ...secure]],
  // Its sheet says in words why a pull request left.
  [
    `pr get 7 ${where} -o table`,
    0,
    [
      ...prGet,
      'commands-pr.cjs',
      'http-http-client.cjs',
      'http-undici.cjs',
      'output-table.cjs',
      'shared.cjs',
    ],
    [...dear, ...secure],
  ],
  [`pr get 7 ${where} -o csv`, 0, [...request, 'papaparse.cjs'], [...dear, ...secure]],
  [
    `pr get 7 ${where} --json --base-url https://127.0.0.1:1 --retries 0`,
    7,
    [...request, 'http-certificates.cjs'],
    dear,
  ],
  ['config path', 0, ['commands-config-path.cjs'], [...dear, ...secure]],
]

describe('what a command loads', () => {
  test.each(kinds)('%s', async (line, code, parts, never) => {
    const loaded = await loadedBy(line)
    const watched = loaded.parts.filter(name => watchedFiles.test(name))
    expect({ code: loaded.code, parts: watched.sort() }).toEqual({ code, parts: [...parts].sort() })
    expect(loaded.builtins.filter(name => never.includes(name))).toEqual([])
    // In MB; one request leaves little on the heap.
    expect(loaded.heap).toBeLessThan(12)
    if (line.includes('https:')) expect(loaded.builtins).toEqual(expect.arrayContaining([...secure, 'net']))
  })

  test('config set: what writes, and nothing that sends', async () => {
    const { code, parts } = await loadedBy('config set repo acme/web')
    expect({ code, parts: parts.filter(name => watchedFiles.test(name)).sort() }).toEqual({
      code: 0,
      parts: ['commands-config-set.cjs', 'commands-config.cjs', 'host-settings-file.cjs', 'shared.cjs'],
    })
    // With this file, a request reads it with conf.
    const { parts: all } = await loadedBy(`pr get 7 ${where} --json`)
    expect(all.filter(name => watchedFiles.test(name)).sort()).toEqual(
      [...request, 'host-settings-file.cjs'].sort(),
    )
    rmSync(join(place, 'home', '.config'), { recursive: true })
  })
})

describe('what an install weighs', () => {
  test.each([
    // With commander, which reads every command line.
    ['start.cjs', 122],
    // The operations of pull requests, and what sends requests and prints responses: help loads it, too.
    // 1.5 KB more for the headings of all tables, which stand in one place.
    ['definitions.cjs', 101.5],
    ['http-undici.cjs', 320],
    // With undici, and conf, which reads the settings; library-bundle.test.ts says what bundlers of other programs take along.
    ['library-core.cjs', 392],
    ['library-waits.cjs', 25],
    ['library-explanations.cjs', 26],
    // With the machine of waits, which the submissions of a wait share: they are a file that only a submission loads.
    ['library-shared.cjs', 34.5],
    ['submissions.cjs', 6],
  ])('%s has at most %i KB', (name, kilobytes) => {
    expect(statSync(join('dist', name)).size / 1000).toBeLessThan(kilobytes)
  })

  test('the package is at most 720 KB', async () => {
    expect((await packPackage()).size / 1000).toBeLessThan(720)
  })

  test('the README names its size, within 60 KB; `npm run generate` writes it', async () => {
    const [, written] = /^The package has about (\d+) KB/m.exec(readFileSync('README.md', 'utf8')) ?? []
    expect(Math.abs((await packPackage()).size / 1000 - Number(written))).toBeLessThan(60)
  })
})
