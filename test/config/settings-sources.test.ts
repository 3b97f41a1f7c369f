import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../support/command-checks.ts'
import { mergeq, type Setting } from '../support/harness.ts'
import { file, mergeSettings, profiles, requestIn, runningQueue } from '../support/settings-sources.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { token } from '../support/tokens.ts'

const at = '-R acme/web -b main'
const projectFile = (document: object) => ({ files: { '/repo/.mergeq.json': JSON.stringify(document) } })

describe('each value comes from the first that has it: flag, environment, project file, profile, default', () => {
  /** The sources of each setting in their order, and the value from each. */
  const ladders: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    repo: {
      '--repo': 'from/flag',
      MERGEQ_REPO: 'from/env',
      '/repo/.mergeq.json': 'from/project',
      'profile default': 'from/profile',
    },
    'target-branch': {
      '--target-branch': 'from-flag',
      MERGEQ_TARGET_BRANCH: 'from-env',
      '/repo/.mergeq.json': 'from-project',
      'profile default': 'from-profile',
    },
    org: {
      '--org': 'from-flag',
      MERGEQ_ORG: 'from-env',
      TRUNK_ORG_URL_SLUG: 'from-trunk',
      '/repo/.mergeq.json': 'from-project',
      'profile default': 'from-profile',
    },
    'base-url': {
      '--base-url': 'https://flag.test/v1',
      MERGEQ_BASE_URL: 'https://env.test/v1',
      'profile default': 'https://profile.test/v1',
      default: 'https://api.trunk.io/v1',
    },
    timeout: { '--timeout': '1s', MERGEQ_TIMEOUT: '2s', 'profile default': '3s' },
    retries: { '--retries': '7', MERGEQ_RETRIES: '8', 'profile default': '9', default: '3' },
    'ca-file': { '--ca-file': '/flag.pem', MERGEQ_CA_FILE: '/env.pem', 'profile default': '/profile.pem' },
    color: { '--color': 'always', MERGEQ_COLOR: 'never', 'profile default': 'always', default: 'auto' },
  }
  /** The world in which these sources give values to a setting. */
  const settingOf = (key: string, sources: readonly (readonly [origin: string, value: string])[]) =>
    sources.reduce<Setting>((all, [origin, value]) => {
      if (/^[A-Z_]+$/.test(origin)) return mergeSettings(all, { env: { [origin]: value } })
      if (origin === '/repo/.mergeq.json')
        return mergeSettings(all, projectFile({ [key === 'target-branch' ? 'targetBranch' : key]: value }))
      return origin === 'profile default' ? mergeSettings(all, profiles({ default: { [key]: value } })) : all
    }, {})
  const steps = Object.entries(ladders).flatMap(([key, ladder]) =>
    Object.entries(ladder).map(
      ([origin, value], index, rungs) => [key, origin, value, settingOf(key, rungs.slice(index))] as const,
    ),
  )
  test.each(steps)('%s from %s', async (key, origin, value, setting) => {
    const words = origin.startsWith('--') ? `${origin} ${value}` : ''
    const list = await mergeq(`config list --show-origin ${words}`, setting)
    expect({ code: list.code, err: list.err }).toEqual({ code: 0, err: '' })
    expect(list.out.split('\n').filter(line => line.startsWith(`${key}\t`))).toEqual([
      `${key}\t${value}\t${origin}`,
    ])
    const get = await mergeq(`config get ${key} --json ${words}`, setting)
    expect(JSON.parse(get.out)).toEqual({ key, value, origin })
  })

  test.each(Object.entries(ladders))('an empty variable for %s counts as unset', async (key, ladder) => {
    const rungs = Object.entries(ladder).filter(([origin]) => /^(profile|default)/.test(origin))
    const variables = Object.keys(ladder).filter(origin => /^(MERGEQ|TRUNK)_/.test(origin))
    const env = Object.fromEntries([...variables, 'MERGEQ_PROFILE', 'MERGEQ_OUTPUT'].map(name => [name, '']))
    expect((await mergeq(`config get ${key}`, mergeSettings(settingOf(key, rungs), { env }))).out).toBe(
      `${rungs[0]?.[1]}\n`,
    )
  })

  const json = '{"key":"retries","value":"3","origin":"default"}\n'
  const csv = { env: { MERGEQ_OUTPUT: 'csv' } }
  const markdown = projectFile({ output: 'markdown' })
  const ndjson = profiles({ default: { output: 'ndjson' } })
  const outputs: readonly (readonly [string, string, Setting, string])[] = [
    ['--output', '-o json', csv, json],
    ['--json', '--json', csv, json],
    ['MERGEQ_OUTPUT', '', { ...csv, ...markdown }, 'value\r\n3\r\n'],
    ['the project file', '', mergeSettings(ndjson, markdown), '| value |\n| --- |\n| 3 |\n'],
    ['the profile', '', ndjson, json],
    ['the default', '', {}, '3\n'],
  ]
  test.each(outputs)('the output from %s', async (_, words, host, out) => {
    expect(await mergeq(`config get retries ${words}`, host)).toMatchObject({ code: 0, out, err: '' })
  })

  const stored = (document: Readonly<Record<string, string | number>>) => profiles({ default: document })
  const wrong: readonly (readonly [says: string, setting: Setting, line?: string])[] = [
    ['MERGEQ_REPO: ', { env: { MERGEQ_REPO: 'web' } }],
    ['/repo/.mergeq.json: ', projectFile({ repo: 'web' })],
    ['profile default: ', stored({ repo: 'web' })],
    ['MERGEQ_OUTPUT: ', { env: { MERGEQ_OUTPUT: 'xml' } }],
    ["/repo/.mergeq.json: output: 'xml' ", projectFile({ output: 'xml' })],
    [`profile default: timeout in ${file}: '30' is not a duration.`, stored({ timeout: 30 }), 'config list'],
    ['MERGEQ_BASE_URL: ', { env: { MERGEQ_BASE_URL: 'http://example.com/v1' } }, 'auth logout'],
    ['--base-url: ', {}, `queue get ${at} --base-url http://example.com/v1`],
    [`profile default: base-url in ${file}: `, stored({ 'base-url': 'https://h/v1?' }), 'auth status'],
    ["MERGEQ_PR: '7abc' is not a pull request.", { env: { MERGEQ_PR: '7abc' } }, `pr get ${at}`],
    [
      'MERGEQ_CA_FILE: the file ca.pem does not exist.',
      { env: { MERGEQ_CA_FILE: 'ca.pem' } },
      `queue get ${at}`,
    ],
    // A stored one must not depend on the working directory.
    [`ca-file in ${file}: 'ca.pem' is `, stored({ 'ca-file': 'ca.pem' }), `queue get ${at}`],
  ]
  test.each(wrong.map(row => [row[0], row] as const))(
    'a bad value is refused in the name of its source: %s',
    async (_, [says, host, line = 'queue get -b main']) => {
      const ran = await mergeq(line, host)
      expectUsageError(ran)
      expect(ran.err.startsWith(`mergeq: ${says}`), ran.err).toBe(true)
    },
  )

  test('a bad stored value names its key, its file and the command that changes it', async () => {
    const { err } = await mergeq(`queue get ${at}`, stored({ retries: 'many' }))
    expect(err).toContain(`profile default: retries in ${file}: 'many' `)
    expect(err).toContain('run: mergeq config unset retries\n')
    const other = await mergeq(`queue get ${at} --profile work`, profiles({ work: { retries: 'many' } }))
    expect(other.err).toContain('run: mergeq config unset retries --profile work\n')
  })

  test('a stored number counts like its text', async () => {
    expect((await mergeq('config get retries', stored({ retries: 0 }))).out).toBe('0\n')
  })
})

test('the ref of a target branch is its name, in a queue file and in a comparison, too', async () => {
  const setting = projectFile({ targetBranch: 'refs/heads/main' })
  expect((await mergeq('config get target-branch', setting)).out).toBe('main\n')
  const files = { 'queue.yaml': 'repo: acme/web\ntargetBranch: refs/heads/main\nsettings:\n  mode: single\n' }
  const apply = await mergeq('queue apply -f queue.yaml', { files, answer: runningQueue })
  const compare = await mergeq(`queue diff ${at} --with-branch refs/heads/next`, { answer: runningQueue })
  const branches = [...apply.requests, ...compare.requests].map(({ body }) => JSON.parse(body).targetBranch)
  expect(new Set(branches)).toEqual(new Set(['main', 'next']))
})

test.each(['refs/heads/', ''])('a target branch without a name is refused: %j', async branch => {
  const ran = await mergeq(['queue', 'get', '-R', 'acme/web', '-b', branch])
  expectUsageError(ran, 'The target branch must not be empty.')
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
  ]
  test.each(places)('%s is used', async (_, files, out) => {
    const ran = await mergeq('config get repo', { files })
    expect({ code: ran.code, out: ran.out }).toEqual({ code: out === '' ? 5 : 0, out })
  })

  const refusedKeys = [
    'base-url',
    'baseUrl',
    'caFile',
    'token',
    'profile',
    'execPath',
    'HTTP_PROXY',
    'Command',
    'token-command',
  ]
  test.each(refusedKeys)('%j in it is refused, and its value not repeated', async key => {
    const content = `{"repo":"acme/web",${JSON.stringify(key)}:${JSON.stringify(`https://evil.test/${token}`)}}`
    const { code, out, err, requests } = await mergeq('queue get -b main', {
      files: { '/repo/.mergeq.json': content },
      answer: runningQueue,
    })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err.startsWith(`mergeq: /repo/.mergeq.json contains ${key}`)).toBe(true)
    expect(err).not.toMatch(/evil\.test|tok_/)
  })

  test('may have $schema; other keys are ignored with one remark, which -q hides', async () => {
    const settings = projectFile({
      $schema: 'https://evil.test/x.json',
      repo: 'acme/web',
      future: 7,
      __x: {},
    })
    const text = '/repo/.mergeq.json: 2 unknown keys ignored: future, __x.\n'
    for (const line of ['queue get -b main', 'queue get -b main --json', 'pr submit 7 8 -b main'])
      expect((await mergeq(line, { ...settings, answer: runningQueue })).err.split(text)).toHaveLength(2)
    const quiet = await mergeq('queue get -b main -q', { ...settings, answer: runningQueue })
    expect(quiet).toMatchObject({ code: 0, err: '' })
    const known = await mergeq('config get repo', projectFile({ $schema: 'x', repo: 'acme/web' }))
    expect(known).toMatchObject({ code: 0, out: 'acme/web\n', err: '' })
  })

  test('is ignored with MERGEQ_PROJECT_FILE=off, and with another value of it everything ends', async () => {
    const files = { '/repo/.mergeq.json': '{' }
    const off = await mergeq('config get repo', { files, env: { MERGEQ_PROJECT_FILE: 'off' } })
    expect(off).toMatchObject({ code: 5, out: '' })
    const other = await mergeq('queue get -b main', { files, env: { MERGEQ_PROJECT_FILE: 'no' } })
    expectUsageError(other, /^mergeq: MERGEQ_PROJECT_FILE: 'no' is not valid; must be off\./)
  })

  test.each(['', '["acme/web"]', 'null', '{"repo":7}'])(
    'with the content %j it is refused by its path',
    async content => {
      const { code, out, err } = await mergeq('queue get', { files: { '/repo/.mergeq.json': content } })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err.startsWith('mergeq: /repo/.mergeq.json')).toBe(true)
    },
  )

  const root = temporaryFolder('mergeq-project-')
  const odd: readonly (readonly [string, (path: string) => void])[] = [
    ['a FIFO', path => execFileSync('mkfifo', [path])],
    ['larger than 64 KiB', path => writeFileSync(path, `{"repo":"${'x'.repeat(70_000)}/web"}`)],
  ]
  test.each(odd)('that is %s is refused by its path, and does not matter below it', async (_, make) => {
    const cwd = mkdtempSync(join(root, 'work-'))
    make(join(cwd, '.mergeq.json'))
    const { code, out, err } = await mergeq('queue get', { cwd, realFiles: true })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.startsWith(`mergeq: ${join(cwd, '.mergeq.json')}`)).toBe(true)
    mkdirSync(join(cwd, 'below'))
    const below = await mergeq('config get retries', { cwd: join(cwd, 'below'), realFiles: true })
    expect(below).toMatchObject({ code: 0, out: '3\n', err: '' })
  })

  test('is the only file of the working folder that changes where a token is sent', async () => {
    const cwd = mkdtempSync(join(root, 'work-'))
    const lines = 'MERGEQ_BASE_URL=https://evil.test/v1\nMERGEQ_REPO=evil/evil\n'
    for (const name of ['.env', '.env.local', '.mergeqrc', '.npmrc']) writeFileSync(join(cwd, name), lines)
    const document = { mergeq: { baseUrl: 'https://evil.test' }, baseUrl: 'https://evil.test' }
    for (const name of ['mergeq.json', '.mergeqrc.json', 'mergeq.config.json', 'package.json'])
      writeFileSync(join(cwd, name), JSON.stringify(document))
    mkdirSync(join(cwd, '.config/mergeq'), { recursive: true })
    const settings = '{"profiles":{"default":{"base-url":"https://evil.test/v1"}}}'
    writeFileSync(join(cwd, '.config/mergeq/config.json'), settings)
    const setting: Setting = { cwd, realFiles: true, env: { HOME: join(cwd, 'home') } }
    expect((await mergeq('config get base-url', setting)).out).toBe('https://api.trunk.io/v1\n')
    expect((await mergeq('config get repo', setting)).code).toBe(5)
  })
})

describe('profiles', () => {
  const two = profiles({ default: { repo: 'in/default', org: 'acme' }, work: { repo: 'in/work' } })
  test.each([
    ['', '', 'default'],
    ['--profile work', '', 'work'],
    ['', 'work', 'work'],
    ['--profile work', 'none', 'work'],
  ])('with %j and MERGEQ_PROFILE=%s the profile is %s', async (words, variable, profile) => {
    const host = mergeSettings(two, { env: { MERGEQ_PROFILE: variable } })
    const { code, out } = await mergeq(`config get repo --json ${words}`, host)
    expect({ code, ...JSON.parse(out) }).toEqual({
      code: 0,
      key: 'repo',
      value: `in/${profile}`,
      origin: `profile ${profile}`,
    })
  })

  test('do not inherit from each other, and do not choose another', async () => {
    expect(await mergeq('config get org --profile work', two)).toMatchObject({ code: 5, out: '' })
    const choosing = profiles({ default: { profile: 'work', repo: 'in/default' }, work: { repo: 'in/work' } })
    expect((await mergeq('config get repo', choosing)).out).toBe('in/default\n')
  })

  test.each(['queue get', 'config list'])(
    '`%s` under a profile that was never made is refused, with the way to make it',
    async line => {
      const host = mergeSettings(two, { answer: runningQueue })
      const { code, out, err, requests } = await mergeq(`${line} --profile wrok`, host)
      expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
      expect(err).toBe(
        'mergeq: Profile not found: wrok.\n  Did you mean work?\n  To create it, use config set with --profile.\n',
      )
    },
  )
})

test('`metrics` does not take the repository from a project file or a profile', async () => {
  const setting = mergeSettings(
    profiles({ default: { repo: 'acme/web' } }),
    projectFile({ repo: 'acme/web' }),
  )
  const { out } = await mergeq('metrics --dry-run', setting)
  expect(requestIn(out).url).toBe('https://api.trunk.io/v1/getMergeQueueMetrics')
})

test('a timeout from the environment limits attempts only, not the wait', async () => {
  const answer = (_: unknown, index: number) => ({
    body: JSON.stringify({ state: index < 2 ? 'TESTING' : 'MERGED', prNumber: 7 }),
  })
  const setting = { env: { MERGEQ_TIMEOUT: '20s' }, answer }
  const { code, requests } = await mergeq(`pr wait 7 ${at} --interval 30s`, setting)
  expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 3 })
})
