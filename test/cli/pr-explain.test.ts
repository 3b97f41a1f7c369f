import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, openStory, type Seen } from '../support/harness.ts'
import { entry, queue, record, uuid } from '../support/pr-explain.ts'

const dialects = ['document', 'hosted'] as const

describe.each(dialects)('the story of a pull request, %s', dialect => {
  const tell = async (scenario: string, lines: readonly string[], after: number) => {
    const story = await openStory({ dialect, scenario })
    for (const line of lines) expect((await story.mergeq(line)).code, line).toBe(0)
    story.clock.now += after
    const explained = await story.mergeq('pr explain 7 --json')
    expect(explained.code).toBe(0)
    const document = JSON.parse(explained.out)
    // What it tells people to type is a command line of this program.
    for (const { command } of document.next)
      if (command !== null && !command.includes('targets.txt'))
        expect((await story.mergeq(command.replace('mergeq ', ''))).code, command).not.toBe(2)
    await story.close()
    return document
  }

  test.each([
    ['never submitted', 'happy', [], 0, 'never-submitted', null],
    ['tested', 'happy', ['pr submit 7'], 1_000, 'testing', 'TESTING'],
    ['merged', 'happy', ['pr submit 7'], 60_000, 'merged', 'MERGED'],
    ['waits for a slot', 'happy', ['pr submit 6 7'], 1_000, 'waiting', 'PENDING'],
    ['held', 'flaky', ['pr submit 7'], 2_560, 'held', 'PENDING_FAILURE'],
    ['dropped', 'cancelled', ['pr submit 7'], 60_000, 'dropped', 'CANCELLED'],
    ['paused', 'paused', ['pr submit 7'], 1_000, 'blocked', 'PENDING'],
    [
      'without targets',
      'happy',
      ['queue update --mode parallel', 'pr submit 7'],
      1_000,
      dialect === 'hosted' ? 'blocked' : 'waiting',
      'NOT_READY',
    ],
  ] as const)('%s', async (_, scenario, lines, after, verdict, state) => {
    expect(await tell(scenario, lines, after)).toMatchObject({ verdict, state, pr: 7, unread: [] })
  })

  test('a failed pull request can be submitted again after a fix', async () => {
    const story = await openStory({ dialect, scenario: 'failure' })
    await story.mergeq('pr submit 9')
    story.clock.now += 60_000
    const { out } = await story.mergeq('pr explain 9')
    await story.close()
    expect(out).toMatch(/^verdict\tdropped\nstate\tFAILED\n/)
    expect(out).toMatch(/^next\tmergeq pr submit 9 {2}\(.*after the fix/m)
    expect(out).toMatch(/^submit again\tsafe: /m)
  })
})

describe('the failing check', () => {
  const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
  const answers =
    (run: Answer) =>
    ({ path }: Seen): Answer =>
      ({
        '/v1/getSubmittedPullRequest': { body: JSON.stringify(record('FAILED')) },
        '/v1/getQueue': { body: JSON.stringify(queue('RUNNING')) },
      })[path] ?? run
  const run = {
    body: JSON.stringify({
      testBranch: `trunk-merge/pr-7/${uuid}`,
      status: 'failed',
      testedPullRequests: [{ prNumber: 7 }],
      checkSuites: [{ checkRuns: [{ name: 'e2e', conclusion: 'FAILURE', url: 'https://ci.example/1' }] }],
    }),
  }

  test('of a failure whose record names no run is requested by pull request', async () => {
    const { out, requests } = await mergeq('pr explain 7 --color never', {
      env,
      answer: answers(run),
      terminal: true,
    })
    expect(out).toContain('The check "e2e" failed: https://ci.example/1\n')
    expect(JSON.parse(requests.at(-1)?.body ?? '')).toMatchObject({ pr: { number: 7 } })
  })

  test.each([400, 404, 500])('is omitted if the service responds with %i', async status => {
    const { code, out } = await mergeq('pr explain 7 --json --retries 0', {
      env,
      answer: answers({ status }),
    })
    expect({ code, testRun: JSON.parse(out).testRun, unread: JSON.parse(out).unread }).toEqual({
      code: 0,
      testRun: null,
      unread: [],
    })
  })
})

describe('what could not be read', () => {
  const at = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
  const answers =
    (by: Readonly<Record<string, Answer>>) =>
    ({ path }: Seen): Answer =>
      by[path.slice('/v1/'.length)] ?? { status: 500, body: 'no' }
  const own = { body: JSON.stringify(record('TESTING', { testRunId: uuid })) }
  const line = 'pr explain 7 --json --retries 0'

  test('a queue and a run that could not be read are named, and the verdict stays the same', async () => {
    const { code, out } = await mergeq(line, { env: at, answer: answers({ getSubmittedPullRequest: own }) })
    const { verdict, queue: seen, testRun, unread } = JSON.parse(out)
    expect({ code, verdict, seen, testRun }).toEqual({
      code: 0,
      verdict: 'testing',
      seen: null,
      testRun: null,
    })
    expect(unread).toEqual([
      {
        what: 'queue',
        why: expect.stringMatching(/^127\.0\.0\.1:\d+ could not process the request for the queue for .*500/),
      },
      {
        what: 'test run',
        why: expect.stringMatching(/^127\.0\.0\.1:\d+ could not process the request for the test run .*500/),
      },
    ])
  })

  test('the requests: the record and the queue, then the run that the record names', async () => {
    const { code, out, requests } = await mergeq(line, {
      env: at,
      answer: answers({
        getSubmittedPullRequest: own,
        getQueue: { body: JSON.stringify(queue('RUNNING', [entry(7, 'TESTING')])) },
        getMergeQueueTestingDetails: {
          body: JSON.stringify({
            status: 'failed',
            checkSuites: [{ checkRuns: [{ name: 'e2e', conclusion: 'FAILURE' }] }],
          }),
        },
      }),
    })
    const place = { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'main' }
    expect(code).toBe(0)
    expect(
      requests
        .map(({ path, body }) => [path, JSON.parse(body)])
        .sort(([one = ''], [two = '']) => (one < two ? -1 : 1)),
    ).toEqual([
      ['/v1/getMergeQueueTestingDetails', { ...place, testRunId: uuid }],
      ['/v1/getQueue', place],
      ['/v1/getSubmittedPullRequest', { ...place, pr: { number: 7 } }],
    ])
    expect(requests.at(-1)?.path).toBe('/v1/getMergeQueueTestingDetails')
    expect(JSON.parse(out)).toMatchObject({
      testRun: { id: uuid, status: 'failed', failing: ['e2e'], pending: [] },
    })
  })

  test('a record that cannot be read is the failure of the command', async () => {
    const { code, out, err } = await mergeq(line, {
      env: at,
      answer: answers({ getQueue: { body: JSON.stringify(queue('RUNNING')) } }),
    })
    expect({ code, out }).toEqual({ code: 7, out: '' })
    expect(err).toContain('getSubmittedPullRequest')
  })

  test.each(['getSubmittedPullRequest', 'getQueue', 'getMergeQueueTestingDetails'])(
    '401 to %s ends with 4',
    async refused => {
      const good = { getSubmittedPullRequest: own, getQueue: { body: JSON.stringify(queue('RUNNING')) } }
      const { code, out } = await mergeq(line, {
        env: at,
        answer: answers({ ...good, [refused]: { status: 401 } }),
      })
      expect({ code, out }).toEqual({ code: 4, out: '' })
    },
  )

  test('a web page instead of a record is an error', async () => {
    const page = { status: 404, body: '<!doctype html><title>Not Found</title>' }
    expect((await mergeq(line, { env: at, answer: answers({ getSubmittedPullRequest: page }) })).code).toBe(5)
  })

  test('the suggested commands repeat the options that name the queue', async () => {
    const { out } = await mergeq("pr explain https://github.com/acme/api/pull/7 -b 'release 1' --json", {
      answer: answers({ getSubmittedPullRequest: { status: 404 }, getQueue: { status: 404 } }),
    })
    expect(JSON.parse(out).next.at(-1).command).toBe(
      'mergeq pr submit 7 --repo github.com/acme/api --target-branch "release 1"',
    )
  })

  test('nothing in a title or a check reaches the terminal but its text', async () => {
    const hostile = '\u001b[2J\u001b]0;x\u0007a\nb\u202e'
    const { out } = await mergeq('pr explain 7 --color never', {
      env: at,
      terminal: true,
      answer: answers({
        getSubmittedPullRequest: {
          body: JSON.stringify(record('TESTING', { prTitle: hostile, waitingFor: hostile })),
        },
      }),
    })
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(out).toContain('a b')
  })

  test('--set asks for more, of the record alone', async () => {
    const { requests } = await mergeq(`${line} --set includeTimeline=true`, {
      env: at,
      answer: answers({
        getSubmittedPullRequest: {
          body: JSON.stringify(record('TESTING', { timeline: [{ testRun: { id: uuid } }] })),
        },
      }),
    })
    const asking = requests.filter(({ body }) => JSON.parse(body).includeTimeline === true)
    expect(asking.map(({ path }) => path)).toEqual(['/v1/getSubmittedPullRequest'])
    expect(JSON.parse(requests.at(-1)?.body ?? '').testRunId).toBe(uuid)
  })

  test('--dry-run shows the first request and sends nothing', async () => {
    const { code, out, requests } = await mergeq('pr explain 7 --dry-run', { env: at, answer: () => ({}) })
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(JSON.parse(out).operation).toBe('getSubmittedPullRequest')
  })
})
