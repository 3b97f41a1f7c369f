import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { files } from '../../../src/host/files.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, type Setting } from '../../support/harness.ts'
import { clientOf, nodeHost } from '../../support/library-client.ts'
import { testOnPosix } from '../../support/programs.ts'
import { mergeSettings, profiles, runningQueue } from '../../support/settings-sources.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { token } from '../../support/tokens.ts'

const path = '/etc/mergeq/config.json'
const queueGet = 'queue get -R acme/web -b main'

const machine = (document: unknown, more: Omit<NonNullable<Setting['machine']>, 'text'> = {}): Setting => ({
  machine: { text: typeof document === 'string' ? document : JSON.stringify(document), ...more },
})
const work = { org: 'acme', repo: 'machine/repo', 'base-url': 'https://mq.test/v1' }

describe('the settings of the machine', () => {
  test('give each key of a profile that the file of the user does not give', async () => {
    const setting = mergeSettings(
      machine({ profiles: { default: { ...work, retries: 1 } } }),
      profiles({ default: { repo: 'my/repo' } }),
    )
    const { code, out, err } = await mergeq('config list --show-origin', setting)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('repo\tmy/repo\tprofile default\n')
    expect(out).toContain('org\tacme\tmachine\n')
    expect(out).toContain('base-url\thttps://mq.test/v1\tmachine\n')
    expect(out).toContain('retries\t1\tmachine\n')
  })

  test('have profiles of their own, which can be selected and completed', async () => {
    const setting = mergeSettings(machine({ profiles: { work } }), profiles({ play: { repo: 'a/b' } }))
    expect((await mergeq('config get repo --profile work', setting)).out).toBe('machine/repo\n')
    expectUsageError(await mergeq('config get repo --profile wrok', setting), 'work')
    expect((await mergeq(['__complete', '--profile', ''], setting)).out).toMatch(
      /play.*\n.*work|work.*\n.*play/,
    )
  })

  test('have a token-command', async () => {
    const document = { profiles: { default: { ...work, 'token-command': ['get-token', 'mergeq'] } } }
    const setting = {
      ...machine(document),
      env: { MERGEQ_TOKEN: undefined },
      spawn: () => ({ code: 0, out: `${token}\n` }),
    }
    expect(await mergeq('auth token', setting)).toMatchObject({ code: 0, out: `${token}\n` })
  })

  test('are shown by doctor', async () => {
    const { out } = await mergeq('doctor -v', {
      ...machine({ profiles: { default: { org: 'acme' } } }),
      env: { HOME: '/home/me' },
      answer: () => ({ body: '' }),
    })
    expect(out).toContain(path)
    expect(out).toContain('acme (machine)')
  })

  test('are not there for a library that looks nothing up', async () => {
    const host = {
      ...nodeHost,
      machineFile: path,
      files: {
        ...nodeHost.files,
        openSettings: async () => {
          throw new Error('no settings file may be read')
        },
      },
    }
    const { client } = await clientOf(runningQueue, { discover: false, token }, host)
    await expect(client.getQueue({ repo: 'acme/web', targetBranch: 'main' })).resolves.toMatchObject({
      state: 'RUNNING',
    })
  })
})

describe('the settings of the machine are refused', () => {
  const refused: readonly (readonly [why: string, setting: Setting, says: string])[] = [
    ['that belong to a user', machine({}, { owner: 1000 }), 'the file belongs to the user 1000, not to root'],
    [
      'that a group can change',
      machine({}, { mode: 0o664 }),
      'others than root can change the file (mode 664)',
    ],
    [
      'that anybody can change',
      machine({}, { mode: 0o646 }),
      'others than root can change the file (mode 646)',
    ],
    ['with a token', machine({ tokens: {} }), 'they contain tokens'],
    ['with a token in a profile', machine({ profiles: { a: { tokens: {} } } }), 'they contain tokens'],
    ['that are not JSON', machine('{'), 'it contains invalid JSON'],
    ['with another form', machine({ profiles: [] }), 'profiles must be a JSON object'],
  ]
  test.each(refused)('%s', async (_, setting, says) => {
    const env = { MERGEQ_BASE_URL: 'https://mq.test/v1', MERGEQ_TOKEN: token }
    const sentence = `mergeq: The settings of this machine (${path}) are refused: ${says}.\n`
    for (const line of [queueGet, `${queueGet} --dry-run`, 'config list', 'auth status'])
      expectUsageError(
        await mergeq(line, mergeSettings(setting, { env })),
        sentence,
        'MERGEQ_MACHINE_CONFIG=off',
      )
    const off = mergeSettings(setting, { env: { MERGEQ_MACHINE_CONFIG: 'off' } })
    expect((await mergeq('config list', off)).code).toBe(0)
    for (const line of ['config path', 'help', 'version', 'config set repo a/b --dry-run'])
      expect((await mergeq(line, { ...setting, env: { HOME: '/home/me' } })).code).toBe(0)
  })

  test('another value of MERGEQ_MACHINE_CONFIG is one, too', async () => {
    const env = { MERGEQ_MACHINE_CONFIG: '/tmp/mine.json' }
    expectUsageError(await mergeq('config list', { env }), 'must be off')
  })
})

describe('a file with its owner', () => {
  const place = temporaryFolder('mergeq-owned-')

  testOnPosix('is read with owner and mode', async () => {
    const file = join(place, 'config.json')
    writeFileSync(file, '{}')
    chmodSync(file, 0o640)
    const open = (path: string) => files.openSettings(path, 100, text => ({ members: text }))
    const opened = await open(file)
    expect(opened).toMatchObject({ store: { members: '{}' }, owner: process.getuid?.(), mode: 0o640 })
    expect([opened?.get('members'), opened?.get('tokens')]).toEqual(['{}', undefined])
    expect(await open(join(place, 'none'))).toBeUndefined()
    expect(readdirSync(place)).toEqual(['config.json'])
  })
})
