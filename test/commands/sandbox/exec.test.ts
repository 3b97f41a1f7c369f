import { describe, expect, it, test } from 'vitest'
import { mergeq, openStory, type Setting } from '../../support/harness.ts'

test('the hosted dialect shows the previous attempt until the new submit is visible', async () => {
  const { clock, mergeq } = await openStory({ dialect: 'hosted', scenario: 'failure' })
  const read = async () => (await mergeq('pr get 3 --json')).out
  await mergeq('pr submit 3')
  clock.now += 60_000
  const failed = await read()
  await mergeq('pr submit 3')
  clock.now += 50
  expect(await read()).toBe(failed)
  clock.now += 200
  expect(JSON.parse(await read()).state).toBe('NOT_READY')
})

describe('a program in a sandbox', () => {
  const tokens = { MERGEQ_TOKEN: 'secret-one', TRUNK_API_TOKEN: 'secret-two', trunk_api_token: 'three' }

  it.each(['sandbox exec -- tool --option', 'sandbox shell -q'])(
    'gets the settings of the sandbox and no real token: %s',
    async line => {
      const started: unknown[] = []
      const spawn: Setting['spawn'] = (program, args, { env }) => {
        const { PATH, SHELL, LANG, ...others } = env
        const set = Object.entries(others).filter(([, value]) => value !== undefined)
        started.push([program, ...args, Object.fromEntries(set)])
        return { code: 42, out: '' }
      }
      const env = { ...tokens, SHELL: 'tool', MERGEQ_REPO: 'other/repo' }
      expect(await mergeq(line, { env, spawn })).toMatchObject({ code: 42, out: '', err: '' })
      expect(started).toEqual([
        [
          'tool',
          ...(line.includes('exec') ? ['--option'] : []),
          {
            MERGEQ_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
            MERGEQ_TOKEN: 'sandbox',
            MERGEQ_REPO: 'github.com/acme/web',
            MERGEQ_TARGET_BRANCH: 'main',
            MERGEQ_ORG: 'acme',
            MERGEQ_CONFIG_DIR: '/tmp/mergeq-1',
            ...(line.includes('shell') ? { MERGEQ_SANDBOX_SHELL: '1', PS1: '(sandbox) $ ' } : {}),
          },
        ],
      ])
    },
  )

  it.each([
    ['sandbox exec -- tool', 'ENOENT', 'Command not found: tool.\n  Check the command name and your PATH.\n'],
    [
      'sandbox exec -- tool',
      'EACCES',
      'The command cannot be started: tool (EACCES).\n  Check the command and the permissions of its file.\n',
    ],
    [
      'sandbox shell -q',
      'ENOENT',
      'The shell could not be started: /no/shell.\n  Set SHELL to the path of your shell, such as /bin/sh.\n',
    ],
  ])('%s: one that cannot be started with %s is a usage error', async (line, startError, message) => {
    const spawn = () => ({ code: 127, out: '', startError })
    const outcome = await mergeq(line, { spawn, env: { SHELL: '/no/shell' } })
    expect(outcome).toMatchObject({ code: 2, out: '', err: `mergeq: ${message}` })
  })
})
