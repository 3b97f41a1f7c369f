import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, test } from 'vitest'
import { serveScript } from '../support/harness.ts'
import { bareEnvironment, launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const token = 'tok_4f2a9c1e77d0b6aa'
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }

const place = temporaryFolder('mergeq-package-')

const folder = (...names: readonly string[]): string => {
  const path = join(place, ...names)
  mkdirSync(path, { recursive: true })
  return path
}
const npmEnvironment = {
  ...bareEnvironment(folder('npm home')),
  npm_config_cache: folder('npm cache'),
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
}

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
  const { exitCode, stdout, stderr } = await execa(command, words, {
    cwd,
    env: { ...bareEnvironment(folder('home')), ...env },
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    timeout: 15_000,
    killSignal: 'SIGKILL',
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
  })
  for (const text of [stdout, stderr]) expect(text).not.toContain(token)
  return { code: exitCode, out: stdout, err: stderr }
}

/** Every file below a folder, by its path from there. */
const filesBelow = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(path.length + 1))

describe('the package', () => {
  const prefix = folder('Ein Örtchen für “mergeq” & Söhne')
  const bin = join(prefix, 'bin/mergeq')
  const installed = join(prefix, 'lib/node_modules/mergeq')
  let packed: readonly string[] = []
  let tarball = ''

  beforeAll(async () => {
    // Built already: the scripts would build once more, while other tests use what stands there.
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder('pack')]
    const { stdout } = await execa('npm', pack, { env: npmEnvironment, extendEnv: false })
    const [{ filename, files }] = JSON.parse(stdout) as [
      { filename: string; files: readonly { path: string }[] },
    ]
    packed = files.map(({ path }) => path)
    tarball = join(folder('pack'), filename)
    const install = (cwd: string, ...words: readonly string[]) =>
      execa('npm', ['install', ...words, tarball], { cwd, env: npmEnvironment, extendEnv: false })
    await install(place, '--global', '--prefix', prefix)
    writeFileSync(join(folder('ein Projekt'), 'package.json'), '{"name":"x","private":true}')
    await install(folder('ein Projekt'))
  }, 60_000)

  test('contains the program and its documents, and nothing else', () => {
    const allowed =
      /^(?:bin\/(?:mergeq\.js|code-cache\.js|package\.json)|dist\/(?:[a-z-]+\.cjs|library\.(?:mjs|d\.[cm]ts)|LICENSES\.txt)|man\/mergeq\.1|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/
    expect(packed.filter(path => !allowed.test(path))).toEqual([])
    expect(packed).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'bin/code-cache.js',
        'bin/mergeq.js',
        'bin/package.json',
        'dist/LICENSES.txt',
        'dist/mergeq.cjs',
        'package.json',
      ]),
    )
    for (const part of readdirSync('dist')) expect(packed).toContain(`dist/${part}`)
  })

  test('`npm pack --dry-run` lists the same', async () => {
    const { stdout } = await execa('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      env: npmEnvironment,
      extendEnv: false,
    })
    const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }]
    expect(files.map(({ path }) => path)).toEqual(packed)
  })

  test('its types and its two ways to be loaded agree, say the linters of both', async () => {
    const linters = [
      ['attw', tarball, '--format', 'ascii', '--no-color'],
      ['publint', tarball],
    ] as const
    for (const [linter, ...words] of linters) {
      const { code, out, err } = await run(resolve('node_modules/.bin', linter), words)
      expect({ code, linter }, out + err).toEqual({ code: 0, linter })
    }
  }, 60_000)

  test('has no install script and brings no other package', () => {
    const { scripts = {}, ...manifest } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    const onInstall = [
      'preinstall',
      'install',
      'postinstall',
      'prepublish',
      'preprepare',
      'prepare',
      'postprepare',
    ]
    expect(Object.keys(scripts).filter(name => onInstall.includes(name))).toEqual([])
    for (const key of [
      'dependencies',
      'optionalDependencies',
      'peerDependencies',
      'bundleDependencies',
      'gypfile',
    ])
      expect(manifest[key]).toBeUndefined()
    expect(existsSync(join(installed, 'node_modules'))).toBe(false)
    expect(readdirSync(join(prefix, 'lib/node_modules'))).toEqual(['mergeq'])
  })

  test('holds no key, no secret, and no path of the machine that built it', () => {
    for (const path of filesBelow(installed)) {
      const text = readFileSync(join(installed, path), 'utf8')
      for (const secret of [
        /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
        /\bnpm_[A-Za-z0-9]{36}\b/,
        /\bgh[pousr]_[A-Za-z0-9]{36}\b/,
      ])
        expect({ path, found: text.match(secret) }).toEqual({ path, found: null })
      expect({ path, found: text.includes(resolve('.')) && resolve('.').length > 1 }).toEqual({
        path,
        found: false,
      })
    }
  })

  const ways: readonly (readonly [
    string,
    () => readonly [command: string, words: readonly string[], cwd: string],
  ])[] = [
    ['as a linked bin below a path with spaces and umlauts', () => [bin, [], place]],
    [
      'by a link to that link',
      () => {
        const link = join(folder('noch ein Ort'), 'mq')
        rmSync(link, { force: true })
        symlinkSync(bin, link)
        return [link, [], place]
      },
    ],
    [
      'by node and the path of the file',
      () => [process.execPath, [join(installed, 'bin/mergeq.js')], folder('hier & dä')],
    ],
    ['by npx', () => ['npx', ['--no-install', 'mergeq'], folder('ein Projekt')]],
    ['by npm exec', () => ['npm', ['exec', '--no', '--', 'mergeq'], folder('ein Projekt')]],
    [
      'from node_modules/.bin',
      () => [join(folder('ein Projekt'), 'node_modules/.bin/mergeq'), [], folder('ein Projekt')],
    ],
  ]
  test.each(ways)('%s it works', async (_, way) => {
    const [command, before, cwd] = way()
    const env = /^np/.test(command) ? npmEnvironment : {}
    const result = await run(command, [...before, '--version'], { cwd, env })
    expect(result).toEqual({ code: 0, out: `${version}\n`, err: '' })
    const inSandbox = ['sandbox', 'exec', '--', command, ...before, 'queue', 'get', '--json']
    const { code, out } = await run(command, [...before, ...inSandbox], { cwd, env })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ branch: 'main', state: 'RUNNING' })
  })

  test.each([
    ['bash', 'mergeq.bash'],
    ['zsh', '_mergeq'],
    ['fish', 'mergeq.fish'],
    ['powershell', 'mergeq.ps1'],
  ])('what is installed prints the completions of %s', async (shell, file) => {
    expect((await run(bin, ['completion', shell])).out).toBe(readFileSync(join('completions', file), 'utf8'))
  })

  test('every part that is loaded later is found there too', async () => {
    const home = folder('Zuhause für alle')
    const env = { HOME: home }
    const inSandbox = (line: string) => run(bin, ['sandbox', 'exec', '--', bin, ...line.split(' ')], { env })
    expect((await run(bin, ['config', 'set', 'repo', 'acme/web'], { env })).code).toBe(0)
    expect((await run(bin, ['config', 'get', 'repo'], { env })).out).toBe('acme/web\n')
    for (const line of [
      'queue get -o csv',
      'queue get -o table',
      'queue get -o markdown',
      'metrics',
      'flaky list --since 1d -o ndjson',
    ])
      expect({ line, code: (await inSandbox(line)).code }).toEqual({ line, code: 0 })
  })
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
    ['--help', 0],
    ['help environment', 0],
    ['config list --show-origin', 0],
    ['config set color never', 0],
    ['config path', 0],
    ['auth status', 1],
    ['auth status --no-verify', 0],
    ['auth logout', 0],
    [`queue get ${where} --dry-run`, 0],
    ['no such command', 0],
    [`queue get ${where}`, 1],
    [`pr get 7 ${where} --json -v`, 1],
    ['metrics --json', 1],
    ['auth login --with-token', 1],
    [`queue update --concurrency 2 ${where}`, 1],
  ]
  const surroundings: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['on a machine', {}],
    ['in CI', { CI: 'true', GITHUB_ACTIONS: 'true' }],
  ]
  test.each(surroundings)(
    '%s: no update check, no telemetry, nothing asked of a registry',
    async (name, more) => {
      const bin = folder('programs', name)
      const contacts = join(place, `contacts ${name.length}`)
      const started = join(place, `started ${name.length}`)
      writeFileSync(join(place, 'watch.cjs'), watcher)
      for (const program of programs) {
        writeFileSync(join(bin, program), `#!/bin/sh\necho "${program} $*" >> '${started}'\nexit 1\n`)
        chmodSync(join(bin, program), 0o755)
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
      const env = {
        PATH: `${bin}:${process.env.PATH ?? ''}`,
        HOME: folder('homes', name),
        NODE_OPTIONS: `--require "${join(place, 'watch.cjs')}"`,
        CONTACTS: contacts,
        MERGEQ_TOKEN: token,
        MERGEQ_BASE_URL: service.baseUrl,
        npm_config_registry: elsewhere,
        NPM_CONFIG_REGISTRY: elsewhere,
        HTTPS_PROXY: elsewhere,
        ...more,
      }
      try {
        for (const [line, asks] of lines) {
          for (const path of [contacts, started]) rmSync(path, { force: true })
          const before = service.requests.length
          const { code } = await run(launcher, line.split(' '), { env, input: token })
          expect({ line, failed: code !== 0 }).toEqual({ line, failed: line === 'no such command' })
          const seen = existsSync(contacts) ? readFileSync(contacts, 'utf8').trim().split('\n') : []
          const { host } = new URL(service.baseUrl)
          expect({ line, seen: seen.filter(one => one !== host), asked: seen.length }).toEqual({
            line,
            seen: [],
            asked: asks,
          })
          expect(service.requests.length - before).toBe(asks)
          const programsRun = existsSync(started) ? readFileSync(started, 'utf8').trim().split('\n') : []
          // git may read what is configured here; nothing that asks somebody else.
          const asksOthers = (words: string) => !/^git /.test(words) || remoteCommands.test(words)
          expect({ line, asking: programsRun.filter(asksOthers) }).toEqual({ line, asking: [] })
        }
        expect(strangers).toBe(0)
      } finally {
        registry.close()
        await service.close()
      }
    },
  )
})

describe('help and version need nothing', () => {
  const lay = (content: string) => (home: string) => {
    mkdirSync(join(home, '.config/mergeq'), { recursive: true })
    writeFileSync(join(home, '.config/mergeq/config.json'), content)
  }
  const nothing = () => undefined
  type World = readonly [
    string,
    make: (home: string, work: string) => void,
    env: Readonly<Record<string, string | undefined>>,
  ]
  const worlds: readonly World[] = [
    ['settings that are not JSON', lay('{'), {}],
    ['settings with a bad value', lay('{"profiles":{"default":{"output":"xml","base-url":"http://x"}}}'), {}],
    [
      'settings that are a FIFO',
      home => {
        mkdirSync(join(home, '.config/mergeq'), { recursive: true })
        execFileSync('mkfifo', [join(home, '.config/mergeq/config.json')])
      },
      {},
    ],
    ['no HOME', nothing, { HOME: undefined }],
    ['an empty environment', nothing, { HOME: undefined, TERM: undefined }],
    ['a HOME that is no folder', nothing, { HOME: '/dev/null' }],
    [
      'variables that are wrong',
      nothing,
      {
        MERGEQ_OUTPUT: 'xml',
        MERGEQ_BASE_URL: 'http://example.com',
        MERGEQ_TOKEN: 'a b',
        MERGEQ_PROFILE: 'none',
        MERGEQ_RETRIES: 'x',
      },
    ],
    [
      'a project file that is refused',
      (_, work) => writeFileSync(join(work, '.mergeq.json'), '{"token":"x"}'),
      {},
    ],
    ['a project file that is a folder', (_, work) => mkdirSync(join(work, '.mergeq.json')), {}],
    ['a broken checkout', (_, work) => writeFileSync(join(work, '.git'), 'gitdir: /nowhere'), {}],
  ]
  const lines = ['--version', '--help', 'pr submit --help', 'pr', 'help exit-codes']

  test.each(worlds)('under %s: at once, nothing on standard error, no file made', async (name, make, env) => {
    const [home, work] = [folder('j14', name, 'home'), folder('j14', name, 'work')]
    make(home, work)
    const before = filesBelow(join(place, 'j14', name))
    for (const line of lines) {
      let quickest = Number.POSITIVE_INFINITY
      // The machine may be busy: the quickest of five counts.
      for (let tries = 0; tries < 5 && quickest > 500; tries++) {
        const started = performance.now()
        const { code, out, err } = await run(launcher, line.split(' '), {
          cwd: work,
          env: { HOME: home, ...env },
        })
        quickest = Math.min(quickest, performance.now() - started)
        expect({ line, code, err }).toEqual({ line, code: 0, err: '' })
        if (line === '--version') expect(out).toBe(`${version}\n`)
        else expect(out).toMatch(/^Usage: mergeq|^ *\d+ {2}/m)
      }
      expect({ line, slow: quickest >= 500 }).toEqual({ line, slow: false })
    }
    expect(filesBelow(join(place, 'j14', name))).toEqual(before)
  })
})
