import { afterEach, describe, expect, test } from 'vitest'
import { mergeq, type Service, type Setting, serveScript } from '../support/harness.ts'
import { runningQueue } from '../support/settings-sources.ts'
import { token } from '../support/tokens.ts'

const services: Service[] = []
afterEach(() => Promise.all(services.splice(0).map(service => service.close())))
async function serve(): Promise<Service> {
  const service = await serveScript(runningQueue)
  services.push(service)
  return service
}

const folder = '/home/ada/.config/mergeq'
const file = `${folder}/config.json`
const [ada, bob] = [1_000, 1_001]
const [ownFolder, ownFile] = [
  { owner: ada, mode: 0o700 },
  { owner: ada, mode: 0o600 },
]

/**
 * The settings of ada, in which the base address leads to a service; who may use them is what a test says.
 */
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

const ownedBy = (path: string, uid: number) =>
  `${path} is owned by another user (uid ${uid}; you are uid 1000)`
const foreign: readonly (readonly [string, Setting['access'], string])[] = [
  ['a file of another user', { [file]: { ...ownFile, owner: bob } }, ownedBy(file, bob)],
  ['a file of root', { [file]: { ...ownFile, owner: 0 } }, ownedBy(file, 0)],
  [
    'a file that anyone can write',
    { [file]: { ...ownFile, mode: 0o666 } },
    `${file} is writable by other users (mode 666)`,
  ],
  ['a folder of another user', { [folder]: { ...ownFolder, owner: bob } }, ownedBy(folder, bob)],
  [
    'a folder that anyone can write',
    { [folder]: { ...ownFolder, mode: 0o1777 } },
    `${folder} is writable by other users (mode 777)`,
  ],
]

describe('settings that someone else may have written', () => {
  test.each(foreign)('%s: its base address gets no token from the environment', async (_, access, why) => {
    const service = await serve()
    const { code, out, err } = await mergeq(read, stored(service, access))
    expect({ code, out, asked: service.requests.length }).toEqual({ code: 2, out: '', asked: 0 })
    expect(err).toContain(
      `mergeq: The token (MERGEQ_TOKEN) is not sent to the stored base URL ${service.baseUrl}: ${why}.\n  Use --base-url or MERGEQ_BASE_URL`,
    )
  })

  test('nor one that is typed, and nothing is stored', async () => {
    const service = await serve()
    for (const line of ['auth login --with-token', 'auth login --with-token --no-verify']) {
      const host = stored(service, foreign[0]?.[1], { env: { MERGEQ_TOKEN: '' }, input: token })
      const { code, err } = await mergeq(line, host)
      expect({ code, asked: service.requests.length }).toEqual({ code: 2, asked: 0 })
      expect(err).toContain('The token (standard input) is not sent to the stored base URL')
      expect(err).not.toContain(token)
    }
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

  test('a token that is stored next to the base URL is sent to its own origin only', async () => {
    const service = await serve()
    const tokens = { [new URL(service.baseUrl).origin]: 'tok_stored_beside_it' }
    const host = stored(service, foreign[0]?.[1], { env: { MERGEQ_TOKEN: '' } }, tokens)
    expect((await mergeq(read, host)).code).toBe(0)
    expect(service.requests[0]?.headers['x-api-token']).toBe('tok_stored_beside_it')
  })

  test.each(['config list', `${read} --dry-run`])('%s sends nothing and works', async line => {
    expect((await mergeq(line, stored(await serve(), foreign[0]?.[1]))).code).toBe(0)
  })

  test.each([
    ['only this user can use them', {}],
    ['others can read them', { [file]: { ...ownFile, mode: 0o644 } }],
    [
      'the group can write them',
      { [file]: { ...ownFile, mode: 0o664 }, [folder]: { ...ownFolder, mode: 0o775 } },
    ],
    ['the folder is root\u2019s', { [folder]: { ...ownFolder, owner: 0, mode: 0o755 } }],
  ])('settings of the user decide: %s', async (_, access) => {
    const service = await serve()
    expect(await mergeq(`${read} --json`, stored(service, access))).toMatchObject({ code: 0, err: '' })
    expect(service.requests).toHaveLength(1)
  })

  test('no file is checked on a system without user IDs', async () => {
    const service = await serve()
    const { user: _, ...host } = stored(service, foreign[0]?.[1])
    expect((await mergeq(read, host)).code).toBe(0)
  })
})

describe('doctor', () => {
  const settingsRow = async (access: Setting['access']) => {
    const service = await serve()
    const { code, out } = await mergeq('doctor --json', stored(service, access))
    const rows: readonly { check: string; result: string; found: string; fix?: string }[] = JSON.parse(out)
    return { code, row: rows.find(({ check }) => check === 'settings'), service }
  }

  test.each([
    ...foreign.map(([what, access, why]) => [what, access, why, /chmod|chown/] as const),
    [
      'a file that others can read',
      { [file]: { ...ownFile, mode: 0o644 } },
      `${file} is readable by other users (mode 644)`,
      new RegExp(`^chmod 600 ${file}$`),
    ],
    [
      'a folder that the group can write',
      { [folder]: { ...ownFolder, mode: 0o770 } },
      `${folder} is writable by other users (mode 770)`,
      new RegExp(`^chmod go-w ${folder}$`),
    ],
  ] as const)('fails %s, and says how to change it', async (_, access, why, fix) => {
    const { code, row } = await settingsRow(access)
    expect({ code, result: row?.result, found: row?.found }).toEqual({ code: 21, result: 'fail', found: why })
    expect(row?.fix).toMatch(fix)
  })

  test('sends the request if the base URL is trusted', async () => {
    const { service } = await settingsRow({ [file]: { ...ownFile, mode: 0o644 } })
    expect(service.requests.map(({ path }) => path)).toEqual(['/v1/getMergeQueueMetrics', '/v1/status'])
  })
})
