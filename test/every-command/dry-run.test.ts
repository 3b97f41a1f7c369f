import { describe, expect, test } from 'vitest'
import { isChange } from '../../src/api/operation.ts'
import { askingFiles, askingLines } from '../support/asking-commands.ts'
import { allCommands } from '../support/commands.ts'
import { type Answer, mergeq, openStory, queueEnv, type Setting } from '../support/harness.ts'

const settings = '/config/config.json'
const stored = {
  profiles: { default: { repo: 'acme/api' } },
  tokens: { 'https://api.trunk.io': 'tok-stored-1234' },
}

/** What is typed behind the name of the commands that change this machine or need more, without `--dry-run`. */
const words: Readonly<Record<string, string>> = {
  'queue export': '-f /project/q.yaml',
  'guard install': '',
  api: 'createQueue -F concurrency=2',
  'auth login': '',
  'config get': 'repo',
  'config set': 'org acme',
  'config unset': 'repo',
  'sandbox exec': '-- git push',
  completion: 'bash',
  help: 'pr submit',
}

/** What git writes to its hook. */
const pushed = `refs/heads/fix ${'1'.repeat(40)} refs/heads/fix ${'2'.repeat(40)}\n`

/** What git only reads with. */
const gitReads =
  /^git (-C \S+ )?(--no-pager )?(-c \S+ )*(rev-parse|config --get|--version|remote|symbolic-ref|ls-remote)\b/

/** Runs a command line where the service and the disk refuse everything; what was tried all the same. */
async function refusing(line: string, setting: Setting = {}) {
  const changes: string[] = []
  const refuse = (change: string): never => {
    changes.push(change)
    throw new Error('refused')
  }
  const outcome = await mergeq(line, {
    answer: () => ({ status: 500, body: 'refused' }),
    onChange: (how, path) => refuse(`${how} ${path}`),
    spawn: (program, args) => {
      const words = [program, ...args].join(' ')
      if (!gitReads.test(words)) refuse(words)
      if (words.endsWith('core.hooksPath')) return { code: 1, out: '' }
      return { code: 0, out: words.includes('hooks/pre-push') ? '.git/hooks/pre-push\n' : '/repo\n' }
    },
    files: {
      ...askingFiles,
      [settings]: JSON.stringify(stored),
      '/project/q.yaml': 'settings: {concurrency: 5}',
    },
    // What begins to serve or to wait ends here.
    signal: AbortSignal.timeout(10_000),
    ...setting,
    env: { MERGEQ_CONFIG_DIR: '/config', ...queueEnv, ...setting.env },
  })
  return { ...outcome, changes }
}

const readQueue = ({ path }: { readonly path: string }): Answer =>
  path.endsWith('/getQueue')
    ? { body: '{"state":"running","concurrency":1,"enqueuedPullRequests":[]}' }
    : { status: 500, body: 'refused' }

describe('with --dry-run every command changes nothing, sends nothing and ends with 0, without a token', () => {
  const commands = allCommands.map(({ command }) => command)

  test('every line of this test is about a command', () => {
    expect(commands).toEqual(expect.arrayContaining(Object.keys(words)))
  })

  for (const where of ['on a pipe', 'on a terminal'])
    test.each(commands)(`${where}: %s`, async command => {
      const terminal = where === 'on a terminal'
      const mayRead = command === 'queue apply'
      const { code, out, err, changes, requests } = await refusing(
        `--dry-run ${command} ${words[command] ?? askingLines[command] ?? ''}`,
        {
          terminal,
          inputTerminal: terminal,
          ...(mayRead ? { answer: readQueue } : {}),
          ...(command === 'guard hook' ? { inputTerminal: false, input: pushed } : {}),
          env: {
            MERGEQ_READ_ONLY: '1',
            ...(mayRead || command === 'auth token' ? {} : { MERGEQ_TOKEN: '' }),
          },
        },
      )
      expect({ code, changes, err: code === 0 ? '' : err }).toEqual({ code: 0, changes: [], err: '' })
      expect(out).not.toBe('')
      // No question was asked.
      expect(err).not.toContain('API token for')
      expect(requests.map(({ path }) => path)).toEqual(mayRead ? ['/v1/getQueue'] : [])
      const { operation } = allCommands.find(one => one.command === command) ?? {}
      if (operation === undefined) return
      expect(err).toBe('')
      const lines = out.trimEnd().split('\n')
      if (!terminal) for (const line of lines) expect(JSON.parse(line)).toHaveProperty('url')
      // Of a change a person sees a sentence, and its request only with -v or --json.
      if (!terminal || !isChange(operation)) return
      for (const line of lines) expect(line).toMatch(/^Would [a-z].* acme\/web\.$/)
      for (const typed of ['-v', '--json']) {
        const shown = await refusing(`--dry-run ${typed} ${command} ${askingLines[command] ?? ''}`, {
          terminal,
        })
        expect(shown.out).toMatch(/^\{[\s\S]*\ncurl -X POST/)
      }
    })
})

describe('with --dry-run a command that changes this machine says what it would do', () => {
  const base = 'https://api.trunk.io'
  test.each([
    [
      'auth login',
      [`prompt for a token`, `GET ${base}/v1/getMergeQueueMetrics`, `for ${base} in ${settings}`],
    ],
    ['auth login --with-token --no-verify', ['read a token from standard input and store it', settings]],
    ['auth logout', [`remove the token for ${base} from ${settings}`]],
    [
      'auth logout --base-url https://other.test',
      ['change nothing: no token is stored for https://other.test'],
    ],
    ['config set org acme', [`set org to acme in profile default in ${settings}`]],
    ['config unset repo', [`remove repo from profile default in ${settings}`]],
    ['config unset org', ['change nothing: org is not set']],
    ['guard install', ['install the guard in /repo/.git/hooks/pre-push']],
    [
      'sandbox start --port 8080 --scenario failure',
      ['serve a sandbox on loopback port 8080', 'scenario failure'],
    ],
    ['sandbox exec -- git push', ['run git push against a sandbox on a free loopback port']],
  ])('%s', async (line, says) => {
    const { code, out, err } = await refusing(`--dry-run ${line}`, { env: { MERGEQ_BASE_URL: `${base}/v1` } })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    for (const one of says) expect(out).toContain(one)
    const json = await refusing(`--dry-run --json ${line}`, { env: { MERGEQ_BASE_URL: `${base}/v1` } })
    expect(JSON.parse(json.out)).toEqual({ command: expect.any(String), would: out.trimEnd() })
  })

  test('a value that would be refused is refused', async () => {
    for (const line of ['config set timeout soon', 'config set token x', 'config unset nothing'])
      expect((await refusing(`--dry-run ${line}`)).code).toBe(2)
  })

  test('guard uninstall names the hook and leaves it', async () => {
    const path = '/repo/.git/hooks/pre-push'
    const files = { [path]: '#!/bin/sh\n# mergeq guard: keeps\n' }
    const { code, out, changes } = await refusing('guard uninstall --dry-run', { files })
    expect({ code, out, changes }).toEqual({
      code: 0,
      out: `Would remove the guard from ${path}.\n`,
      changes: [],
    })
  })
})

test('sandbox tour --dry-run shows the command lines and runs none', async () => {
  const { out } = await refusing('sandbox tour --dry-run')
  const others = out.split('\n').filter(line => !/^(\$ mergeq |# |$)/.test(line))
  expect(out).toContain('$ mergeq queue create --target-branch release\n')
  expect(others).toEqual([])
})

test('doctor --dry-run lists the checks that doctor makes', async () => {
  const listed = JSON.parse((await refusing('doctor --dry-run --json')).out)
  const done = await refusing('doctor --json', {
    answer: () => ({ body: '', headers: { date: new Date(0).toUTCString() } }),
  })
  const names = (checks: readonly { readonly check: string }[]) => checks.map(({ check }) => check)
  expect(names(listed)).toEqual(names(JSON.parse(done.out)))
})

describe('with MERGEQ_READ_ONLY', () => {
  const env = { MERGEQ_READ_ONLY: '1' }
  const refusal =
    'mergeq: MERGEQ_READ_ONLY is set: nothing may be changed.\n  Nothing was sent. To allow changes, unset MERGEQ_READ_ONLY.\n'
  const changes = allCommands.filter(({ operations }) => operations !== 'any' && operations.some(isChange))

  test.each([
    ...changes.map(({ command }) => `${command} ${askingLines[command]}`),
    'api createQueue -F concurrency=2',
    'api newOperation -F a=1',
  ])('%s sends nothing', async line => {
    expect(await refusing(line, { env })).toMatchObject({ code: 2, out: '', err: refusal, requests: [] })
  })

  test.each(['queue get', 'api getQueue -F repo.name=web'])('%s reads', async line => {
    expect(await refusing(line, { env, answer: readQueue })).toMatchObject({ code: 0 })
  })

  test('a sandbox is changed', async () => {
    const story = await openStory()
    expect((await story.mergeq('pr submit 7', { env })).code).toBe(0)
  })
})

describe('queue apply --dry-run', () => {
  const line = 'queue apply -f /project/q.yaml --dry-run'

  test('reads the live queue, says so, and prints the plan as queue diff does', async () => {
    const { code, out, err, requests } = await refusing(line, { answer: readQueue })
    expect({ code, out }).toEqual({ code: 0, out: 'github.com/acme/web\tmain\tconcurrency\t1\t5\n' })
    expect(err).toContain('Dry run: the live queues were read, and nothing was changed.')
    expect(requests.map(({ path }) => path)).toEqual(['/v1/getQueue'])
    const diff = await refusing('queue diff -f /project/q.yaml --json', { answer: readQueue })
    expect((await refusing(`${line} --json`, { answer: readQueue })).out).toBe(diff.out)
  })

  test('a reading that fails is a failure, and --if-match is compared', async () => {
    expect((await refusing(`${line} --retries 0`)).code).toBe(7)
    const stale = await refusing(`${line} --if-match 0123456789abcdef`, { answer: readQueue })
    expect({ code: stale.code, out: stale.out }).toEqual({ code: 14, out: '' })
  })
})
