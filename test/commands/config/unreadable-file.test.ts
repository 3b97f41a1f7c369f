import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, type Setting } from '../../support/harness.ts'
import { clientOf, nodeHost } from '../../support/library-client.ts'
import { file, mergeSettings, openHome, runningQueue, stored } from '../../support/settings-sources.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { token } from '../../support/tokens.ts'

/** The token of the environment and an address that only the file has: nobody can know it. */
const broken = mergeSettings(stored('{"profiles":'), {
  env: { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: '' },
  answer: runningQueue,
})
const at = '-R acme/web -b main'
const sentence = `The settings file ${file} cannot be read: it contains invalid JSON.`

describe('a settings file that cannot be read ends what sends a request, before anything is sent', () => {
  test.each([
    ['a read', `queue get ${at}`],
    ['a wait', `pr wait 7 ${at}`],
    ['a change', `pr submit 7 ${at}`],
    ['a check', `queue check ${at}`],
    ['an operation', `api getQueue ${at}`],
    ['the metrics', 'metrics'],
    ['the status of the token', 'auth status'],
    ['a dry run', `queue pause ${at} --dry-run`],
    ['the list of the settings', 'config list'],
  ])('%s: %s', async (_, line) => {
    const hint = /MERGEQ_CONFIG_DIR.*\n.*MERGEQ_BASE_URL and MERGEQ_TOKEN\.\n$/
    expectUsageError(await mergeq(line, broken), `mergeq: ${sentence}\n`, hint)
  })

  test('a call of the library', async () => {
    const host = {
      ...nodeHost,
      env: { HOME: '/home/me' },
      files: {
        ...nodeHost.files,
        openSettings: async (path: string, _: number, parse: (text: string) => JsonObject) => {
          if (path === file) parse('{')
          return undefined
        },
      },
    }
    const notices: string[] = []
    const options = { onNotice: (text: string) => void notices.push(text) }
    const byProfile = await clientOf(runningQueue, { ...options, profile: 'default' }, host)
    await expect(byProfile.client.getQueue()).rejects.toMatchObject({ kind: 'usage', message: sentence })
    expect(byProfile.requests).toEqual([])
    const { client } = await clientOf(runningQueue, options, host)
    await expect(client.getQueue()).resolves.toMatchObject({ state: 'RUNNING' })
    expect(notices).toEqual([`mergeq: ${sentence} Continuing without stored settings.`])
  })
})

describe('with the address and the token from elsewhere, it is a warning', () => {
  // Without a value of its own, the variable is that of the service of the test.
  const { MERGEQ_BASE_URL: _, ...others } = broken.env ?? {}
  const given = (env: Setting['env'] = {}): Setting => ({ ...broken, env: { ...others, ...env } })
  test.each([
    ['a variable', given(), 0],
    ['MERGEQ_TOKEN_FILE', given({ MERGEQ_TOKEN: '', MERGEQ_TOKEN_FILE: '/token' }), 0],
    ['no token', given({ MERGEQ_TOKEN: '' }), 2],
    ['the token of another service', given({ MERGEQ_TOKEN: '', TRUNK_API_TOKEN: token }), 2],
    ['MERGEQ_PROFILE', given({ MERGEQ_PROFILE: 'default' }), 2],
  ])('%s', async (_, setting, expected) => {
    const files = { ...setting.files, '/token': token }
    const { code, err, requests } = await mergeq(`queue get ${at}`, { ...setting, files })
    expect({ code, sent: requests.length }).toEqual({ code: expected, sent: expected === 0 ? 1 : 0 })
    const end = expected === 0 ? ' Continuing without stored settings.\n' : '\n'
    expect(err.slice(0, 8 + sentence.length + end.length)).toBe(`mergeq: ${sentence}${end}`)
  })

  test('a dry run needs the address only', async () => {
    const setting = given({ MERGEQ_TOKEN: '' })
    expect((await mergeq(`pr submit 7 ${at} --dry-run`, setting)).code).toBe(0)
  })
})

describe('these go on', () => {
  test.each([
    'config path',
    '--help',
    'help environment',
    'version',
    'completion bash',
    'sandbox exec --dry-run -- true',
    'guard uninstall --dry-run',
  ])('%s', async line => {
    const spawn = () => ({ code: 0, out: '/repo\n' })
    expect((await mergeq(line, { ...broken, spawn })).code).toBe(0)
  })

  test('the hook lets the push go on, and sends nothing; a check of the branch fails', async () => {
    const input = `refs/heads/x ${'1'.repeat(40)} refs/heads/x ${'2'.repeat(40)}\n`
    const { code, err, requests } = await mergeq(`guard hook origin ${at}`, { ...broken, input })
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(err).toContain(`so the push continues: ${sentence}\n`)
    const spawn = () => ({ code: 0, out: 'x\n' })
    expect(await mergeq(`guard check ${at}`, { ...broken, spawn })).toMatchObject({ code: 2, requests: [] })
  })

  test('doctor says it, and asks no service', async () => {
    const { code, out, requests } = await mergeq(`doctor ${at} --json`, broken)
    expect({ code, requests }).toEqual({ code: 21, requests: [] })
    const checks: readonly { check: string; result: string; found: string }[] = JSON.parse(out)
    expect(checks.filter(({ found }) => found === sentence).map(({ check }) => check)).toEqual([
      'settings',
      'base URL',
    ])
  })
})

test.each([
  ['profiles that are no object', { profiles: 'x' }, 'profiles must be a JSON object'],
  ['a profile that is no object', { profiles: { work: [] } }, 'the profile work must be a JSON object'],
  ['a value of another type', { profiles: { default: { 'base-url': ['x'] } } }, 'base-url of the profile'],
])('%s would hide a base URL, and counts as unreadable', async (_, document, reason) => {
  const ran = await mergeq('config get base-url', stored(document))
  expectUsageError(ran, `mergeq: The settings file ${file} cannot be read: ${reason}`)
})

describe('a file that is not there', () => {
  const root = temporaryFolder('mergeq-unreadable-')
  const read = (home: ReturnType<typeof openHome>) =>
    home.run(`queue get ${at} -q`, { env: { MERGEQ_TOKEN: token }, answer: runningQueue })

  test('below a file, or a link to nothing: there are no settings', async () => {
    const below = openHome(root)
    writeFileSync(join(below.home, '.config'), '')
    const link = openHome(root)
    mkdirSync(link.folder, { recursive: true })
    symlinkSync('nowhere', link.file)
    for (const home of [below, link]) expect(await read(home)).toMatchObject({ code: 0, err: '' })
  })

  test('in a folder that links to itself: nobody knows', async () => {
    const home = openHome(root)
    mkdirSync(dirname(home.folder), { recursive: true })
    symlinkSync('mergeq', home.folder)
    const ran = await home.run('config get base-url')
    expectUsageError(ran, `mergeq: The settings file ${home.file} cannot be read: ELOOP`)
  })

  // root may enter every folder.
  test.skipIf(process.getuid?.() === 0)('in a folder that may not be entered: nobody knows', async () => {
    const home = openHome(root)
    mkdirSync(home.folder, { recursive: true })
    chmodSync(home.folder, 0)
    const ran = await home.run('config get base-url')
    chmodSync(home.folder, 0o700)
    expectUsageError(ran, `mergeq: The settings file ${home.file} cannot be read: EACCES`)
  })
})
