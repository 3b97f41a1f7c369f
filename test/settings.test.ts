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
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { mergeq, type Setting, serveScript } from './harness.ts'
import { bareEnvironment, launcher } from './programs.ts'

const token = 'tok_4f2a9c1e77d0b6aa'
const mustRun = process.env.MERGEQ_TEST_NO_SKIP === '1'

const places: string[] = []
const closing: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(closing.splice(0).map(close => close())))
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

/** A world in which settings are stored. */
const file = '/home/me/.config/mergeq/config.json'
const stored = (document: unknown): Pick<Setting, 'env' | 'files'> => ({
  env: { HOME: '/home/me' },
  files: { [file]: JSON.stringify(document) },
})
const profiles = (of: Readonly<Record<string, Readonly<Record<string, string>>>>) => stored({ profiles: of })

/** Two settings as one; the second wins. */
const both = (one: Setting, other: Setting): Setting => ({
  ...one,
  ...other,
  env: { ...one.env, ...other.env },
  files: { ...one.files, ...other.files },
})

const requestIn = (out: string) => JSON.parse(out) as { url: string; body?: Record<string, unknown> }

describe('each value comes from the first that has it: flag, environment, project file, profile, default', () => {
  interface Rung {
    readonly origin: string
    readonly value: string
    readonly words?: string
    readonly host?: Setting
  }
  const flag = (name: string, value: string): Rung => ({ origin: name, value, words: `${name} ${value}` })
  const variable = (name: string, value: string): Rung => ({
    origin: name,
    value,
    host: { env: { [name]: value } },
  })
  const project = (key: string, value: string): Rung => ({
    origin: '/repo/.mergeq.json',
    value,
    host: { files: { '/repo/.mergeq.json': JSON.stringify({ [key]: value }) } },
  })
  const profile = (key: string, value: string): Rung => ({
    origin: 'profile default',
    value,
    host: profiles({ default: { [key]: value } }),
  })
  const fallback = (value: string): Rung => ({ origin: 'default', value })

  const ladders: Readonly<Record<string, readonly Rung[]>> = {
    repo: [
      flag('--repo', 'from/flag'),
      variable('MERGEQ_REPO', 'from/env'),
      project('repo', 'from/project'),
      profile('repo', 'from/profile'),
    ],
    'target-branch': [
      flag('--target-branch', 'from-flag'),
      variable('MERGEQ_TARGET_BRANCH', 'from-env'),
      project('targetBranch', 'from-project'),
      profile('target-branch', 'from-profile'),
    ],
    org: [
      flag('--org', 'from-flag'),
      variable('MERGEQ_ORG', 'from-env'),
      variable('TRUNK_ORG_URL_SLUG', 'from-trunk'),
      project('org', 'from-project'),
      profile('org', 'from-profile'),
    ],
    'base-url': [
      flag('--base-url', 'https://flag.test/v1'),
      variable('MERGEQ_BASE_URL', 'https://env.test/v1'),
      profile('base-url', 'https://profile.test/v1'),
      fallback('https://api.trunk.io/v1'),
    ],
    timeout: [flag('--timeout', '1s'), variable('MERGEQ_TIMEOUT', '2s'), profile('timeout', '3s')],
    retries: [
      flag('--retries', '7'),
      variable('MERGEQ_RETRIES', '8'),
      profile('retries', '9'),
      fallback('3'),
    ],
    color: [
      flag('--color', 'always'),
      variable('MERGEQ_COLOR', 'never'),
      profile('color', 'always'),
      fallback('auto'),
    ],
  }
  const steps = Object.entries(ladders).flatMap(([key, rungs]) =>
    rungs.map((rung, index) => [key, rung.origin, rungs.slice(index)] as const),
  )

  test.each(steps)('S1 %s from %s', async (key, origin, rungs) => {
    const host = rungs.reduce<Setting>((all, rung) => both(rung.host ?? {}, all), {})
    const words = rungs[0]?.words ?? ''
    const [list, get] = [
      await mergeq(`config list --show-origin ${words}`, host),
      await mergeq(`config get ${key} --json ${words}`, host),
    ]
    expect({ code: list.code, err: list.err }).toEqual({ code: 0, err: '' })
    const value = rungs[0]?.value
    expect(list.out.split('\n').filter(line => line.startsWith(`${key}\t`))).toEqual([
      `${key}\t${value}\t${origin}`,
    ])
    expect(JSON.parse(get.out)).toEqual({ key, value, origin })
  })

  test.each(Object.keys(ladders))('S1 an empty variable for %s counts as unset', async key => {
    const empty = { MERGEQ_REPO: '', MERGEQ_TARGET_BRANCH: '', MERGEQ_ORG: '', TRUNK_ORG_URL_SLUG: '' }
    const more = {
      MERGEQ_BASE_URL: '',
      MERGEQ_TIMEOUT: '',
      MERGEQ_RETRIES: '',
      MERGEQ_COLOR: '',
      MERGEQ_OUTPUT: '',
      MERGEQ_PROFILE: '',
    }
    const rungs = ladders[key]?.filter(({ origin }) => /^(profile|default)/.test(origin)) ?? []
    const host = rungs.reduce<Setting>((all, rung) => both(rung.host ?? {}, all), {
      env: { ...empty, ...more },
    })
    expect((await mergeq(`config get ${key}`, host)).out).toBe(`${rungs[0]?.value}\n`)
  })

  const outputs: readonly (readonly [string, string, Setting, string])[] = [
    [
      '--output',
      '-o json',
      { env: { MERGEQ_OUTPUT: 'csv' } },
      '{"key":"retries","value":"3","origin":"default"}\n',
    ],
    [
      '--json',
      '--json',
      { env: { MERGEQ_OUTPUT: 'csv' } },
      '{"key":"retries","value":"3","origin":"default"}\n',
    ],
    [
      'MERGEQ_OUTPUT',
      '',
      { env: { MERGEQ_OUTPUT: 'csv' }, files: { '/repo/.mergeq.json': '{"output":"markdown"}' } },
      'value\r\n3\r\n',
    ],
    [
      'the project file',
      '',
      both(profiles({ default: { output: 'json' } }), {
        files: { '/repo/.mergeq.json': '{"output":"markdown"}' },
      }),
      '| value |\n| --- |\n| 3 |\n',
    ],
    [
      'the profile',
      '',
      profiles({ default: { output: 'ndjson' } }),
      '{"key":"retries","value":"3","origin":"default"}\n',
    ],
    ['the default', '', {}, '3\n'],
  ]
  test.each(outputs)('S1 the output from %s', async (_, words, host, out) => {
    expect(await mergeq(`config get retries ${words}`, host)).toMatchObject({ code: 0, out, err: '' })
  })

  test('S1 `config list --show-origin` tells all of them, as a table and as JSON', async () => {
    const host = both(profiles({ default: { 'target-branch': 'main', retries: '5' } }), {
      env: { MERGEQ_ORG: 'acme' },
      files: { '/repo/.mergeq.json': '{"repo":"acme/web"}' },
    })
    const json = await mergeq('config list --show-origin --json --color never', host)
    expect(JSON.parse(json.out)).toEqual([
      { key: 'repo', value: 'acme/web', origin: '/repo/.mergeq.json' },
      { key: 'target-branch', value: 'main', origin: 'profile default' },
      { key: 'org', value: 'acme', origin: 'MERGEQ_ORG' },
      { key: 'base-url', value: 'https://api.trunk.io/v1', origin: 'default' },
      { key: 'output', value: 'table', origin: 'default' },
      { key: 'retries', value: '5', origin: 'profile default' },
      { key: 'color', value: 'never', origin: '--color' },
    ])
    const table = await mergeq('config list --show-origin --color never', { ...host, terminal: true })
    expect(table.out).toBe(
      [
        'KEY            VALUE                    ORIGIN',
        'repo           acme/web                 /repo/.mergeq.json',
        'target-branch  main                     profile default',
        'org            acme                     MERGEQ_ORG',
        'base-url       https://api.trunk.io/v1  default',
        'output         table                    default',
        'retries        5                        profile default',
        'color          never                    --color',
        '',
      ].join('\n'),
    )
  })

  test('S1 a request is made of them, and -v says on standard error where each came from', async () => {
    const host = both(profiles({ default: { 'target-branch': 'release' } }), {
      env: { MERGEQ_BASE_URL: 'https://env.test/v1' },
      files: { '/repo/.mergeq.json': '{"repo":"acme/web"}' },
    })
    const { code, out, err } = await mergeq('queue get --dry-run -v', host)
    expect(code).toBe(0)
    expect(requestIn(out)).toMatchObject({
      url: 'https://env.test/v1/getQueue',
      body: { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'release' },
    })
    for (const said of [
      /acme\/web.*\/repo\/\.mergeq\.json/,
      /release.*profile default/,
      /https:\/\/env\.test\/v1.*MERGEQ_BASE_URL/,
    ])
      expect(err).toMatch(said)
  })

  const wrong: readonly (readonly [string, Setting])[] = [
    ['MERGEQ_REPO', { env: { MERGEQ_REPO: 'web' } }],
    ['/repo/.mergeq.json', { files: { '/repo/.mergeq.json': '{"repo":"web"}' } }],
    ['profile default', profiles({ default: { repo: 'web' } })],
    ['MERGEQ_OUTPUT', { env: { MERGEQ_OUTPUT: 'xml' } }],
    ['MERGEQ_RETRIES', { env: { MERGEQ_RETRIES: 'many' } }],
    ['MERGEQ_TIMEOUT', { env: { MERGEQ_TIMEOUT: '30' } }],
    ['MERGEQ_BASE_URL', { env: { MERGEQ_BASE_URL: 'api.trunk.io', MERGEQ_REPO: 'acme/web' } }],
    ['MERGEQ_COLOR', { env: { MERGEQ_COLOR: 'sometimes' } }],
  ]
  test.each(wrong)('S1 a bad value from %s is refused in its name', async (origin, host) => {
    const { code, out, err } = await mergeq('queue get -b main', host)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.startsWith(`mergeq: ${origin}: `)).toBe(true)
  })

  test.each([
    ['output', 'xml', 'config unset output'],
    ['retries', 'many', 'config unset retries'],
  ])('a bad stored %s names its key, its file and the command that changes it', async (key, value, fix) => {
    const { code, err } = await mergeq(
      'queue get -R acme/web -b main',
      profiles({ default: { [key]: value } }),
    )
    expect(code).toBe(2)
    expect(err).toMatch(/^mergeq: profile default: /)
    expect(err).toContain(`${key} in ${file}: '${value}' `)
    expect(err).toContain(`\`mergeq ${fix}\``)
    const other = await mergeq(
      `queue get -R acme/web -b main --profile work`,
      profiles({ work: { [key]: value } }),
    )
    expect(other.err).toContain(`\`mergeq ${fix} --profile work\``)
  })

  test('a bad value in a project file names its key', async () => {
    const { err } = await mergeq('queue get -b main', { files: { '/repo/.mergeq.json': '{"output":"xml"}' } })
    expect(err).toContain("/repo/.mergeq.json: output: 'xml' ")
  })

  test.each(['7abc', '007', 'https://github.com/acme'])(
    'MERGEQ_PR=%s is refused in the name of the variable',
    async value => {
      const { code, out, err } = await mergeq('pr get -R acme/web -b main', { env: { MERGEQ_PR: value } })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toContain(`mergeq: MERGEQ_PR: '${value}' is not a pull request.`)
    },
  )

  test('S1 what nothing gives is asked for by flag and variable', async () => {
    const { code, out, err } = await mergeq('queue get')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^mergeq: No repository was given\.\n {2}.*--repo.*MERGEQ_REPO/)
  })
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

  test('S2 the profile goes before both', async () => {
    const opened = openCheckout()
    await opened.run('config set repo from/profile')
    await opened.run('config set target-branch from-profile')
    expect(await made(opened, ci)).toEqual(asked('profile', 'from-profile'))
  })
  test('S2 the CI job goes before git', async () => {
    expect(await made(openCheckout(), ci)).toEqual(asked('ci', 'from-ci'))
  })
  test('S2 git goes last', async () => {
    expect(await made(openCheckout(), {})).toEqual(asked('git', 'from-git'))
  })
  test('S2 `config list --show-origin` names the CI job and git as origins', async () => {
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
  test.each(places)('S3 %s', async (_, files, out) => {
    const ran = await mergeq('config get repo', { files })
    expect({ code: ran.code, out: ran.out }).toEqual({ code: out === '' ? 5 : 0, out })
  })

  test('S3 it is found from deep inside a real checkout, a worktree among them', async () => {
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
  test.each(refused)('S3 %j in it is refused, and its value not repeated', async key => {
    const content = `{"repo":"acme/web",${JSON.stringify(key)}:${JSON.stringify(`https://evil.test/${token}`)}}`
    const { code, out, err, requests } = await mergeq('queue get -b main', {
      files: { '/repo/.mergeq.json': content },
      answer: () => ({ body: '{}' }),
    })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err.startsWith(`mergeq: /repo/.mergeq.json holds ${key}`)).toBe(true)
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
  test.each(unreadable)('S3 one that is %s is refused by its path', async (_, content) => {
    const { code, out, err } = await mergeq('queue get', { files: { '/repo/.mergeq.json': content } })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.startsWith('mergeq: /repo/.mergeq.json')).toBe(true)
  })

  const odd: readonly (readonly [string, (path: string) => void])[] = [
    ['a folder', path => mkdirSync(path)],
    ['a FIFO', path => execFileSync('mkfifo', [path])],
    ['larger than any settings', path => writeFileSync(path, `{"repo":"${'x'.repeat(70_000)}/web"}`)],
  ]
  test.each(odd)('S3 one that is %s is refused by its path, without a hang', async (_, make) => {
    const { run, work } = openPlace()
    make(join(work, '.mergeq.json'))
    const { code, out, err } = await run('queue get')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.startsWith(`mergeq: ${join(work, '.mergeq.json')}`)).toBe(true)
  })

  test('S3 what stands above the working folder, outside a checkout, is not looked into', async () => {
    const { run, work } = openPlace()
    mkdirSync(join(work, '.mergeq.json'))
    mkdirSync(join(work, 'below'))
    expect((await run('config get retries', { cwd: join(work, 'below') })).out).toBe('3\n')
  })

  test('S3 nothing else in the working folder changes where a token goes', async () => {
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
    ['that of MERGEQ_PROFILE', 'in/work', both(two, { env: { MERGEQ_PROFILE: 'work' } })],
    ['that of --profile before MERGEQ_PROFILE', 'in/work', both(two, { env: { MERGEQ_PROFILE: 'none' } })],
  ]
  test.each(choices)('S4 %s is used', async (name, repo, host) => {
    const words = name.includes('--profile') ? '--profile work' : ''
    const { code, out } = await mergeq(`config get repo --json ${words}`, host)
    expect({ code, ...JSON.parse(out) }).toEqual({
      code: 0,
      key: 'repo',
      value: repo,
      origin: `profile ${repo.slice(3)}`,
    })
  })

  test('S4 profiles do not inherit from each other', async () => {
    expect((await mergeq('config get org --profile work', two)).code).toBe(5)
  })

  test.each(['config get repo', 'queue get', 'auth status', 'config list'])(
    'S4 `%s` under a profile that was never made is refused, with the way to make it',
    async line => {
      const { code, out, err, requests } = await mergeq(
        `${line} --profile wrok`,
        both(two, { answer: () => ({}) }),
      )
      expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
      expect(err).toBe(
        'mergeq: There is no profile wrok.\n  Make it with `mergeq config set <key> <value> --profile wrok`.\n',
      )
    },
  )

  test('S4 neither the project file nor a profile chooses the profile', async () => {
    const host = both(
      stored({ profiles: { default: { profile: 'work', repo: 'in/default' }, work: { repo: 'in/work' } } }),
      {},
    )
    expect((await mergeq('config get repo', host)).out).toBe('in/default\n')
  })

  test('S4 `--profile x config set` makes it, and each has its own values', async () => {
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

  test('S4 `config unset` does not make a profile', async () => {
    const { home, run } = openPlace()
    expect((await run('config unset repo --profile ghost')).code).toBe(2)
    expect(readdirSync(home)).toEqual([])
  })
})

describe('the config commands', () => {
  test('S5 get prints the value alone; what is not set is told, with 5', async () => {
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
      'an empty XDG_CONFIG_HOME',
      { env: { HOME: '/home/me', XDG_CONFIG_HOME: '' } },
      '/home/me/.config/mergeq/config.json\n',
    ],
  ]
  test.each(paths)('S5 path by %s', async (_, host, out) => {
    expect(await mergeq('config path', host)).toMatchObject({ code: 0, out, err: '' })
  })

  test('S5 stored, listed, read, removed: a file as a person would write it', async () => {
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
    'S5 `%s` mends a stored value that stops every other command',
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
    'S5 `%s` does not print the password of a base address that is refused everywhere else',
    async line => {
      const env = { MERGEQ_BASE_URL: `https://me:${token}@h.test/v1`, MERGEQ_TOKEN: '' }
      const { out, err } = await mergeq(line, { env })
      for (const text of [out, err]) expect(text).not.toContain(token)
    },
  )
})

describe('small print of the settings', () => {
  const urlOf = async (line: string, host: Setting = {}) => {
    const { code, out, err } = await mergeq(`${line} --dry-run`, host)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return requestIn(out).url
  }
  const all = 'https://api.trunk.io/v1/getMergeQueueMetrics'
  const one = `${all}?repo=acme%2Fweb&repoHost=github.com`

  test('S6 `metrics` takes the repository from a flag or the environment only, and always with its host', async () => {
    const elsewhere = both(profiles({ default: { repo: 'acme/web' } }), {
      files: { '/repo/.mergeq.json': '{"repo":"acme/web"}' },
    })
    expect(await urlOf('metrics', elsewhere)).toBe(all)
    expect(await urlOf('metrics --repo acme/web')).toBe(one)
    expect(await urlOf('metrics', { env: { MERGEQ_REPO: 'acme/web' } })).toBe(one)
    expect(await urlOf('metrics --all-repos', { env: { MERGEQ_REPO: 'acme/web' } })).toBe(all)
    expect(await urlOf('metrics -R git.test/acme/sub/web')).toBe(
      `${all}?repo=acme%2Fsub%2Fweb&repoHost=git.test`,
    )
    expect((await mergeq('metrics --all-repos --repo acme/web')).code).toBe(2)
  })

  const merging = (states: readonly string[]) => (_: unknown, index: number) => ({
    body: JSON.stringify({
      state: states[Math.min(index, states.length - 1)],
      isCurrentlySubmittedToQueue: states[Math.min(index, states.length - 1)] !== 'MERGED',
      prNumber: 7,
    }),
  })
  const wait = 'pr wait 7 -R acme/web -b main --interval 30s'
  const limits: readonly (readonly [string, Setting])[] = [
    ['environment', { env: { MERGEQ_TIMEOUT: '20s' } }],
    ['profile', profiles({ default: { timeout: '20s' } })],
  ]
  test.each(limits)('S6 a timeout from the %s limits attempts only, not the wait', async (_, host) => {
    const { code, requests } = await mergeq(
      wait,
      both(host, { answer: merging(['TESTING', 'TESTING', 'MERGED']) }),
    )
    expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 3 })
  })
  test('S6 the typed one limits the whole wait', async () => {
    const { code } = await mergeq(`${wait} --timeout 45s`, { answer: merging(['TESTING']) })
    expect(code).toBe(124)
  })
})

describe('B1 B2 the base address', () => {
  const where = '-R acme/web -b main'
  const urlOf = async (base: string) => {
    const { code, out, err } = await mergeq(`queue get ${where} --dry-run`, {
      env: { MERGEQ_BASE_URL: base },
    })
    expect({ base, code, err }).toEqual({ base, code: 0, err: '' })
    return requestIn(out).url
  }
  const same: readonly (readonly [string, string])[] = [
    ['https://h/v1', 'https://h/v1/getQueue'],
    ['https://h/v1/', 'https://h/v1/getQueue'],
    ['https://h/v1//', 'https://h/v1/getQueue'],
    ['HTTPS://H:443/v1', 'https://h/v1/getQueue'],
    ['https://h', 'https://h/getQueue'],
    ['https://h/', 'https://h/getQueue'],
    ['https://h:8443/a/b/v1/', 'https://h:8443/a/b/v1/getQueue'],
    ['https://[2001:db8::1]:8443/v1', 'https://[2001:db8::1]:8443/v1/getQueue'],
    ['https://münchen.test/v1', 'https://xn--mnchen-3ya.test/v1/getQueue'],
  ]
  test.each(same)('B1 %s asks for %s', async (base, url) => {
    expect(await urlOf(base)).toBe(url)
    const flag = await mergeq(['queue', 'get', ...where.split(' '), '--dry-run', '--base-url', base])
    expect(requestIn(flag.out).url).toBe(url)
  })

  test.each(['', '/', '//', '///'])(
    'B1 on the wire the path is asked for once, with %j at the end of the address',
    async end => {
      const service = await serveScript(() => ({ body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }))
      closing.push(service.close)
      const { code } = await mergeq(`queue get ${where}`, {
        env: { MERGEQ_BASE_URL: `${service.baseUrl}${end}` },
      })
      expect(code).toBe(0)
      expect(service.requests.map(({ method, path }) => [method, path])).toEqual([['POST', '/v1/getQueue']])
    },
  )

  const refused: readonly (readonly [string, RegExp])[] = [
    ['http://example.com/v1', /https/],
    ['http://10.0.0.1/v1', /https/],
    ['http://0.0.0.0/v1', /https/],
    ['http://128.0.0.1/v1', /https/],
    ['http://[::2]/v1', /https/],
    ['http://localhost.evil.test/v1', /https/],
    ['http://127.0.0.1.evil.test/v1', /https/],
    ['http://evil.test/127.0.0.1', /https/],
    ['HTTP://EXAMPLE.COM', /https/],
    ['ftp://127.0.0.1/v1', /https/],
    ['file:///etc/passwd', /https/],
    ['127.0.0.1/v1', /https/],
    ['//h/v1', /https/],
    ['/v1', /https/],
    ['https://', /https/],
    [`https://me@h/v1`, /user name/],
    [`https://me:${token}@h/v1`, /user name/],
    [`https://:${token}@h/v1`, /user name/],
    [`http://${token}@127.0.0.1/v1`, /user name/],
    ['https://h/v1?x=1', /query/],
    ['https://h/v1?', /query/],
    ['https://h/v1#x', /fragment/],
    ['https://h/v1#', /fragment/],
  ]
  test.each(refused)('B2 %s is refused, from wherever it comes', async (base, why) => {
    const sources: readonly (readonly [string, Setting])[] = [
      [`--base-url ${base}`, { env: { MERGEQ_TOKEN: '' } }],
      ['', { env: { MERGEQ_BASE_URL: base, MERGEQ_TOKEN: '' } }],
      ['', both({ env: { MERGEQ_TOKEN: '' } }, profiles({ default: { 'base-url': base } }))],
    ]
    for (const [words, host] of sources)
      for (const line of [
        `queue get ${where}`,
        `queue get ${where} --dry-run`,
        'auth status',
        'auth logout',
      ]) {
        const { code, out, err } = await mergeq(`${line} ${words}`, host)
        expect({ line, code, out }).toEqual({ line, code: 2, out: '' })
        expect(err).toMatch(why)
        expect(err).not.toContain(token)
      }
  })

  test('B2 no flag allows http, nor does any variable', async () => {
    const env = {
      MERGEQ_BASE_URL: 'http://example.com/v1',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      MERGEQ_INSECURE: '1',
    }
    for (const words of ['', '--ca-file /etc/ca.pem', '-q', '--no-input'])
      expect((await mergeq(`queue get ${where} --dry-run ${words}`, { env })).code).toBe(2)
    for (const flag of ['--insecure', '-k', '--no-verify', '--http'])
      expect((await mergeq(`queue get ${where} --dry-run ${flag}`, { env })).code).toBe(2)
  })

  test.each([
    'http://127.0.0.1:9/v1',
    'http://127.8.9.10/v1',
    'http://localhost:9/v1',
    'http://LOCALHOST/v1',
    'http://[::1]:9/v1',
    'http://127.1/v1',
  ])('B2 %s is loopback, and accepted', async base => {
    expect(await urlOf(base)).toMatch(/^http:\/\/.*\/v1\/getQueue$/)
  })

  const hasIpv6 = Object.values(networkInterfaces()).some(list =>
    list?.some(({ address }) => address === '::1'),
  )
  const testIpv6 = hasIpv6 || mustRun ? test : test.skip
  testIpv6('B12 an IPv6 loopback address works, and messages keep its brackets', async () => {
    const seen: string[] = []
    const server = createHttpServer((request, response) => {
      seen.push(`${request.method} ${request.headers.host} ${request.url}`)
      if (seen.length === 1) response.end('{"state":"RUNNING","enqueuedPullRequests":[]}')
      else response.writeHead(500).end()
    }).listen(0, '::1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const env = { MERGEQ_BASE_URL: `http://[::1]:${port}/v1` }
    const line = `queue get ${where} --retries 0`
    expect(await mergeq(line, { env })).toMatchObject({ code: 0, err: '' })
    const failed = await mergeq(line, { env })
    expect(failed.code).toBe(7)
    expect(failed.err).toContain(`[::1]:${port}`)
    expect(seen).toEqual([`POST [::1]:${port} /v1/getQueue`, `POST [::1]:${port} /v1/getQueue`])
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    const gone = await mergeq(line, { env })
    expect(gone.code).toBe(7)
    expect(gone.err).toContain(`[::1]:${port}`)
    const status = await mergeq('auth status --json', { env })
    expect(JSON.parse(status.out).origin).toBe(`http://[::1]:${port}`)
  })
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

describe('A8 B14 a stored token belongs to one origin', () => {
  const where = '-R acme/web -b main'
  const withToken = (origin: string): Setting =>
    both({ env: { MERGEQ_TOKEN: '' } }, stored({ tokens: { [origin]: token } }))

  test('A8 for another address it is refused before a socket opens, and the way to log in there is told', async () => {
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
        both(withToken('https://a.test'), { env: { MERGEQ_BASE_URL: base } }),
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
  test.each(foreign)('A8 %s is another origin', async (_, owner, base) => {
    const { port, connections } = await listen()
    const { code } = await mergeq(
      `queue get ${where}`,
      both(withToken(owner(port)), { env: { MERGEQ_BASE_URL: base(port) } }),
    )
    expect({ code, connections: connections() }).toEqual({ code: 4, connections: 0 })
  })

  test.each([
    (port: number) => `http://127.1:${port}/v1`,
    (port: number) => `HTTP://127.0.0.1:${port}/other/v2/`,
  ])('A8 the same origin in another spelling gets it (%#)', async spell => {
    const service = await serveScript(() => ({ body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }))
    closing.push(service.close)
    const { origin, port } = new URL(service.baseUrl)
    const { code } = await mergeq(
      `queue get ${where}`,
      both(withToken(origin), { env: { MERGEQ_BASE_URL: spell(Number(port)) } }),
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
    const { code, out, err } = await mergeq(line, both(withToken(owner), { env }))
    expect(err).not.toContain(token)
    return { code, out, err, lines }
  }

  test('B14 the same origin, spelt otherwise, gets the token', async () => {
    const base = 'https://API.example.com:443/v1/'
    const status = await throughProxy(base, 'auth status --json')
    expect({ code: status.code, ...JSON.parse(status.out), lines: status.lines }).toEqual({
      code: 0,
      source: `the stored token for ${owner}`,
      origin: owner,
      lastCharacters: 'b6aa',
      lines: [],
    })
  })
  test('B14 and a read goes there', async () => {
    const { code, lines } = await throughProxy(
      'https://API.example.com:443/v1/',
      `queue get ${where} --retries 0`,
    )
    expect({ code, lines }).toEqual({ code: 7, lines: ['CONNECT api.example.com:443 HTTP/1.1'] })
  })

  const strangers: readonly (readonly [string, number, RegExp])[] = [
    ['https://api.example.com.evil.test', 4, /https:\/\/api\.example\.com\.evil\.test/],
    ['https://api.example.com.', 4, /belongs to https:\/\/api\.example\.com/],
    ['https://api.example.com:8443', 4, /belongs to https:\/\/api\.example\.com/],
    ['https://example.com', 4, /belongs to https:\/\/api\.example\.com/],
    ['https://api.example.com@evil.test', 2, /user name/],
    ['https://api.example.com:x@evil.test/v1', 2, /user name/],
    ['http://api.example.com/v1', 2, /https/],
  ]
  test.each(strangers)('B14 %s gets no token and no connection: exit %i', async (base, expected, why) => {
    for (const line of [`queue get ${where}`, `pr cancel 7 ${where}`, 'auth status', 'auth token']) {
      const { code, out, err, lines } = await throughProxy(base, line)
      expect({ line, code, out, lines }).toEqual({ line, code: expected, out: '', lines: [] })
      expect(err).toMatch(why)
    }
  })

  test('B14 a login is for the origin of its address, whatever its path', async () => {
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
