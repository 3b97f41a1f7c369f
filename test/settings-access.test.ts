import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { accessProblems } from '../src/config/file-access.ts'
import { files } from '../src/host/files.ts'
import { mergeq, type Service, type Setting, serveScript } from './harness.ts'
import { bareEnvironment, launcher, testWith } from './programs.ts'

const services: Service[] = []
const places: string[] = []
afterEach(() => Promise.all(services.splice(0).map(service => service.close())))
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

const token = 'tok_4f2a9c1e77d0b6aa'
const folder = '/home/ada/.config/mergeq'
const file = `${folder}/config.json`
const [ada, bob] = [1_000, 1_001]
const [ownFolder, ownFile] = [
  { owner: ada, mode: 0o700, modifiedAt: 0 },
  { owner: ada, mode: 0o600, modifiedAt: 0 },
]

async function serve(): Promise<Service> {
  const service = await serveScript(() => ({ body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }))
  services.push(service)
  return service
}

/** The settings of ada, in which the base address leads to a service; who may use them is what a test says. */
const stored = (
  service: Service,
  access: Setting['access'],
  { env = {}, ...more }: Setting = {},
  tokens: Readonly<Record<string, string>> = {},
): Setting => ({
  files: { [file]: JSON.stringify({ profiles: { default: { 'base-url': service.baseUrl } }, tokens }) },
  user: ada,
  access: { [folder]: ownFolder, [file]: ownFile, ...access },
  env: { HOME: '/home/ada', MERGEQ_TOKEN: token, ...env },
  ...more,
})

const read = 'queue get -R acme/web -b main'

const foreign: readonly (readonly [string, Setting['access'], string])[] = [
  [
    'a file of another user',
    { [file]: { ...ownFile, owner: bob } },
    `${file} belongs to another user (uid 1001; this is uid 1000)`,
  ],
  [
    'a file of root',
    { [file]: { ...ownFile, owner: 0 } },
    `${file} belongs to another user (uid 0; this is uid 1000)`,
  ],
  [
    'a file that anyone can write',
    { [file]: { ...ownFile, mode: 0o666 } },
    `${file} can be written by others (mode 666)`,
  ],
  [
    'a folder of another user',
    { [folder]: { ...ownFolder, owner: bob } },
    `${folder} belongs to another user (uid 1001; this is uid 1000)`,
  ],
  [
    'a folder that anyone can write',
    { [folder]: { ...ownFolder, mode: 0o1777 } },
    `${folder} can be written by others (mode 777)`,
  ],
]

describe('settings that somebody else may have written', () => {
  test.each(foreign)('%s: its base address gets no token from the environment', async (_, access, why) => {
    const service = await serve()
    const { code, out, err } = await mergeq(read, stored(service, access))
    expect({ code, out, asked: service.requests.length }).toEqual({ code: 2, out: '', asked: 0 })
    expect(err).toContain(
      `mergeq: The stored base address ${service.baseUrl} does not decide where MERGEQ_TOKEN is sent: ${why}.\n  Give --base-url or set MERGEQ_BASE_URL`,
    )
  })

  test('nor one that is typed, and nothing is stored', async () => {
    const service = await serve()
    for (const line of ['auth login --with-token', 'auth login --with-token --no-verify']) {
      const host = stored(service, foreign[0]?.[1], { env: { MERGEQ_TOKEN: '' }, input: token })
      const { code, err } = await mergeq(line, host)
      expect({ code, asked: service.requests.length }).toEqual({ code: 2, asked: 0 })
      expect(err).toContain('does not decide where standard input is sent')
      expect(err).not.toContain(token)
    }
  })

  test('nor is it said of one that it would go there', async () => {
    const service = await serve()
    expect((await mergeq('auth status', stored(service, foreign[0]?.[1]))).code).toBe(2)
  })

  test.each([
    ['the flag', (url: string) => ({ line: `${read} --base-url ${url}`, env: {} })],
    ['the variable', (url: string) => ({ line: read, env: { MERGEQ_BASE_URL: url } })],
  ])('%s decides instead', async (_, by) => {
    const [theirs, ours] = [await serve(), await serve()]
    const { line, env } = by(ours.baseUrl)
    expect((await mergeq(line, stored(theirs, foreign[0]?.[1], { env }))).code).toBe(0)
    expect([theirs.requests.length, ours.requests.length]).toEqual([0, 1])
  })

  test('a token that is stored beside the address goes where its own origin is', async () => {
    const service = await serve()
    const tokens = { [new URL(service.baseUrl).origin]: 'tok_stored_beside_it' }
    const host = stored(service, foreign[0]?.[1], { env: { MERGEQ_TOKEN: '' } }, tokens)
    expect((await mergeq(read, host)).code).toBe(0)
    expect(service.requests[0]?.headers['x-api-token']).toBe('tok_stored_beside_it')
  })

  test.each(['config list', 'config get base-url', `${read} --dry-run`])(
    '%s sends nothing and works',
    async line => {
      const service = await serve()
      expect((await mergeq(line, stored(service, foreign[0]?.[1]))).code).toBe(0)
    },
  )

  test.each([
    ['only this user can use them', {}],
    ['others can read them', { [file]: { ...ownFile, mode: 0o644 } }],
    [
      'the group can write them',
      { [file]: { ...ownFile, mode: 0o664 }, [folder]: { ...ownFolder, mode: 0o775 } },
    ],
    ['the folder is root\u2019s', { [folder]: { ...ownFolder, owner: 0, mode: 0o755 } }],
  ])('settings of our own decide: %s', async (_, access) => {
    const service = await serve()
    expect(await mergeq(read, stored(service, access))).toMatchObject({ code: 0, err: '' })
    expect(service.requests).toHaveLength(1)
  })

  test('where users have no ids nothing is asked', async () => {
    const service = await serve()
    const { user: _, ...host } = stored(service, foreign[0]?.[1])
    expect((await mergeq(read, host)).code).toBe(0)
  })
})

describe('doctor', () => {
  const settingsRow = async (access: Setting['access'], more: Setting = {}) => {
    const service = await serve()
    const { code, out } = await mergeq('doctor --json', stored(service, access, more))
    const rows: readonly { check: string; result: string; found: string; mend?: string }[] = JSON.parse(out)
    return { code, row: rows.find(({ check }) => check === 'settings'), rows, service }
  }

  test.each([
    ...foreign.map(([what, access, why]) => [what, access, why, /chmod|chown/] as const),
    [
      'a file that others can read',
      { [file]: { ...ownFile, mode: 0o644 } },
      `${file} can be read by others (mode 644)`,
      new RegExp(`^chmod 600 ${file}$`),
    ],
    [
      'a folder that the group can write',
      { [folder]: { ...ownFolder, mode: 0o770 } },
      `${folder} can be written by others (mode 770)`,
      new RegExp(`^chmod go-w ${folder}$`),
    ],
  ] as const)('fails %s, and says how to change it', async (_, access, why, fix) => {
    const { code, row } = await settingsRow(access)
    expect({ code, result: row?.result, found: row?.found }).toEqual({ code: 21, result: 'fail', found: why })
    expect(row?.mend).toMatch(fix)
  })

  test('passes settings that only this user can use', async () => {
    expect((await settingsRow({})).row).toMatchObject({ result: 'pass', found: file })
  })

  test('asks the service all the same where the address is not in doubt', async () => {
    const { rows, service } = await settingsRow({ [file]: { ...ownFile, mode: 0o644 } })
    expect(service.requests).toHaveLength(1)
    expect(rows.map(({ check }) => check)).toContain('service')
  })
})

describe('on this machine', () => {
  function openPlace() {
    const place = mkdtempSync(join(tmpdir(), 'mergeq-access-'))
    places.push(place)
    chmodSync(place, 0o755)
    const path = join(place, 'home/.config/mergeq/config.json')
    mkdirSync(dirname(path), { recursive: true })
    chmodSync(dirname(path), 0o700)
    return { home: join(place, 'home'), path, place }
  }
  const user = process.getuid?.() ?? 0
  const problemsAt = async (path: string) =>
    (
      await accessProblems(
        { files, runtime: { version: '', node: '', v8: '', platform: 'linux', user } },
        path,
      )
    ).map(({ description, path }) => `${path} ${description}`)

  test('modes and owners are those of the file that a link leads to', async () => {
    const { path, place } = openPlace()
    const target = join(place, 'settings.json')
    writeFileSync(target, '{}', { mode: 0o600 })
    symlinkSync(target, path)
    expect(await problemsAt(path)).toEqual([])
    chmodSync(target, 0o640)
    expect(await problemsAt(path)).toEqual([`${path} can be read by others (mode 640)`])
    chmodSync(target, 0o600)
    chmodSync(place, 0o777)
    expect(await problemsAt(path)).toEqual([`${place} can be written by others (mode 777)`])
  })

  test('no file, no folder: nothing is wrong', async () => {
    const { place } = openPlace()
    expect(await problemsAt(join(place, 'none/config.json'))).toEqual([])
  })

  const asRoot = user === 0 ? test : test.skip
  const start = (
    home: string,
    words: readonly string[],
    env: Readonly<Record<string, string>>,
    by: readonly string[] = [],
  ) => {
    const [command = '', ...args] = [...by, launcher, ...words]
    return execa(command, args, {
      env: { ...bareEnvironment(home), ...env },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      cwd: '/',
    })
  }

  asRoot(
    'root with the home of another user: a read says why it sends nothing, and works once the address is given',
    async () => {
      const service = await serve()
      const { home, path } = openPlace()
      writeFileSync(
        path,
        JSON.stringify({ profiles: { default: { 'base-url': service.baseUrl, repo: 'acme/web' } } }),
        {
          mode: 0o600,
        },
      )
      for (const one of [home, dirname(dirname(path)), dirname(path), path]) chownSync(one, 1_000, 1_000)
      const words = ['queue', 'get', '-b', 'main']
      const refused = await start(home, words, { MERGEQ_TOKEN: token })
      expect(refused.exitCode).toBe(2)
      expect(refused.stderr).toContain('belongs to another user (uid 1000; this is uid 0)')
      expect(service.requests).toEqual([])
      const args = await start(home, words, { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: service.baseUrl })
      expect({ code: args.exitCode, err: args.stderr }).toEqual({ code: 0, err: '' })
      expect(service.requests).toHaveLength(1)
    },
  )

  testWith('setpriv')('a file that only root can read says whose it is', async () => {
    if (user !== 0) return
    const service = await serve()
    const { home, path } = openPlace()
    writeFileSync(path, '{}', { mode: 0o600 })
    for (const one of [home, dirname(dirname(path)), dirname(path)]) chownSync(one, 1_000, 1_000)
    const by = ['setpriv', '--reuid', '1000', '--regid', '1000', '--clear-groups']
    const { exitCode, stderr } = await start(
      home,
      ['queue', 'get', '-R', 'acme/web', '-b', 'main'],
      { MERGEQ_BASE_URL: service.baseUrl },
      by,
    )
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`the stored settings in ${path} cannot be read: `)
    expect(stderr).toContain(`${path} belongs to another user (uid 0; this is uid 1000)`)
    expect(stderr).toContain('chown')
  })
})
