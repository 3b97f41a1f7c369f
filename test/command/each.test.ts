import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import { type Answer, mergeq, noon, openStory, type Seen, type Setting } from '../support/harness.ts'
import { documentsIn } from '../support/pr-wait.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
const numberIn = ({ body }: Pick<Seen, 'body'>): number => JSON.parse(body).pr?.number
const numbersIn = (requests: readonly Seen[]): readonly number[] => requests.map(numberIn)

const run = (line: string, answer: (seen: Seen) => Answer | Promise<Answer>, setting: Setting = {}) =>
  mergeq(line, { ...setting, env: { ...env, ...setting.env }, answer })

const operationOf = ({ path }: Pick<Seen, 'path'>): string => path.replace('/v1/', '')

/** The answer of a service that tells of one pull request at a time. */
const ofSeveral = (seen: Seen): Answer | undefined =>
  operationOf(seen) === 'getSubmittedPullRequests' ? { status: 404 } : undefined

test.each(['', '-R acme/web'])(
  'the same pull request in several forms is processed once: %s',
  async option => {
    const forms =
      '8 https://github.com/ACME/web/pull/7/files #7 https://GitHub.com/acme/Web/pull/8?diff=split 9'
    const { code, out } = await run(`pr restart ${forms} ${option} --json`, () => ({ body: 'OK' }))
    expect({ code, receipts: documentsIn(out).map(({ pr }) => pr) }).toEqual({ code: 0, receipts: [8, 7, 9] })
    const others = 'https://github.com/acme/api/pull/7 https://github.com/acme/cli/pull/7'
    const { requests } = await run(`pr restart ${others}`, () => ({ body: 'OK' }))
    expect(numbersIn(requests)).toEqual([7, 7])
  },
)

describe('one failure', () => {
  const refusing = (seen: Seen): Answer => (numberIn(seen) === 8 ? { status: 422 } : { body: 'OK' })
  const submitting = (seen: Seen) =>
    operationOf(seen) === 'submitPullRequest' ? refusing(seen) : { status: 404 }

  test('of several changes does not stop the rest; the receipts are in the order given', async () => {
    const { code, out, requests } = await run('pr cancel 7 8 9 --yes --json', refusing)
    expect({ code, sent: numbersIn(requests).toSorted() }).toEqual({ code: 6, sent: [7, 8, 9] })
    const results = documentsIn(out).map(({ pr, ok, delivery, exit }) => ({ pr, ok, delivery, exit }))
    expect(results).toEqual([
      { pr: 7, ok: true, delivery: 'confirmed' },
      { pr: 8, ok: false, delivery: 'not-applied', exit: 6 },
      { pr: 9, ok: true, delivery: 'confirmed' },
    ])
  })

  test('of several reads prints nothing on standard output, and is named', async () => {
    const { code, out, err, requests } = await run('pr get 7 8 9 --json', seen =>
      numberIn(seen) === 8 ? { status: 400 } : (ofSeveral(seen) ?? { body: '{"state":"testing"}' }),
    )
    expect({ code, out, requests: requests.length }).toEqual({
      code: 6,
      out: [7, 9]
        .map(
          pr =>
            `{"state":"TESTING","repo":"github.com/acme/web","targetBranch":"main","url":"https://github.com/acme/web/pull/${pr}"}\n`,
        )
        .join(''),
      requests: 1 + 3,
    })
    expect(JSON.parse(err).error.message).toContain('#8')
  })

  test.each([
    [[400, 401], 4],
    [[404, 401, 400], 4],
    [[503, 400, 404], 7],
    [[302, 503], 15],
  ])('of %j the exit code is %i; the error that is the most severe is the last', async (statuses, exit) => {
    const numbers = statuses.map((_, index) => index + 1)
    const line = `pr get ${numbers.join(' ')} --retries 0`
    const answer = (seen: Seen) =>
      ofSeveral(seen) ?? { status: statuses[numberIn(seen) - 1] ?? 0, body: 'No.' }
    const { code, err } = await run(`${line} --json`, answer)
    const { error } = JSON.parse(err.trimEnd().split('\n').at(-1) ?? '')
    expect({ code, exit: error.exit }).toEqual({ code: exit, exit })
    const person = await run(line, answer)
    for (const number of numbers) expect(person.err).toMatch(new RegExp(`#${number}\\b`))
  })

  test.each([
    ['pr get', {}, 1, 'main of acme/web (503) (#1, #2, #3).'],
    ['pr get', { MERGEQ_BASE_URL: 'http://127.0.0.1:9' }, 1, 'connection (#1, #2, #3).'],
    ['pr restart', {}, 3, 'for #3 in the queue'],
  ])(
    'of an outage are one on a terminal if only the pull request differs: %s, %j',
    async (line, env, count, said) => {
      const setting = { terminal: true, columns: 300, env }
      const { err } = await run(`${line} 1 2 3 --retries 0`, () => ({ status: 503 }), setting)
      expect({ count: err.match(/mergeq:/g)?.length, err }).toEqual({
        count,
        err: expect.stringContaining(said),
      })
    },
  )

  test.each([
    ['pr cancel --yes', 401],
    ['pr restart', 403],
    ['pr submit', 401],
    ['pr submit --wait', 403],
    ['pr get', 403],
    ['pr explain', 401],
  ])('of a token that is rejected stops the rest: %s, %i', async (line, status) => {
    const { code, err, requests } = await run(`${line} 1 2 3 4 5 6 7 8`, () => ({ status }))
    const sent = new Set(numbersIn(requests).filter(number => number !== undefined))
    expect({ code, isStopped: sent.size <= 4 }).toEqual({ code: 4, isStopped: true })
    expect(err).toMatch(/Stopped early\. Failed: #1.* Not sent: .*#8\./)
  })

  test('stops the rest with --stop-on-error, and names the pull requests that were not started', async () => {
    const { code, err, requests } = await run('pr cancel 7 8 9 --yes --stop-on-error', refusing)
    expect({ code, sent: numbersIn(requests) }).toEqual({ code: 6, sent: [7, 8] })
    expect(err).toMatch(/Done: #7\. Failed: #8\. Not sent: #9\./)
  })

  test('stops submit --wait with --stop-on-error: still one result for each', async () => {
    const line = 'pr submit 7 8 9 --wait --stop-on-error'
    const { code, out, err, requests } = await run(`${line} --json`, submitting)
    expect(code).toBe(6)
    expect(requests.map(operationOf).filter(name => name === 'submitPullRequest')).toHaveLength(2)
    expect(documentsIn(out)).toMatchObject([
      { pr: 7, outcome: 'pending', exit: 8 },
      { pr: 8, outcome: 'error', exit: 6 },
      { pr: 9, outcome: 'pending', exit: 8 },
    ])
    expect(err).toMatch(/Done: #7\. Failed: #8\. Not sent: #9\./)
  })
})

describe('- takes up what an earlier run left', () => {
  test('receipts with "ok":false, of any repository', async () => {
    const first = await run('pr cancel 7 https://github.com/acme/app/pull/8 9 --yes --json', seen =>
      numberIn(seen) === 9 ? { body: 'OK' } : { status: 422 },
    )
    const { requests } = await run('pr cancel - --yes', () => ({ body: 'OK' }), { input: first.out })
    expect(
      requests
        .map(({ body }) => JSON.parse(body))
        .map(({ repo, pr }) => `${repo.name}#${pr.number}`)
        .toSorted(),
    ).toEqual(['app#8', 'web#7'])
  })

  test.each(['-o ndjson', '--json'])('results of a wait that are no success (%s)', async format => {
    const answer = (seen: Seen): Answer => {
      if (operationOf(seen) === 'getQueue') return { status: 404 }
      const state = ['merged', 'failed', 'cancelled'][numberIn(seen) - 7]
      return { body: JSON.stringify({ state, isCurrentlySubmittedToQueue: false }) }
    }
    const first = await run(`pr wait 7 8 https://github.com/acme/app/pull/9 ${format}`, answer)
    expect(first.code).toBe(3)
    const { requests } = await run('pr submit -', () => ({ body: 'OK' }), { input: first.out })
    expect(
      requests.map(({ body }) => JSON.parse(body)).map(({ repo, pr }) => `${repo.name}#${pr.number}`),
    ).toEqual(['web#8', 'app#9'])
  })

  test('no command is suggested if all succeeded', async () => {
    const { code, requests } = await run('pr submit -', () => ({ body: 'OK' }), {
      input: '{"type":"change","pr":7,"from":null,"to":"MERGED"}\n{"type":"result","pr":7,"exit":0}\n',
    })
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
  })

  test('rows of pr list, and of receipts those with false', async () => {
    const story = await openStory({ dialect: 'hosted' })
    await story.mergeq('pr submit 7 8')
    story.clock.now += 500
    const list = await story.mergeq('pr list')
    const cancelled = await story.mergeq('pr cancel - --yes', { input: list.out })
    expect({ code: cancelled.code, numbers: cancelled.out.match(/^\d+/gm)?.toSorted() }).toEqual({
      code: 0,
      numbers: ['7', '8'],
    })
    const answer = () => ({ body: 'OK' })
    const input = '7\ttrue\tconfirmed\t\n8\tfalse\tnot-applied\tno\n'
    expect((await run('pr submit -', answer, { input })).requests.map(numberIn)).toEqual([8])
  })

  test('no row at all ends with 2, or with 0 and a remark where it may be empty', async () => {
    const none = (flags: string) => run(`pr cancel - --yes ${flags}`, () => ({ body: 'OK' }), { input: '\n' })
    const hint = expect.stringContaining('add --if-empty ok')
    expect(await none('')).toMatchObject({ code: 2, err: hint, requests: [] })
    expect(await none('--if-empty ok')).toMatchObject({
      code: 0,
      err: 'Standard input names no pull request: nothing to do.\n',
      requests: [],
    })
  })

  test.each([
    '7\tnothing\t2026-01-05T12:00:00Z',
    '7\tpending\tsoon',
    '7\t8',
    '7\tmerged\tMERGED\t4',
    '{"type":"result","exit":3}',
    '{"state":"FAILED"}',
    '{"pr":"7a"}',
    '{"pr":0}',
    '[7.5]',
    '{"pr":7',
    '{"pullRequests":[]}',
    '{"type":"change","pr":7,"from":null,"to":"FAILED"}',
  ])('%s is refused', async input => {
    const { code, err, requests } = await run('pr submit -', () => ({ body: 'OK' }), { input })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toMatch(/pr list|--if-empty ok/)
  })
})

describe('a signal among several', () => {
  const signal = () => new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 })

  test('a change: the summary of finished, running and unstarted requests', async () => {
    const stop = new AbortController()
    const answer = (seen: Seen) => {
      if (numberIn(seen) === 7) return { body: 'OK' }
      stop.abort(signal())
      return new Promise<Answer>(() => undefined)
    }
    const line = 'pr submit 7 8 9 10 --json'
    const { code, out, err, requests } = await run(line, answer, { signal: stop.signal })
    expect({ code, sent: numbersIn(requests) }).toEqual({ code: 130, sent: [7, 8] })
    expect(documentsIn(out)).toMatchObject([
      { pr: 7, ok: true, delivery: 'confirmed' },
      { pr: 8, ok: false, delivery: 'unknown' },
    ])
    const [summary, failure = '', ...others] = err.trimEnd().split('\n')
    expect(summary).toBe('mergeq: Stopped early. Done: #7. In progress: #8. Not sent: #9, #10.')
    expect(JSON.parse(failure).error).toMatchObject({ exit: 130, operation: 'submitPullRequest' })
    expect(others).toEqual([])
  })

  test('concurrent reads: the signal is reported once, without a pull request', async () => {
    const stop = new AbortController()
    let asked = 0
    const { code, err } = await run(
      'pr get 7 8 9 10 11',
      seen => {
        if (operationOf(seen) === 'getSubmittedPullRequests') return { status: 404 }
        if (++asked === 4) stop.abort(signal())
        return new Promise<Answer>(() => undefined)
      },
      { signal: stop.signal },
    )
    expect(code).toBe(130)
    expect(err).toMatch(/In progress: #7, #8, #9, #10\. Not sent: #11\.\nmergeq: stopped by SIGINT\.\n/)
  })

  test('before a change is sent again: its error names the pull request', async () => {
    const stop = new AbortController()
    const clock = {
      now: noon,
      async sleep() {
        stop.abort(signal())
        stop.signal.throwIfAborted()
      },
    }
    const setting = { clock, signal: stop.signal }
    const { code, err } = await run('pr submit 7 --json', () => ({ status: 429 }), setting)
    expect({ code, err }).toEqual({ code: 130, err: expect.stringContaining('"pr":7') })
  })

  test('before the first', async () => {
    const { code, err, requests } = await run('pr submit 7 8', () => ({ body: 'OK' }), {
      signal: AbortSignal.abort(signal()),
    })
    expect({ code, requests }).toEqual({ code: 130, requests: [] })
    expect(err).toMatch(/early\. Not sent: #7, #8\.\nmergeq: stopped by SIGINT/)
  })
})
