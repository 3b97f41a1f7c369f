import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import { mergeq, type Setting, serveScript } from '../support/harness.ts'
import { closing, file, mergeSettings, profiles, requestIn, token } from '../support/settings-sources.ts'

const mustRun = process.env.MERGEQ_TEST_NO_SKIP === '1'

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

  test.each(steps)('%s from %s', async (key, origin, rungs) => {
    const host = rungs.reduce<Setting>((all, rung) => mergeSettings(rung.host ?? {}, all), {})
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

  test.each(Object.keys(ladders))('an empty variable for %s counts as unset', async key => {
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
    const host = rungs.reduce<Setting>((all, rung) => mergeSettings(rung.host ?? {}, all), {
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
      mergeSettings(profiles({ default: { output: 'json' } }), {
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
  test.each(outputs)('the output from %s', async (_, words, host, out) => {
    expect(await mergeq(`config get retries ${words}`, host)).toMatchObject({ code: 0, out, err: '' })
  })

  test('`config list --show-origin` prints all origins, as a table and as JSON', async () => {
    const host = mergeSettings(profiles({ default: { 'target-branch': 'main', retries: '5' } }), {
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
    const narrow = await mergeq('config list --show-origin --color never', {
      ...host,
      terminal: true,
      columns: 45,
    })
    expect(narrow.out).toContain(
      [
        'KEY            VALUE           ORIGIN',
        'repo           acme/web        /repo/.mergeq.',
        '                               json',
        'target-branch  main            profile',
        '                               default',
        'org            acme            MERGEQ_ORG',
        'base-url       https://api.tr  default',
        '               unk.io/v1',
        '',
      ].join('\n'),
    )
  })

  test('a request is made of them, and -v says on standard error where each came from', async () => {
    const host = mergeSettings(profiles({ default: { 'target-branch': 'release' } }), {
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
  test.each(wrong)('a bad value from %s is refused in its name', async (origin, host) => {
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

  test('the error for a missing setting names its option and variable', async () => {
    const { code, out, err } = await mergeq('queue get')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^mergeq: No repository was given\.\n {2}.*--repo.*MERGEQ_REPO/)
  })
})

describe('details of the settings', () => {
  const urlOf = async (line: string, host: Setting = {}) => {
    const { code, out, err } = await mergeq(`${line} --dry-run`, host)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return requestIn(out).url
  }
  const all = 'https://api.trunk.io/v1/getMergeQueueMetrics'
  const one = `${all}?repo=acme%2Fweb&repoHost=github.com`

  test('`metrics` takes the repository from a flag or the environment only, and always with its host', async () => {
    const elsewhere = mergeSettings(profiles({ default: { repo: 'acme/web' } }), {
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
  test.each(limits)('a timeout from the %s limits attempts only, not the wait', async (_, host) => {
    const { code, requests } = await mergeq(
      wait,
      mergeSettings(host, { answer: merging(['TESTING', 'TESTING', 'MERGED']) }),
    )
    expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 3 })
  })
  test('the typed one limits the whole wait', async () => {
    const { code } = await mergeq(`${wait} --timeout 45s`, { answer: merging(['TESTING']) })
    expect(code).toBe(124)
  })
})

describe('the base address', () => {
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
  test.each(same)('%s asks for %s', async (base, url) => {
    expect(await urlOf(base)).toBe(url)
    const flag = await mergeq(['queue', 'get', ...where.split(' '), '--dry-run', '--base-url', base])
    expect(requestIn(flag.out).url).toBe(url)
  })

  test.each(['', '/', '//', '///'])(
    'on the wire the path is asked for once, with %j at the end of the address',
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
  test.each(refused)('%s is refused, from wherever it comes', async (base, why) => {
    const sources: readonly (readonly [string, Setting])[] = [
      [`--base-url ${base}`, { env: { MERGEQ_TOKEN: '' } }],
      ['', { env: { MERGEQ_BASE_URL: base, MERGEQ_TOKEN: '' } }],
      ['', mergeSettings({ env: { MERGEQ_TOKEN: '' } }, profiles({ default: { 'base-url': base } }))],
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

  test('no flag allows http, nor does any variable', async () => {
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
  ])('%s is loopback, and accepted', async base => {
    expect(await urlOf(base)).toMatch(/^http:\/\/.*\/v1\/getQueue$/)
  })

  const hasIpv6 = Object.values(networkInterfaces()).some(list =>
    list?.some(({ address }) => address === '::1'),
  )
  const testIpv6 = hasIpv6 || mustRun ? test : test.skip
  testIpv6('an IPv6 loopback address works, and messages keep its brackets', async () => {
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
    const status = await mergeq('auth status --no-verify --json', { env })
    expect(JSON.parse(status.out).origin).toBe(`http://[::1]:${port}`)
  })
})
