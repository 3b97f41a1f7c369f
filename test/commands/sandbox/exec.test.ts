import { describe, expect, it, test } from 'vitest'
import { mergeq, openStory, type Setting } from '../../support/harness.ts'

/** Runs command lines against one sandbox; a number is a time that passes, in seconds. */
async function play(options: Parameters<typeof openStory>[0], ...steps: readonly (string | number)[]) {
  const story = await openStory(options)
  const outcomes = []
  for (const step of steps)
    if (typeof step === 'number') story.clock.now += step * 1_000
    else outcomes.push(await story.mergeq(step))
  return outcomes
}

/** The states that the outcomes of `--json` have; undefined where a command printed nothing. */
const statesIn = (outcomes: readonly { readonly out: string }[]) =>
  outcomes.map(({ out }) => (out.startsWith('{') ? JSON.parse(out).state : undefined))

test('a scenario has a name: anything else is a usage error', async () => {
  const files = { 'mine.json': '{"stretch":2}' }
  const { code, out, err } = await mergeq('sandbox exec --scenario mine.json -- tool', { files })
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^mergeq: --scenario: 'mine.json' is not valid; must be one of: happy, flaky, failure/)
})

test('the hosted dialect shows the previous attempt until the new submit is visible', async () => {
  const read = 'pr get 3 --json'
  const options = { dialect: 'hosted', scenario: 'failure' } as const
  const outcomes = await play(options, 'pr submit 3', 60, read, 'pr submit 3', 0.05, read, 0.2, read)
  expect(outcomes[3]?.out).toBe(outcomes[1]?.out)
  expect(statesIn(outcomes.slice(4))).toEqual(['NOT_READY'])
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
