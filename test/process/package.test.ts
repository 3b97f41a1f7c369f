import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { Ajv } from 'ajv'
import { execa } from 'execa'
import { beforeAll, describe, expect, test } from 'vitest'
import renovate from '../../.github/renovate.json' with { type: 'json' }
import manifest from '../../package.json' with { type: 'json' }
import { serveScript } from '../support/harness.ts'
import { npmEnvironment, packPackage } from '../support/package.ts'
import { bareEnvironment, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { version } = manifest
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
    const directory = 'node_modules/@cyclonedx/cyclonedx-library/res/schema'
    const schema = (name: string) => JSON.parse(read(`${directory}/${name}.SNAPSHOT.schema.json`))
    const ajv = new Ajv({ strict: false, validateFormats: false })
    for (const name of ['spdx', 'jsf-0.82'])
      ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
    const bom = JSON.parse(read(join(installed, 'dist/mergeq.cdx.json')))
    const isValid = ajv.compile(schema('bom-1.6'))
    expect({ isValid: isValid(bom), errors: isValid.errors }).toEqual({ isValid: true, errors: null })
    expect(isValid({ ...bom, components: [{}] })).toBe(false)
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

  test('has type declarations that cite only documents that it contains', () => {
    for (const name of ['library.d.cts', 'library.d.mts']) {
      const cited = readFileSync(join(installed, 'dist', name), 'utf8').match(/[\w./-]+\.md\b/g) ?? []
      for (const path of cited)
        expect({ name, path: existsSync(join(installed, path)) && path }).toEqual({ name, path })
    }
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
    expect(result).toEqual({ code: 0, out: `${version}\n`, err: '' })
    const inSandbox = ['sandbox', 'exec', '--', command, ...before, 'queue', 'get', '--json']
    const { code, out } = await run(command, [...before, ...inSandbox], options)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ branch: 'main', state: 'RUNNING' })
  })

  test('contains every part that is loaded later', async () => {
    const env = { HOME: folder('Zuhause für alle') }
    expect((await run(bin, ['config', 'set', 'repo', 'acme/web'], { env })).code).toBe(0)
    expect((await run(bin, ['config', 'get', 'repo'], { env })).out).toBe('acme/web\n')
    const completion = readFileSync('completions/mergeq.bash', 'utf8')
    expect((await run(bin, ['completion', 'bash'])).out).toBe(completion)
    const lines = ['queue get -o csv', 'queue get -o markdown', 'metrics', 'flaky list --since 1d -o table']
    const script = lines.map(line => `"$0" ${line}`).join(' && ')
    expect((await run(bin, ['sandbox', 'exec', '--', 'sh', '-c', script, bin], { env })).code).toBe(0)
  })
})

describe('the program for machines without Node', () => {
  const program = join(place, 'standalone')
  const env = { PATH: '/nonexistent', HOME: folder('home without Node') }
  beforeAll(async () => {
    await execa(process.execPath, ['scripts/standalone.mjs', '--out', program])
  }, 120_000)

  test.each([
    ['--version', 0, new RegExp(`^${version}\n$`)],
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
  /** Writes down what a process of Node connects to and looks up. */
  const watcher = `
    const { appendFileSync } = require('node:fs')
    const note = what => appendFileSync(process.env.CONTACTS, what + '\\n')
    const net = require('node:net')
    const { connect } = net.Socket.prototype
    net.Socket.prototype.connect = function (...words) {
      const [one] = Array.isArray(words[0]) ? words[0] : words
      note(typeof one === 'object' ? (one.path ?? (one.host + ':' + one.port)) : String(one))
      return connect.apply(this, words)
    }
    const dns = require('node:dns')
    const { lookup } = dns
    dns.lookup = (name, ...rest) => {
      if (!net.isIP(name)) note('lookup ' + name)
      return lookup(name, ...rest)
    }
    const dgram = require('node:dgram')
    const { createSocket } = dgram
    dgram.createSocket = (...words) => {
      note('dgram')
      return createSocket(...words)
    }
  `
  const programs = ['git', 'npm', 'curl', 'wget', 'ssh', 'hg', 'xdg-open', 'notify-send']
  const remoteCommands = / (?:clone|fetch|ls-remote|pull|push|remote (?:show|update)|submodule)\b/
  const where = '-R acme/web -b main'
  const lines: readonly (readonly [line: string, asks: number])[] = [
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
  ]

  test('there is no update check, no telemetry, and nothing asked of a registry', async () => {
    const bin = folder('programs')
    const [contacts, started] = [join(place, 'contacts'), join(place, 'started')]
    writeFileSync(join(place, 'watch.cjs'), watcher)
    for (const program of programs) {
      const script = `#!/bin/sh\necho "${program} $*" >> '${started}'\nexit 1\n`
      writeFileSync(join(bin, program), script, { mode: 0o755 })
    }
    let strangers = 0
    const registry = createServer(socket => {
      strangers++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(registry, 'listening')
    const elsewhere = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`
    const service = await serveScript(({ path }) => ({
      body: path.includes('Metrics') ? '' : '{"state":"RUNNING","enqueuedPullRequests":[]}',
    }))
    const { host } = new URL(service.baseUrl)
    const env = {
      PATH: `${bin}:${process.env.PATH ?? ''}`,
      HOME: folder('homes'),
      NODE_OPTIONS: `--require "${join(place, 'watch.cjs')}"`,
      CONTACTS: contacts,
      MERGEQ_TOKEN: token,
      MERGEQ_BASE_URL: service.baseUrl,
      npm_config_registry: elsewhere,
      NPM_CONFIG_REGISTRY: elsewhere,
      HTTPS_PROXY: elsewhere,
    }
    const linesOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [])
    // git may read what is configured here; nothing that asks somebody else.
    const asksOthers = (words: string) => !/^git /.test(words) || remoteCommands.test(words)
    try {
      for (const [line, asks] of lines) {
        for (const path of [contacts, started]) rmSync(path, { force: true })
        const before = service.requests.length
        // Some programs that check for updates do not in CI.
        const more = line.startsWith('pr get') ? { CI: 'true', GITHUB_ACTIONS: 'true' } : {}
        const { code } = await run(launcher, line.split(' '), { env: { ...env, ...more }, input: token })
        expect({
          line,
          failed: code !== 0,
          seen: linesOf(contacts),
          asked: service.requests.length - before,
          asking: linesOf(started).filter(asksOthers),
        }).toEqual({
          line,
          failed: line === 'no such command',
          seen: Array.from({ length: asks }, () => host),
          asked: asks,
          asking: [],
        })
      }
      expect(strangers).toBe(0)
    } finally {
      registry.close()
      await service.close()
    }
  }, 60_000)
})
