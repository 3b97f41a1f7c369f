import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, test } from 'vitest'
import renovate from '../../.github/renovate.json' with { type: 'json' }
import manifest from '../../package.json' with { type: 'json' }
import { builtVersion } from '../support/built-version.ts'
import { serveScript } from '../support/harness.ts'
import { npmEnvironment, packPackage } from '../support/package.ts'
import { bareEnvironment, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const token = 'tok_4f2a9c1e77d0b6aa'
const place = temporaryFolder('mergeq-package-')

const folder = (...names: readonly string[]): string => {
  const path = join(place, ...names)
  mkdirSync(path, { recursive: true })
  return path
}
const npm = npmEnvironment(folder('npm home'))

interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  readonly input?: string
}

/** Runs a program in a bare environment. */
async function run(
  command: string,
  words: readonly string[],
  { env = {}, cwd = place, input }: Surroundings = {},
) {
  const ownEnv = { ...bareEnvironment(folder('home')), ...env }
  const result = await runProgram([command, ...words], { cwd, env: ownEnv, input })
  for (const text of [result.out, result.err]) expect(text).not.toContain(token)
  return result
}

/** Every file below a folder, by its path from there. */
const filesBelow = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(path.length + 1))

// test/process/release.test.ts checks which files are packed.
describe('the package', () => {
  const prefix = folder('Ein Örtchen für “mergeq” & Söhne')
  const bin = join(prefix, 'bin/mergeq')
  const installed = join(prefix, 'lib/node_modules/mergeq')
  const project = folder('ein Projekt')
  let tarball = ''

  beforeAll(async () => {
    tarball = (await packPackage()).tarball
    const install = (...words: readonly string[]) =>
      execa('npm', ['install', ...words, tarball], { cwd: project, env: npm, extendEnv: false })
    await install('--global', '--prefix', prefix)
    writeFileSync(join(project, 'package.json'), '{"name":"x","private":true}')
    await install()
  }, 60_000)

  test.each([['attw', '--format', 'ascii', '--no-color'], ['publint']])(
    '%s finds no mistake in its types and its two ways to be loaded',
    async (linter, ...words) => {
      const { code, out, err } = await run(resolve('node_modules/.bin', linter), [tarball, ...words])
      expect(code, out + err).toBe(0)
    },
    60_000,
  )

  test('contains no key, no secret, and no path of the machine that built it', () => {
    for (const path of filesBelow(installed)) {
      const text = readFileSync(join(installed, path), 'utf8')
      for (const secret of [
        /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
        /\bnpm_[A-Za-z0-9]{36}\b/,
        /\bgh[pousr]_[A-Za-z0-9]{36}\b/,
      ])
        expect({ path, found: text.match(secret) }).toEqual({ path, found: null })
      expect({ path, found: text.includes(resolve('.')) }).toEqual({ path, found: false })
    }
  })

  test('has an SBOM in CycloneDX with every package of the bundle', () => {
    const read = (path: string) => readFileSync(path, 'utf8')
    const bom = JSON.parse(read(join(installed, 'dist/mergeq.cdx.json')))
    const components: readonly { purl: string; licenses: readonly unknown[] }[] = bom.components
    const addresses = components.map(({ purl }) => purl)
    const [bundled] = renovate.packageRules
    for (const name of bundled?.matchPackageNames ?? []) {
      const pinned = Object.entries(manifest.devDependencies).find(([one]) => one === name)?.[1]
      expect(addresses).toContain(`pkg:npm/${name}@${pinned}`)
    }
    const licenses = read(join(installed, 'dist/LICENSES.txt'))
    expect(licenses.split('\n----\n').length).toBe(components.length)
    for (const { purl, licenses } of components)
      expect({ purl, count: licenses.length }).toEqual({ purl, count: 1 })
    expect(addresses.join('\n')).not.toMatch(/vitest|rolldown/)
  })

  test.each([
    ['as a linked bin below a path with spaces and umlauts', bin, []],
    ['by a link to that link', join(place, 'mq'), []],
    ['by node and the path of the file', process.execPath, [join(installed, 'bin/mergeq.js')]],
    ['by npx', 'npx', ['--no-install', 'mergeq']],
  ])('works %s', async (_, command, before) => {
    if (command.endsWith('/mq')) symlinkSync(bin, command)
    const options = { cwd: project, env: command === 'npx' ? npm : {} }
    const result = await run(command, [...before, '--version'], options)
    expect(result).toEqual({ code: 0, out: expect.stringMatching(builtVersion), err: '' })
    const inSandbox = ['sandbox', 'exec', '--', command, ...before, 'queue', 'get', '--json']
    const { code, out } = await run(command, [...before, ...inSandbox], options)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ branch: 'main', state: 'RUNNING' })
  })
})

describe('the program for machines without Node', () => {
  const program = join(place, 'standalone')
  const env = { PATH: '/nonexistent', HOME: folder('home without Node') }
  beforeAll(async () => {
    await execa(process.execPath, ['scripts/standalone.mjs', '--out', program])
  }, 120_000)

  test.each([
    ['--version', 0, builtVersion],
    ['sandbox tour --speed 20', 0, /MERGED[\s\S]*mq_pr_conclusions_1h_total/],
    ['pr submit --help', 0, /mergeq pr submit 123 --wait/],
    ['completion bash', 0, /complete/],
    ['pr sbumit', 2, /^$/],
    ['config set repo acme/web', 0, /^$/],
    ['config get repo', 0, /^acme\/web$/m],
  ])('`%s` exits with %i', async (line, code, prints) => {
    const result = await run(program, line.split(' '), { env })
    expect(result).toMatchObject({ code, out: expect.stringMatching(prints) })
  })

  test('stands beside the licenses of mergeq, of Node and of the bundled packages', () =>
    expect(readFileSync(`${program}.LICENSES.txt`, 'utf8')).toMatch(
      /^MIT License[\s\S]*\nNode v\d[\s\S]*OpenSSL[\s\S]*\nundici \d/,
    ))
})

describe('no address is contacted but the base address', () => {
  /** Writes down what a process of Node connects to. */
  const watcher = `
    const { appendFileSync } = require('node:fs')
    const { Socket } = require('node:net')
    const { connect } = Socket.prototype
    Socket.prototype.connect = function (...words) {
      const [{ path, host, port }] = [words[0]].flat()
      appendFileSync(process.env.CONTACTS, (path ?? host + ':' + port) + '\\n')
      return connect.apply(this, words)
    }
  `
  const where = '-R acme/web -b main'
  test.each([
    ['--version', 0],
    ['help environment', 0],
    ['config list --show-origin', 0],
    ['config set color never', 0],
    ['auth status', 1],
    ['auth logout', 0],
    [`queue get ${where} --dry-run`, 0],
    ['no such command', 0],
    [`pr get 7 ${where} --json -v`, 1],
    ['metrics --json', 1],
    ['auth login --with-token', 1],
    [`queue update --concurrency 2 ${where}`, 1],
  ])('by `%s`, which asks it %i times', async (line, asks) => {
    const service = await serveScript(({ path }) => ({
      body: path.includes('Metrics') ? '' : '{"state":"RUNNING","enqueuedPullRequests":[]}',
    }))
    const [watch, contacts] = [join(place, 'watch.cjs'), join(place, 'contacts')]
    writeFileSync(watch, watcher)
    writeFileSync(contacts, '')
    const env = {
      HOME: folder('homes'),
      NODE_OPTIONS: `--require "${watch}"`,
      CONTACTS: contacts,
      MERGEQ_TOKEN: token,
      MERGEQ_BASE_URL: service.baseUrl,
    }
    const { code } = await run(launcher, line.split(' '), { env, input: token })
    await service.close()
    expect(code).toBe(line === 'no such command' ? 2 : 0)
    expect(readFileSync(contacts, 'utf8')).toBe(`${new URL(service.baseUrl).host}\n`.repeat(asks))
  })
})
