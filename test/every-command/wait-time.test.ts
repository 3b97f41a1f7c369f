import { describe, expect, test } from 'vitest'
import { bodyText } from '../../src/api/request.ts'
import { startWaitTime } from '../../src/api/wait-time.ts'
import type { HttpResponse } from '../../src/http/messages.ts'
import { checkout } from '../support/checkout.ts'
import { allCommands } from '../support/commands.ts'
import { virtualClock } from '../support/faulty-sandbox.ts'
import { mergeq, noon, type Setting } from '../support/harness.ts'
import { network, networkEnv, replaceTransport } from '../support/replaced-transport.ts'

replaceTransport()

const seconds = 12
const commit = '2ff2b16c0ffee0123456789abcdef0123456789a'

interface Body {
  readonly pr?: { readonly number?: number }
  readonly includeTimeline?: boolean
}

/** What a service says of a pull request and its queue: it is tested, and its tests take too long. */
function say(operation: string, body: Body, asked: number, submissions: number): object | 'OK' | undefined {
  const isOver = submissions > 0 && asked % 3 === 2
  const at = new Date(noon + 3_000 + asked * 10).toISOString()
  const reason = 'its_tests_took_too_long'
  switch (operation) {
    case 'getSubmittedPullRequest':
      return {
        state: isOver ? 'failed' : 'testing',
        stateChangedAt: at,
        isCurrentlySubmittedToQueue: submissions > 0 && !isOver,
        prNumber: body.pr?.number ?? 7,
        prSha: commit,
        testRun: { id: '6e1d9f0a-0000-4000-8000-000000000000' },
        ...(body.includeTimeline === true && {
          timeline: [{ state: isOver ? 'failure' : 'testing', reason, timestamp: at }],
        }),
      }
    case 'getQueue':
      return {
        state: 'paused',
        enqueuedPullRequests: [{ prNumber: 7, state: 'testing', stateChangedAt: at, position: 1 }],
      }
    case 'getMergeQueueTestingDetails':
      return { checkSuites: [] }
    default:
      return 'OK'
  }
}

/**
 * Runs a command line against a service that is silent from a request on, or answers each one at the last moment.
 * Returns the operations that were asked for, and how many seconds it took.
 */
async function runUntilSilence(line: string, silentFrom: number, setting: Setting = {}, isSlow = false) {
  const clock = virtualClock(noon)
  const asked: string[] = []
  network.attempt = async (attempt): Promise<HttpResponse> => {
    const { request, limit } = attempt
    const { operation } = request
    attempt.hasBegun = true
    if (asked.push(operation) > silentFrom && isSlow) await clock.sleep(limit - 1)
    else if (asked.length > silentFrom) {
      await clock.sleep(limit)
      throw Object.assign(new Error('the time is over'), { code: 'MERGEQ_TIME_IS_OVER' })
    }
    const body: Body = JSON.parse(request.body === undefined ? '{}' : bodyText(request.body))
    const submissions = asked.filter(name => name === 'submitPullRequest').length
    const said = say(operation, body, asked.length, submissions)
    return {
      status: 200,
      headers: new Map([['date', new Date(clock.now).toUTCString()]]),
      bytes: new TextEncoder().encode(typeof said === 'string' ? said : JSON.stringify(said)),
    }
  }
  const outcome = await mergeq(line, { ...setting, clock, env: { ...networkEnv, ...setting.env } })
  return { ...outcome, asked, took: (clock.now - noon) / 1_000 }
}

const lines = [
  'pr wait 7',
  'pr wait 7 8 --fail-on-paused',
  'pr wait 7 --until tests-passed --interval 2s',
  'pr submit 7 --wait',
  `pr submit 7 --wait --match-head ${commit}`,
  'pr land 7 --interval 1s',
  'pr land 7 8 --resubmit any --interval 1s',
  'queue wait --until empty',
  'queue wait --all',
  'queue watch --for',
  'queue watch --all --for',
  'guard check',
  'guard hook -- origin https://github.com/acme/web.git',
]

const push = { input: `refs/heads/fix ${commit} refs/heads/fix ${'3'.repeat(40)}\n` }
const git = checkout({ head: commit, pr: 7 })

/** Every command that has a limit for all that it does, with the options that set it. */
const limitedCommands = allCommands.filter(
  ({ timeLimit }) => timeLimit?.(new Map(['--wait', '--for'].map(name => [name, ['1h']]))) !== undefined,
)

/** A command line with a limit, and its seconds: a push is delayed by three at most. */
const withLimit = (line: string, limit: number) => {
  const [words, ...rest] = line.split(' -- ')
  const option = line.endsWith(' --for') ? '' : ' --timeout'
  return {
    limited: [`${words}${option} ${limit}s`, ...rest].join(' -- '),
    most: line.startsWith('guard') ? Math.min(3, limit) : limit,
  }
}

describe('the limit of a command is one for everything that it does, wherever the service falls silent', () => {
  test('these are all commands that have one', () => {
    const isNamed = (command: string) => lines.some(line => `${line} `.startsWith(`${command} `))
    expect(limitedCommands.filter(({ command }) => !isNamed(command))).toEqual([])
  })

  test.each(lines)('%s', async line => {
    const { limited, most } = withLimit(line, seconds)
    const isHook = line.startsWith('guard')
    const settings: Setting[] = [{}, { terminal: true }, { terminal: true, redraws: true }]
    for (const setting of settings.map(one => (isHook ? { ...one, ...push, spawn: git } : one)))
      for (const isSlow of [false, true])
        for (let silentFrom = 0; silentFrom < 14; silentFrom++) {
          const { took, asked, err } = await runUntilSilence(limited, silentFrom, setting, isSlow)
          expect(took, `${silentFrom}: ${asked.join(' ')}\n${err}`).toBeLessThanOrEqual(most + 2)
          if (asked.length <= silentFrom) break
        }
  })

  test.each(['queue wait --all', 'queue watch --all --for'])(
    '%s: the metrics that name the queues',
    async line => {
      const { limited } = withLimit(line, 4)
      const { code, err } = await runUntilSilence(limited, 0)
      expect({ code, err }).toEqual({ code: 124, err: 'mergeq: Timed out before the queues were known.\n' })
    },
  )

  test.each(lines)('%s: the program that prints the token', async line => {
    const { limited, most } = withLimit(line, 4)
    const spawned: number[] = []
    const clock = virtualClock(noon)
    const spawn: Setting['spawn'] = (program, args, options) => {
      if (program === 'git') return git(program, args, options)
      const { timeout = 0 } = options
      spawned.push(timeout)
      clock.now += timeout
      return { code: 137, out: '', timedOut: true }
    }
    const env = { ...networkEnv, MERGEQ_TOKEN: undefined, MERGEQ_TOKEN_COMMAND: '/bin/slow' }
    const { code } = await mergeq(limited, { ...push, clock, env, spawn })
    expect((clock.now - noon) / 1_000).toBeLessThanOrEqual(most + 2)
    // A watch ends with 0 when its time is over, and a push goes on.
    expect(code).toBe(/^(?:guard|queue watch --for)/.test(line) ? 0 : 124)
    expect(spawned).toEqual([expect.any(Number)])
  })

  test.each(lines)('%s: git, which hangs whatever it is asked', async line => {
    const { limited, most } = withLimit(line, 4)
    const clock = virtualClock(noon)
    const spawn: Setting['spawn'] = (_, __, { timeout = 0 }) => {
      clock.now += timeout
      return { code: 137, out: '', timedOut: true }
    }
    const env = { ...networkEnv, MERGEQ_REPO: undefined }
    network.attempt = () => ({ status: 503, headers: new Map(), bytes: new Uint8Array() })
    await mergeq(limited, { ...push, clock, env, spawn })
    expect((clock.now - noon) / 1_000).toBeLessThanOrEqual(most)
  })

  test.each(lines.filter(line => /^(?:pr|guard hook)/.test(line)))('%s: standard input', async line => {
    const { limited, most } = withLimit(line.replace(/ 7( 8)?/, ' -'), 4)
    const clock = virtualClock(noon)
    const { code, err } = await mergeq(limited, {
      inputStaysOpen: true,
      clock,
      env: networkEnv,
      spawn: git,
    })
    expect((clock.now - noon) / 1_000).toBeLessThanOrEqual(most + 2)
    expect(code).toBe(line.startsWith('guard hook') ? 0 : 124)
    expect(err).toContain('Timed out before the input was complete.')
  })

  test.each(['pr wait', 'pr submit --wait', 'pr land'])('%s: the lookup of the pull request', async line => {
    const spawned: number[] = []
    for (const silentFrom of [0, 1]) {
      const spawn: Setting['spawn'] = (program, args, options) => {
        if (!args.includes('ls-remote')) return git(program, args, options)
        spawned.push(options.timeout ?? 0)
        return { code: 137, out: '', timedOut: true }
      }
      const result = await runUntilSilence(`${line} --timeout 4s`, silentFrom, { spawn })
      expect(result.code).toBe(124)
      expect(result.took).toBeLessThanOrEqual(6)
      if (silentFrom === 0) expect(result.err).toContain('Timed out before the pull request was found.')
    }
    expect(Math.max(...spawned)).toBeLessThanOrEqual(4_000)
  })
})

test('a read of an explanation gives up after the usual 30 s when the wait has time', async () => {
  const { asked, err } = await runUntilSilence('pr land 7 --interval 1s --timeout 4h --give-up-after 20s', 4)
  expect(asked).toContain('getSubmittedPullRequest')
  expect(err).toMatch(/within 30s/)
})

test('an attempt has what is left, at least a second, and none begins a second after the limit', () => {
  let now = 0
  const time = startWaitTime(10_000, { monotonic: () => now })
  const at = (moment: number) => {
    now = moment
    return { limit: time.limitAttempt(4_000), begins: time.mayBegin(), left: time.left() }
  }
  expect(at(0)).toEqual({ limit: 4_000, begins: true, left: 10_000 })
  expect(at(7_000)).toEqual({ limit: 3_000, begins: true, left: 3_000 })
  expect(at(10_999)).toEqual({ limit: 1_000, begins: true, left: 0 })
  expect(at(11_000)).toMatchObject({ begins: false })
  const once = startWaitTime(0, { monotonic: () => 0 })
  expect({ limit: once.limitAttempt(4_000), begins: once.mayBegin() }).toEqual({ limit: 4_000, begins: true })
})

test('the cancellation after a moved head has 30 s, also when the time is over; not confirmed, it is 11', async () => {
  for (const isConfirmed of [true, false]) {
    const clock = virtualClock(noon)
    const cancels: { readonly at: number; readonly limit: number }[] = []
    network.attempt = async (attempt): Promise<HttpResponse> => {
      const { request, limit } = attempt
      attempt.hasBegun = true
      const { operation } = request
      const isAfter = clock.now > noon
      // The reading that shows the other head comes at the last moment.
      if (operation === 'getSubmittedPullRequest' && isAfter) await clock.sleep(limit - 1)
      if (operation === 'cancelPullRequest') cancels.push({ at: (clock.now - noon) / 1_000, limit })
      if (operation === 'cancelPullRequest' && !isConfirmed) await clock.sleep(limit)
      const record = {
        state: 'testing',
        stateChangedAt: new Date(clock.now).toISOString(),
        prNumber: 7,
        prSha: isAfter ? '1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e' : commit,
      }
      const body =
        operation === 'getSubmittedPullRequest' ? { ...record, isCurrentlySubmittedToQueue: isAfter } : 'OK'
      if (operation === 'submitPullRequest') await clock.sleep(1_000)
      return {
        status: operation === 'cancelPullRequest' && !isConfirmed ? 503 : 200,
        headers: new Map([['date', new Date(clock.now).toUTCString()]]),
        bytes: new TextEncoder().encode(JSON.stringify(body)),
      }
    }
    const line = `pr submit 7 --wait --match-head ${commit} --timeout 10s --json`
    const { code, err } = await mergeq(line, { clock, env: networkEnv, spawn: git })
    expect(cancels[0]).toMatchObject({ limit: 30_000 })
    expect(code).toBe(isConfirmed ? 14 : 11)
    expect((clock.now - noon) / 1_000).toBeLessThanOrEqual(12 + 30)
    if (!isConfirmed) expect(err).toContain('mergeq pr cancel 7')
  }
})

test('a wait for a head that times out says that nobody watches the head any more', async () => {
  const { code, out } = await runUntilSilence(`pr wait 7 --match-head ${commit} --timeout 5s --json`, 99)
  expect(code).toBe(124)
  expect(JSON.parse(out).reason).toMatch(/ Its head is no longer watched\.$/)
})

describe('elsewhere, a typed --timeout limits each input, and nothing else does', () => {
  const readers = [
    'pr targets 7 --from - --sha 4f2a9c1d4f2a9c1d4f2a9c1d4f2a9c1d4f2a9c1d',
    'pr cancel - --yes',
    'pr get -',
  ]
  test.each(readers)('%s', async line => {
    const run = async (flags: string) => {
      const clock = virtualClock(noon)
      const outcome = await mergeq(`${line} ${flags}`, {
        inputStaysOpen: true,
        clock,
        env: networkEnv,
        spawn: git,
      })
      return { ...outcome, took: (clock.now - noon) / 1_000 }
    }
    const limited = await run('--timeout 4s')
    expect(limited).toMatchObject({ code: 2, took: 4 })
    expect(limited.err).toContain('The input was not complete after 4s (--timeout).')
    expect((await run('')).err).toContain('there is no limit')
  })
})
