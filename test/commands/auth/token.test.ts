import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { mergeSettings, profiles, runningQueue, stored } from '../../support/settings-sources.ts'
import { encodingsFound, hosted, otherToken as other, token } from '../../support/tokens.ts'

const queueGet = 'queue get -R acme/web -b main'
const prWait = 'pr wait 7 -R acme/web -b main'

/** A host without MERGEQ_TOKEN whose programs print these lines, one after the other; the last one stays. */
function printing(...outs: readonly string[]) {
  const runs: {
    readonly words: readonly string[]
    readonly env: Setting['env']
    readonly timeout: number | undefined
  }[] = []
  const setting = {
    env: { MERGEQ_TOKEN: undefined, MERGEQ_TOKEN_COMMAND: 'op read op://team/mergeq/token' },
    spawn(
      program: string,
      args: readonly string[],
      { env, timeout }: { env: Setting['env']; timeout?: number },
    ) {
      if (program === 'git') return { code: 1, out: '' }
      runs.push({ words: [program, ...args], env, timeout })
      return { code: 0, out: outs[runs.length - 1] ?? outs.at(-1) ?? '' }
    },
  } satisfies Setting
  return { runs, setting }
}

const sentToken = ({ headers }: Seen) => headers['x-api-token']

test('`auth token` prints the token and nothing else, and its help says that it does', async () => {
  const setting = mergeSettings(stored({ tokens: { [hosted]: token } }), { env: { MERGEQ_TOKEN: undefined } })
  expect(await mergeq('auth token', setting)).toMatchObject({ code: 0, out: `${token}\n`, err: '' })
  expect((await mergeq('auth token --help')).out).toMatch(/print the API token in plain text/i)
})

describe('the program of MERGEQ_TOKEN_COMMAND', () => {
  test('runs once, with its arguments and without tokens in its environment', async () => {
    const { runs, setting } = printing(`${token}\nsecond line\n`)
    const { code, requests } = await mergeq('pr get 7 8 9 -R acme/web -b main', {
      ...mergeSettings(setting, { env: { TRUNK_API_TOKEN: other, KEPT: 'yes' } }),
      answer: () => ({ body: '{"state":"PENDING"}' }),
    })
    expect({ code, sent: new Set(requests.map(sentToken)) }).toEqual({ code: 0, sent: new Set([token]) })
    expect(runs).toMatchObject([
      { words: ['op', 'read', 'op://team/mergeq/token'], env: { KEPT: 'yes' }, timeout: 10_000 },
    ])
    expect(runs[0]?.env).not.toHaveProperty('TRUNK_API_TOKEN')
  })

  test('may be a JSON array, whose words have blanks', async () => {
    const { runs, setting } = printing(token)
    const env = { MERGEQ_TOKEN_COMMAND: ' ["/opt/the tool/get","a b",""]\n' }
    const { code } = await mergeq(queueGet, { ...mergeSettings(setting, { env }), answer: runningQueue })
    expect({ code, words: runs[0]?.words }).toEqual({ code: 0, words: ['/opt/the tool/get', 'a b', ''] })
  })

  test.each([
    ['MERGEQ_TOKEN', { MERGEQ_TOKEN: other }],
    ['MERGEQ_TOKEN_FILE', { MERGEQ_TOKEN_FILE: '/run/token' }],
  ])('does not run if %s is set', async (_, env) => {
    const { runs, setting } = printing(token)
    const files = { '/run/token': other }
    const ran = await mergeq(queueGet, { ...mergeSettings(setting, { env, files }), answer: runningQueue })
    expect({ code: ran.code, sent: ran.requests.map(sentToken), runs }).toEqual({
      code: 0,
      sent: [other],
      runs: [],
    })
  })

  test.each([
    `${queueGet} --dry-run`,
    'auth status --dry-run',
    '__complete pr get ',
    'help environment',
    'config list',
    'auth list',
    'guard check --dry-run',
  ])('does not run for: %s', async line => {
    const { runs, setting } = printing(token)
    const answer = () => ({ body: '{}' })
    const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
    const { requests } = await mergeq(line, { ...mergeSettings(setting, { env }), answer })
    expect({ runs, requests }).toEqual({ runs: [], requests: [] })
  })

  test('is hidden in what the service says and in `-v`', async () => {
    const { setting } = printing(token)
    const states = ['TESTING', 'TESTING', 'MERGED']
    const answer = (seen: Seen) => ({
      body: JSON.stringify({ prNumber: 7, state: states.shift(), prTitle: sentToken(seen) }),
    })
    const { out, err } = await mergeq(`${prWait} -v`, { ...setting, answer })
    expect(encodingsFound(out, token)).toEqual([])
    expect(err).toContain('tokenCommand: op (MERGEQ_TOKEN_COMMAND)')
    expect(err).toContain('[REDACTED]')
    expect(err).not.toContain('op://')
    expect(encodingsFound(err, token)).toEqual([])
  })

  const failures: readonly (readonly [says: string, result: ReturnType<NonNullable<Setting['spawn']>>])[] = [
    ['was not found', { code: 127, out: '', startError: 'ENOENT' }],
    ['cannot be started (EACCES)', { code: 127, out: '', startError: 'EACCES' }],
    ['ended with exit code 3', { code: 3, out: token }],
    ['did not end in time', { code: 137, out: token, timedOut: true }],
    ['printed no token in its first line', { code: 0, out: `\n${token}` }],
    ['printed no token in its first line', { code: 0, out: '' }],
  ]
  test.each(failures)('that %s is exit code 2, without its arguments: %j', async (says, result) => {
    const env = { MERGEQ_TOKEN: undefined, TRUNK_API_TOKEN: other, MERGEQ_TOKEN_COMMAND: `op ${token}` }
    const ran = await mergeq(queueGet, { env, spawn: () => result, answer: runningQueue })
    expectUsageError(ran, `mergeq: MERGEQ_TOKEN_COMMAND: the program op ${says}.\n`)
    expect(encodingsFound(ran.err, token)).toEqual([])
  })

  test.each(failures.slice(2))('that %s is told with what it said, harmless: %j', async (_, result) => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`)
    const err = [...lines, '', '\u001B[31mno such item\u001B[0m', '::error::stop', ''].join('\n')
    const env = { CI: 'true', MERGEQ_TOKEN: undefined, MERGEQ_TOKEN_COMMAND: 'op read' }
    const ran = await mergeq(queueGet, { env, spawn: () => ({ ...result, err }), answer: runningQueue })
    expect(ran.code).toBe(2)
    const said = ran.err
      .slice(ran.err.indexOf('It said:\n') + 'It said:\n'.length)
      .trimEnd()
      .split('\n')
    expect(said.slice(0, -1)).toEqual([...lines.slice(-18), 'no such item'].map(text => `  ${text}`))
    expect(said.at(-1)).not.toMatch(/^\s*::error/)
    expect(said.at(-1)).toContain('error::stop')
  })

  test('that prints no valid token is exit code 2', async () => {
    const { setting } = printing('two words')
    const says = 'Invalid token (MERGEQ_TOKEN_COMMAND (op)): it contains a space at position 4.'
    expectUsageError(await mergeq(queueGet, setting), says)
  })

  test.each([
    ['[', 'not a JSON array of strings'],
    ['["op",1]', 'not a JSON array of strings'],
    ['[]', 'names no program'],
    ['[" "]', 'names no program'],
    ['./op read', 'relative path'],
    ['~/bin/op read', 'relative path'],
    ['["bin/op"]', 'relative path'],
    [`sh -c 'echo ${token}'`, 'quotes have no meaning'],
  ])('a command that is wrong is exit code 2: %s', async (command, says) => {
    const env = { MERGEQ_TOKEN: undefined, MERGEQ_TOKEN_COMMAND: command }
    const ran = await mergeq(queueGet, { env, answer: runningQueue })
    expectUsageError(ran, /^mergeq: MERGEQ_TOKEN_COMMAND: /, says)
    expect(encodingsFound(ran.err, token)).toEqual([])
  })

  test('has 3 seconds in the hook of git', async () => {
    const { runs, setting } = printing(token)
    const input = `refs/heads/a ${'1'.repeat(40)} refs/heads/a ${'2'.repeat(40)}\n`
    const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
    const answer = () => ({ status: 404 })
    const line = 'guard hook origin https://github.com/acme/web.git'
    expect((await mergeq(line, { ...mergeSettings(setting, { env }), input, answer })).code).toBe(0)
    expect(runs.map(({ timeout }) => timeout)).toEqual([3_000])
  })
})

describe('the token-command of a profile', () => {
  const command = { 'token-command': 'pass show mergeq' }
  /** Runs a command line where the program prints a token; without a variable for it. */
  const run = async (setting: Setting, line = 'auth token') => {
    const { runs, setting: host } = printing(token)
    const without = mergeSettings(host, { env: { MERGEQ_TOKEN_COMMAND: undefined } })
    const { code, out, err } = await mergeq(line, mergeSettings(without, setting))
    return { code, out, err, runs: runs.map(({ words }) => words) }
  }
  const own = profiles({ default: command })

  test('comes before the stored token, and may be an array in the file', async () => {
    const words = ['pass', 'show', 'work/merge queue']
    for (const value of [words, JSON.stringify(words)]) {
      const document = { tokens: { [hosted]: other }, profiles: { default: { 'token-command': value } } }
      expect(await run(stored(document))).toEqual({ code: 0, out: `${token}\n`, err: '', runs: [words] })
    }
  })

  test('comes after TRUNK_API_TOKEN', async () => {
    const setting = mergeSettings(own, { env: { TRUNK_API_TOKEN: other } })
    expect(await run(setting)).toMatchObject({ out: `${other}\n`, runs: [] })
  })

  test('is used for the base URL of its profile only', async () => {
    const { code, err, runs } = await run({ ...own, answer: runningQueue }, queueGet)
    expect({ code, runs }).toEqual({ code: 4, runs: [] })
    expect(err).toContain(`The token-command of profile default is ignored: it is used only for ${hosted}.`)
  })

  test('is used for that of another profile, which is selected', async () => {
    const work = { ...command, 'base-url': 'https://mq.test/v1' }
    const setting = profiles({ default: {}, work })
    expect((await run(setting, 'auth token --profile work')).out).toBe(`${token}\n`)
    expect(await run(setting)).toMatchObject({ code: 4, runs: [] })
  })

  test('does not run with MERGEQ_TOKEN_COMMAND=off', async () => {
    const document = { tokens: { [hosted]: other }, profiles: { default: command } }
    const setting = mergeSettings(stored(document), { env: { MERGEQ_TOKEN_COMMAND: 'off' } })
    expect(await run(setting)).toMatchObject({ out: `${other}\n`, runs: [] })
  })

  test('is refused by `config set` if it is wrong', async () => {
    const ran = await mergeq('config set token-command bin/op', { disk: new Map() })
    expectUsageError(ran, 'token-command: The program has a relative path.')
  })
})

describe('a token that is rejected in a wait', () => {
  /** A service that takes a token until this many requests came, and then another one. */
  const rotating = (requests: number) => {
    let count = 0
    return (seen: Seen) => {
      const state = count > requests + 1 ? 'MERGED' : 'TESTING'
      const good = count++ < requests ? token : other
      return sentToken(seen) === good
        ? { body: JSON.stringify({ prNumber: 7, state, enqueuedPullRequests: [] }) }
        : { status: 401, body: 'expired' }
    }
  }

  test('is read once more from the program, and another one goes on', async () => {
    const { runs, setting } = printing(token, other)
    const { code, err } = await mergeq(prWait, { ...setting, answer: rotating(2) })
    expect({ code, runs: runs.length }).toEqual({ code: 0, runs: 2 })
    expect(encodingsFound(err, other)).toEqual([])
  })

  test('is read once more from the file', async () => {
    const disk = new Map([['/run/token', token]])
    const answer = rotating(2)
    const { code, requests } = await mergeq(prWait, {
      env: { MERGEQ_TOKEN: undefined, MERGEQ_TOKEN_FILE: '/run/token' },
      disk,
      answer(seen) {
        const answered = answer(seen)
        if ('status' in answered) disk.set('/run/token', `${other}\n`)
        return answered
      },
    })
    expect({ code, rejected: requests.filter((_, index) => index >= 2).map(sentToken)[0] }).toEqual({
      code: 0,
      rejected: token,
    })
  })

  test('ends the wait with exit code 4 if it is the same one', async () => {
    const { runs, setting } = printing(token)
    const { code, err } = await mergeq(prWait, { ...setting, answer: rotating(2) })
    expect({ code, runs: runs.length }).toEqual({ code: 4, runs: 2 })
    expect(err).toContain('rejected the token from MERGEQ_TOKEN_COMMAND (op) (401)')
  })

  test('is read once more in a watch', async () => {
    const { runs, setting } = printing(token, other)
    const line = 'queue watch -R acme/web -b main --for 2m'
    const { code } = await mergeq(line, { ...setting, answer: rotating(2) })
    expect({ code, runs: runs.length }).toEqual({ code: 0, runs: 2 })
  })

  test('is not read again by a command that reads once', async () => {
    const { runs, setting } = printing(token, other)
    const { code } = await mergeq(queueGet, { ...setting, answer: rotating(0) })
    expect({ code, runs: runs.length }).toEqual({ code: 4, runs: 1 })
  })
})
