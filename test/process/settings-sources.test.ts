import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, test } from 'vitest'
import { mergeq, type Setting, serveScript } from '../support/harness.ts'
import { bareEnvironment, launcher } from '../support/programs.ts'
import { closing, mergeSettings, profiles, requestIn, stored, token } from '../support/settings-sources.ts'

const places: string[] = []
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

/** A folder of its own, with a home and a checkout in it, and the built binary. */
function openPlace() {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-settings-')))
  places.push(place)
  const [home, work] = [join(place, 'home'), join(place, 'work')]
  for (const folder of [home, work]) mkdirSync(folder)
  const run = async (
    line: string,
    { env = {}, cwd = work }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
  ) => {
    const { exitCode, stdout, stderr } = await execa(launcher, line.split(' '), {
      cwd,
      env: { ...bareEnvironment(home), ...env },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      stripFinalNewline: false,
      timeout: 15_000,
      killSignal: 'SIGKILL',
    })
    for (const text of [stdout, stderr]) expect(text).not.toContain(token)
    return { code: exitCode, out: stdout, err: stderr }
  }
  return { place, home, work, run }
}

describe('the CI job and the checkout come after the profile and before the default', () => {
  /** A checkout whose origin, branch and CI variables all say something else. */
  const openCheckout = () => {
    const opened = openPlace()
    const git = (...words: readonly string[]) =>
      execFileSync('git', ['-C', opened.work, ...words], {
        stdio: 'ignore',
        env: bareEnvironment(opened.home),
      })
    git('init', '--quiet', '--initial-branch', 'topic')
    git('remote', 'add', 'origin', 'https://github.com/from/git.git')
    git('-c', 'user.name=a', '-c', 'user.email=a@b.test', 'commit', '--quiet', '--allow-empty', '-m', 'x')
    git('update-ref', 'refs/remotes/origin/from-git', 'HEAD')
    git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/from-git')
    return opened
  }
  const ci = {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'from/ci',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_REF: 'refs/pull/7/merge',
    GITHUB_HEAD_REF: 'topic',
    GITHUB_BASE_REF: 'from-ci',
  }
  const made = async (opened: ReturnType<typeof openPlace>, env: Readonly<Record<string, string>>) => {
    const { code, out, err } = await opened.run('queue get --dry-run -v', { env })
    expect({ code, err }).toMatchObject({ code: 0 })
    const { body } = requestIn(out)
    return body
  }
  const asked = (owner: string, targetBranch: string) => ({
    repo: { host: 'github.com', owner: 'from', name: owner },
    targetBranch,
  })

  test('the profile takes precedence over both', async () => {
    const opened = openCheckout()
    await opened.run('config set repo from/profile')
    await opened.run('config set target-branch from-profile')
    expect(await made(opened, ci)).toEqual(asked('profile', 'from-profile'))
  })
  test('the CI job takes precedence over git', async () => {
    expect(await made(openCheckout(), ci)).toEqual(asked('ci', 'from-ci'))
  })
  test('git comes last', async () => {
    expect(await made(openCheckout(), {})).toEqual(asked('git', 'from-git'))
  })
  test('`config list --show-origin` names the CI job and git as origins', async () => {
    const { run } = openCheckout()
    const [inCi, outside] = [
      await run('config list --show-origin', { env: ci }),
      await run('config list --show-origin'),
    ]
    expect(inCi.out).toMatch(/^repo\t(github\.com\/)?from\/ci\t.+$/m)
    expect(outside.out).toMatch(/^repo\t(github\.com\/)?from\/git\t.*git.*$/m)
    expect(outside.out).toMatch(/^target-branch\tfrom-git\t.*git.*$/m)
  })
})

describe('the project file', () => {
  const repo = (name: string) => JSON.stringify({ repo: `from/${name}` })
  const places: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['that of the working folder, outside a checkout', { '/repo/.mergeq.json': repo('work') }, 'from/work\n'],
    ['that of the checkout’s root', { '/.git': '', '/.mergeq.json': repo('root') }, 'from/root\n'],
    [
      'the nearest of two',
      { '/.git': '', '/.mergeq.json': repo('root'), '/repo/.mergeq.json': repo('work') },
      'from/work\n',
    ],
    ['none above the root of the checkout', { '/repo/.git': '', '/.mergeq.json': repo('above') }, ''],
    ['none above the working folder, outside a checkout', { '/.mergeq.json': repo('above') }, ''],
    ['its own at the root', { '/repo/.git': '', '/repo/.mergeq.json': repo('work') }, 'from/work\n'],
  ]
  test.each(places)('%s', async (_, files, out) => {
    const ran = await mergeq('config get repo', { files })
    expect({ code: ran.code, out: ran.out }).toEqual({ code: out === '' ? 5 : 0, out })
  })

  test('it is found from deep inside a real checkout, a worktree among them', async () => {
    const { run, work } = openPlace()
    const deep = join(work, 'a/b c/ü')
    mkdirSync(deep, { recursive: true })
    writeFileSync(join(work, '.mergeq.json'), repo('root'))
    expect((await run('config get repo', { cwd: deep })).code).toBe(5)
    writeFileSync(join(work, '.git'), 'gitdir: /elsewhere\n')
    expect((await run('config get repo', { cwd: deep })).out).toBe('from/root\n')
    writeFileSync(join(work, 'a/.mergeq.json'), repo('a'))
    expect(await run('config list --show-origin', { cwd: deep })).toMatchObject({
      code: 0,
      out: expect.stringContaining(`repo\tfrom/a\t${join(work, 'a/.mergeq.json')}\n`),
    })
  })

  const refused = [
    'base-url',
    'baseUrl',
    'base_url',
    'baseURL',
    'token',
    'tokens',
    'MERGEQ_TOKEN',
    'profile',
    'profiles',
    'caFile',
    'ca-file',
    'retries',
    'timeout',
    'color',
    'pr',
    'sha',
    'Repo',
    'target-branch',
    '__proto__',
    'constructor',
    '',
  ]
  test.each(refused)('%j in it is refused, and its value not repeated', async key => {
    const content = `{"repo":"acme/web",${JSON.stringify(key)}:${JSON.stringify(`https://evil.test/${token}`)}}`
    const { code, out, err, requests } = await mergeq('queue get -b main', {
      files: { '/repo/.mergeq.json': content },
      answer: () => ({ body: '{}' }),
    })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err.startsWith(`mergeq: /repo/.mergeq.json contains ${key}`)).toBe(true)
    expect(err).not.toContain(token)
    expect(err).not.toContain('evil.test')
  })

  const unreadable: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['cut', '{"repo":"acme/web"'],
    ['no object', '["acme/web"]'],
    ['null', 'null'],
    ['a number for the repository', '{"repo":7}'],
    ['an object for the branch', '{"targetBranch":{"name":"main"}}'],
  ]
  test.each(unreadable)('one that is %s is refused by its path', async (_, content) => {
    const { code, out, err } = await mergeq('queue get', { files: { '/repo/.mergeq.json': content } })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.startsWith('mergeq: /repo/.mergeq.json')).toBe(true)
  })

  const odd: readonly (readonly [string, (path: string) => void])[] = [
    ['a folder', path => mkdirSync(path)],
    ['a FIFO', path => execFileSync('mkfifo', [path])],
    ['larger than any settings', path => writeFileSync(path, `{"repo":"${'x'.repeat(70_000)}/web"}`)],
  ]
  test.each(odd)('one that is %s is refused by its path, without a hang', async (_, make) => {
    const { run, work } = openPlace()
    make(join(work, '.mergeq.json'))
    const { code, out, err } = await run('queue get')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.startsWith(`mergeq: ${join(work, '.mergeq.json')}`)).toBe(true)
  })

  test('directories above the working directory are not searched outside a checkout', async () => {
    const { run, work } = openPlace()
    mkdirSync(join(work, '.mergeq.json'))
    mkdirSync(join(work, 'below'))
    expect((await run('config get retries', { cwd: join(work, 'below') })).out).toBe('3\n')
  })

  test('no other file in the working directory changes where a token is sent', async () => {
    const { home, run, work } = openPlace()
    const lines = [
      'MERGEQ_BASE_URL=https://evil.test/v1',
      `MERGEQ_TOKEN=${token}`,
      'HTTPS_PROXY=http://evil.test',
      'MERGEQ_REPO=evil/evil',
    ]
    for (const name of ['.env', '.env.local', '.mergeqrc', '.npmrc'])
      writeFileSync(join(work, name), `${lines.join('\n')}\n`)
    for (const name of ['mergeq.json', '.mergeqrc.json', 'mergeq.config.json', 'package.json'])
      writeFileSync(
        join(work, name),
        JSON.stringify({ mergeq: { baseUrl: 'https://evil.test' }, baseUrl: 'https://evil.test' }),
      )
    mkdirSync(join(work, '.config/mergeq'), { recursive: true })
    writeFileSync(
      join(work, '.config/mergeq/config.json'),
      '{"profiles":{"default":{"base-url":"https://evil.test/v1"}}}',
    )
    const git = (...words: readonly string[]) =>
      execFileSync('git', ['-C', work, ...words], { env: bareEnvironment(home), stdio: 'ignore' })
    git('init', '--quiet')
    for (const key of ['mergeq.baseUrl', 'mergeq.base-url', 'mergeq.url', 'http.proxy'])
      git('config', key, 'https://evil.test/v1')
    expect((await run('config get base-url')).out).toBe('https://api.trunk.io/v1\n')
    expect((await run('config get repo')).code).toBe(5)
    expect((await run('auth status')).code).toBe(4)
  })
})

describe('profiles', () => {
  const two = profiles({ default: { repo: 'in/default', org: 'acme' }, work: { repo: 'in/work' } })
  const choices: readonly (readonly [string, string, Setting])[] = [
    ['the default one', 'in/default', two],
    ['that of --profile', 'in/work', two],
    ['that of MERGEQ_PROFILE', 'in/work', mergeSettings(two, { env: { MERGEQ_PROFILE: 'work' } })],
    [
      'that of --profile before MERGEQ_PROFILE',
      'in/work',
      mergeSettings(two, { env: { MERGEQ_PROFILE: 'none' } }),
    ],
  ]
  test.each(choices)('%s is used', async (name, repo, host) => {
    const words = name.includes('--profile') ? '--profile work' : ''
    const { code, out } = await mergeq(`config get repo --json ${words}`, host)
    expect({ code, ...JSON.parse(out) }).toEqual({
      code: 0,
      key: 'repo',
      value: repo,
      origin: `profile ${repo.slice(3)}`,
    })
  })

  test('profiles do not inherit from each other', async () => {
    expect((await mergeq('config get org --profile work', two)).code).toBe(5)
  })

  test.each(['config get repo', 'queue get', 'auth status', 'config list'])(
    '`%s` under a profile that was never made is refused, with the way to make it',
    async line => {
      const { code, out, err, requests } = await mergeq(
        `${line} --profile wrok`,
        mergeSettings(two, { answer: () => ({}) }),
      )
      expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
      expect(err).toBe(
        'mergeq: Profile not found: wrok.\n  Did you mean work?\n  To create it, run: mergeq config set <key> <value> --profile wrok\n',
      )
    },
  )

  test('neither the project file nor a profile chooses the profile', async () => {
    const host = mergeSettings(
      stored({ profiles: { default: { profile: 'work', repo: 'in/default' }, work: { repo: 'in/work' } } }),
      {},
    )
    expect((await mergeq('config get repo', host)).out).toBe('in/default\n')
  })

  test('`--profile x config set` makes it, and each has its own values', async () => {
    const { home, run } = openPlace()
    for (const line of [
      'config set repo in/default',
      '--profile work config set repo in/work',
      'config set org acme --profile work',
      'config unset repo --profile work',
    ])
      expect(await run(line)).toEqual({ code: 0, out: '', err: '' })
    expect(JSON.parse(readFileSync(join(home, '.config/mergeq/config.json'), 'utf8'))).toEqual({
      profiles: { default: { repo: 'in/default' }, work: { org: 'acme' } },
    })
    expect((await run('config get org', { env: { MERGEQ_PROFILE: 'work' } })).out).toBe('acme\n')
    expect((await run('config get repo')).out).toBe('in/default\n')
  })

  test('`config unset` does not make a profile', async () => {
    const { home, run } = openPlace()
    expect((await run('config unset repo --profile ghost')).code).toBe(2)
    expect(readdirSync(home)).toEqual([])
  })
})

describe('the config commands', () => {
  test('get prints the value alone; what is not set is reported, with 5', async () => {
    expect(await mergeq('config get repo', profiles({ default: { repo: 'acme/web' } }))).toMatchObject({
      code: 0,
      out: 'acme/web\n',
      err: '',
    })
    const { code, out, err } = await mergeq('config get repo')
    expect({ code, out }).toEqual({ code: 5, out: '' })
    expect(err).toMatch(/^mergeq: repo is not set\.\n {2}/)
  })

  const paths: readonly (readonly [string, Setting, string])[] = [
    ['HOME', { env: { HOME: '/home/me' } }, '/home/me/.config/mergeq/config.json\n'],
    ['XDG_CONFIG_HOME', { env: { HOME: '/home/me', XDG_CONFIG_HOME: '/xdg' } }, '/xdg/mergeq/config.json\n'],
    [
      'MERGEQ_CONFIG_DIR',
      { env: { HOME: '/home/me', XDG_CONFIG_HOME: '/xdg', MERGEQ_CONFIG_DIR: '/dir' } },
      '/dir/config.json\n',
    ],
    [
      'HOME on macOS',
      { platform: 'darwin', env: { HOME: '/Users/me' } },
      '/Users/me/Library/Preferences/mergeq/config.json\n',
    ],
    [
      'XDG_CONFIG_HOME on macOS',
      { platform: 'darwin', env: { HOME: '/Users/me', XDG_CONFIG_HOME: '/xdg' } },
      '/xdg/mergeq/config.json\n',
    ],
    [
      'APPDATA on Windows, in any case',
      { platform: 'win32', env: { AppData: 'C:\\Users\\me' } },
      'C:\\Users\\me\\mergeq\\config.json\n',
    ],
    [
      'an empty XDG_CONFIG_HOME',
      { env: { HOME: '/home/me', XDG_CONFIG_HOME: '' } },
      '/home/me/.config/mergeq/config.json\n',
    ],
  ]
  test.each(paths)('path by %s', async (_, host, out) => {
    expect(await mergeq('config path', host)).toMatchObject({ code: 0, out, err: '' })
  })

  test('stored, listed, read, removed: a file as a person would write it', async () => {
    const { home, run } = openPlace()
    for (const line of [
      'config set base-url https://git.test/v1/',
      'config set timeout 1m30s',
      'config set output table',
    ])
      expect(await run(line)).toEqual({ code: 0, out: '', err: '' })
    expect(readFileSync(join(home, '.config/mergeq/config.json'), 'utf8')).toBe(
      '{\n  "profiles": {\n    "default": {\n      "base-url": "https://git.test/v1/",\n      "timeout": "1m30s",\n      "output": "table"\n    }\n  }\n}\n',
    )
    expect(requestIn((await run('metrics --dry-run')).out).url).toBe(
      'https://git.test/v1/getMergeQueueMetrics',
    )
    for (const key of ['base-url', 'timeout', 'output', 'output'])
      expect((await run(`config unset ${key}`)).code).toBe(0)
    expect((await run('config list')).out).toBe(
      'base-url\thttps://api.trunk.io/v1\noutput\ttable\nretries\t3\ncolor\tauto\n',
    )
  })

  test.each(['config unset output', 'config set output json'])(
    '`%s` repairs a stored value that stops every other command',
    async line => {
      const { home, run } = openPlace()
      mkdirSync(join(home, '.config/mergeq'), { recursive: true })
      writeFileSync(join(home, '.config/mergeq/config.json'), '{"profiles":{"default":{"output":"xml"}}}')
      expect((await run('config list')).code).toBe(2)
      expect(await run(line)).toEqual({ code: 0, out: '', err: '' })
      expect((await run('config list')).code).toBe(0)
    },
  )

  test.each(['config list', 'config get base-url', 'config list --json --show-origin'])(
    '`%s` does not print the password of a base address that is refused everywhere else',
    async line => {
      const env = { MERGEQ_BASE_URL: `https://me:${token}@h.test/v1`, MERGEQ_TOKEN: '' }
      const { out, err } = await mergeq(line, { env })
      for (const text of [out, err]) expect(text).not.toContain(token)
    },
  )
})

/** A listener that counts what should never arrive, and keeps the first line of what does. */
async function listen(): Promise<{ readonly port: number; readonly lines: string[]; connections(): number }> {
  const lines: string[] = []
  let connections = 0
  const server: Server = createServer(socket => {
    connections++
    socket.on('error', () => undefined)
    socket.once('data', piece => {
      lines.push(String(piece).split('\r\n')[0] ?? '')
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.close()
    await once(server, 'close')
  })
  return { port: (server.address() as AddressInfo).port, lines, connections: () => connections }
}

describe('a stored token belongs to one origin', () => {
  const where = '-R acme/web -b main'
  const withToken = (origin: string): Setting =>
    mergeSettings({ env: { MERGEQ_TOKEN: '' } }, stored({ tokens: { [origin]: token } }))

  test('for another address it is refused before a socket opens, and the way to log in there is reported', async () => {
    const service = await listen()
    const base = `http://127.0.0.1:${service.port}/v1`
    for (const line of [
      `queue get ${where}`,
      `pr submit 7 ${where}`,
      'metrics',
      'auth status',
      'auth token',
    ]) {
      const { code, out, err } = await mergeq(
        line,
        mergeSettings(withToken('https://a.test'), { env: { MERGEQ_BASE_URL: base } }),
      )
      expect({ line, code, out }).toEqual({ line, code: 4, out: '' })
      expect(err).toContain('https://a.test')
      expect(err).toContain(`http://127.0.0.1:${service.port}`)
      expect(err).toContain(`mergeq auth login --base-url ${base}`)
      expect(err).not.toContain(token)
    }
    expect(service.connections()).toBe(0)
  })

  const foreign: readonly (readonly [string, (port: number) => string, (port: number) => string])[] = [
    ['another port', port => `http://127.0.0.1:${port + 1}`, port => `http://127.0.0.1:${port}/v1`],
    [
      'another name of the same machine',
      port => `http://localhost:${port}`,
      port => `http://127.0.0.1:${port}/v1`,
    ],
    ['another scheme', port => `https://127.0.0.1:${port}`, port => `http://127.0.0.1:${port}/v1`],
    ['no port', () => 'http://127.0.0.1', port => `http://127.0.0.1:${port}/v1`],
    [
      'an origin with a path, which is none',
      port => `http://127.0.0.1:${port}/v1`,
      port => `http://127.0.0.1:${port}/v1`,
    ],
    ['its beginning', port => `http://127.0.0.1:${port}`.slice(0, -1), port => `http://127.0.0.1:${port}/v1`],
  ]
  test.each(foreign)('%s is another origin', async (_, owner, base) => {
    const { port, connections } = await listen()
    const { code } = await mergeq(
      `queue get ${where}`,
      mergeSettings(withToken(owner(port)), { env: { MERGEQ_BASE_URL: base(port) } }),
    )
    expect({ code, connections: connections() }).toEqual({ code: 4, connections: 0 })
  })

  test.each([
    (port: number) => `http://127.1:${port}/v1`,
    (port: number) => `HTTP://127.0.0.1:${port}/other/v2/`,
  ])('the same origin in another spelling gets it (%#)', async spell => {
    const service = await serveScript(() => ({ body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }))
    closing.push(service.close)
    const { origin, port } = new URL(service.baseUrl)
    const { code } = await mergeq(
      `queue get ${where}`,
      mergeSettings(withToken(origin), { env: { MERGEQ_BASE_URL: spell(Number(port)) } }),
    )
    expect(code).toBe(0)
    expect(service.requests.map(({ headers }) => headers['x-api-token'])).toEqual([token])
  })

  const owner = 'https://api.example.com'
  /** Everything that would leave this machine goes to a proxy on loopback, which lets nothing through. */
  const throughProxy = async (base: string, line: string) => {
    const { port, lines } = await listen()
    const env = {
      MERGEQ_BASE_URL: base,
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
      HTTP_PROXY: `http://127.0.0.1:${port}`,
    }
    const { code, out, err } = await mergeq(line, mergeSettings(withToken(owner), { env }))
    expect(err).not.toContain(token)
    return { code, out, err, lines }
  }

  test('the same origin, spelled otherwise, gets the token', async () => {
    const base = 'https://API.example.com:443/v1/'
    const status = await throughProxy(base, 'auth status --no-verify --json')
    expect({ code: status.code, ...JSON.parse(status.out), lines: status.lines }).toEqual({
      code: 0,
      source: `the stored token for ${owner}`,
      origin: owner,
      lastCharacters: 'b6aa',
      verification: 'skipped',
      lines: [],
    })
  })
  test('and a read is sent there', async () => {
    const { code, lines } = await throughProxy(
      'https://API.example.com:443/v1/',
      `queue get ${where} --retries 0`,
    )
    expect({ code, lines }).toEqual({ code: 7, lines: ['CONNECT api.example.com:443 HTTP/1.1'] })
  })

  const strangers: readonly (readonly [string, number, RegExp])[] = [
    ['https://api.example.com.evil.test', 4, /https:\/\/api\.example\.com\.evil\.test/],
    ['https://api.example.com.', 4, /is stored for .*, only for https:\/\/api\.example\.com/],
    ['https://api.example.com:8443', 4, /is stored for .*, only for https:\/\/api\.example\.com/],
    ['https://example.com', 4, /is stored for .*, only for https:\/\/api\.example\.com/],
    ['https://api.example.com@evil.test', 2, /user name/],
    ['https://api.example.com:x@evil.test/v1', 2, /user name/],
    ['http://api.example.com/v1', 2, /https/],
  ]
  test.each(strangers)('%s gets no token and no connection: exit %i', async (base, expected, why) => {
    for (const line of [`queue get ${where}`, `pr cancel 7 ${where}`, 'auth status', 'auth token']) {
      const { code, out, err, lines } = await throughProxy(base, line)
      expect({ line, code, out, lines }).toEqual({ line, code: expected, out: '', lines: [] })
      expect(err).toMatch(why)
    }
  })

  test('a login is for the origin of the base URL, whatever its path', async () => {
    const service = await serveScript(() => ({}))
    closing.push(service.close)
    const { home, run, work } = openPlace()
    writeFileSync(join(work, 'token'), token)
    chmodSync(join(work, 'token'), 0o600)
    const { origin } = new URL(service.baseUrl)
    const line = `'${launcher}' auth login --with-token --base-url ${origin}/some/where/ < token`
    const { exitCode } = await execa('sh', ['-c', line], {
      cwd: work,
      env: bareEnvironment(home),
      extendEnv: false,
      reject: false,
    })
    expect(exitCode).toBe(0)
    expect(service.requests.map(({ path }) => path)).toEqual(['/some/where/getMergeQueueMetrics'])
    expect(
      JSON.parse((await run('auth status --json', { env: { MERGEQ_BASE_URL: service.baseUrl } })).out).origin,
    ).toBe(origin)
    expect((await run('auth status')).code).toBe(4)
  })
})
