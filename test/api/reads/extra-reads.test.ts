import { describe, expect, test } from 'vitest'
import { submitPullRequest } from '../../../src/api/operations/pull-requests.ts'
import { getNumber, getString, type JsonObject } from '../../../src/base/json.ts'
import { read } from '../../../src/command/send.ts'
import { junit } from '../../support/flaky-match.ts'
import { type Answer, mergeq, type Outcome, type Seen, type Setting } from '../../support/harness.ts'
import { entry, queue, record, uuid } from '../../support/pr-explain.ts'
import { documentsIn } from '../../support/pr-wait.ts'

/** Answers by the name of the operation; a function sees the body that was sent. */
type Answers = Readonly<Record<string, Answer | ((body: JsonObject) => Answer)>>

const json = (body: unknown): Answer => ({ body: JSON.stringify(body) })
const nameOf = ({ path }: Pick<Seen, 'path'>) => path.slice(path.lastIndexOf('/') + 1)

const service =
  (answers: Answers) =>
  (seen: Seen): Answer => {
    const answer = answers[nameOf(seen)] ?? { status: 404, body: 'Not Found' }
    return typeof answer === 'function' ? answer(JSON.parse(seen.body)) : answer
  }

const where = '-R acme/web -b main'
const org = '-R acme/web --org acme'
const run = (line: string, answers: Answers, setting: Setting = {}) =>
  mergeq(line, { answer: service(answers), ...setting })
const namesOf = ({ requests }: Outcome) => requests.map(nameOf)

const timeline = [
  { state: 'cancelled', timestamp: '2026-01-05T11:57:00Z', reason: 'pr_closed', actor: { login: 'ada' } },
  { state: 'testing', timestamp: '2026-01-05T11:50:00Z' },
  { state: 'not_ready', timestamp: '2026-01-05T11:40:00Z', actor: 'grace' },
]

/** A pull request that was cancelled; its timeline comes when it is requested. */
const cancelled = (body: JsonObject): Answer =>
  json(record('CANCELLED', { prAuthor: 'linus', ...(body.includeTimeline === true ? { timeline } : {}) }))

describe('queue watch', () => {
  /** A queue that has these pull requests at the first reading, and none afterwards. */
  const emptied = (...numbers: readonly number[]) => {
    let looks = 0
    return () => json(queue('RUNNING', looks++ === 0 ? numbers.map(pr => entry(pr, 'TESTING')) : []))
  }
  const watch = `queue watch --interval 1s --for 1s ${where}`
  const changesIn = (out: string) => documentsIn(out).slice(1)

  test('says how a pull request left and who submitted it, from the timeline', async () => {
    const answers = { getSubmittedPullRequest: cancelled }
    const { code, out } = await run(`${watch} -o ndjson`, { ...answers, getQueue: emptied(7) })
    expect({ code, changes: changesIn(out) }).toEqual({
      code: 0,
      changes: [
        {
          type: 'change',
          pr: 7,
          from: 'TESTING',
          to: 'CANCELLED',
          at: '2026-01-05T11:57:00Z',
          position: null,
          author: 'linus',
          submittedBy: 'grace',
          reason: 'It was closed by ada.',
          serviceReason: 'pr_closed',
          by: 'person',
          actor: 'ada',
          again: 'no',
          mayBeMerged: false,
          repo: 'github.com/acme/web',
          targetBranch: 'main',
        },
      ],
    })
    const people = await run(`${watch} -o table`, { ...answers, getQueue: emptied(7) })
    expect(people.out).toBe(
      '#7 TESTING -> CANCELLED: It was closed by ada (pr_closed). Submitted by grace.\n',
    )
    const pipe = await run(watch, { ...answers, getQueue: emptied(7) })
    expect(pipe.out).toBe(
      '2026-01-05T11:57:00Z\t7\tTESTING\tCANCELLED\t\tgithub.com/acme/web\tmain\tIt was closed by ada.\tada\n',
    )
  })

  test('names the actor where the sentence of the reason does not', async () => {
    const event = { reason: 'trunk_admin_requested', actor: 'ada' }
    const { out } = await run(`${watch} -o table`, {
      getQueue: emptied(7),
      getSubmittedPullRequest: () => json(record('CANCELLED', event)),
    })
    expect(out).toBe(
      '#7 TESTING -> CANCELLED: It was cancelled by the support of the service (trunk_admin_requested). Actor: ada.\n',
    )
  })

  test('names the author where the service has the record alone', async () => {
    const { out } = await run(`${watch} -o table`, {
      getQueue: emptied(7),
      getSubmittedPullRequest: () => json(record('MERGED', { prAuthor: 'linus' })),
    })
    expect(out).toBe('#7 TESTING -> MERGED: Author: linus.\n')
  })

  test('another error of the timeline is not reported; a rejected token ends the watch', async () => {
    const answers = (status: number): Answers => ({
      getQueue: emptied(7),
      getSubmittedPullRequest: body => (body.includeTimeline === true ? { status } : json(record('MERGED'))),
    })
    const failed = await run(watch, answers(500))
    expect({ code: failed.code, out: failed.out }).toEqual({
      code: 0,
      out: '2026-01-05T11:57:00Z\t7\tTESTING\tMERGED\t\tgithub.com/acme/web\tmain\t\t\n',
    })
    expect(failed.err).not.toContain('500')
    expect((await run(watch, answers(401))).code).toBe(4)
  })
})

test('`pr wait` takes the test run that the timeline names, and asks once if there is none', async () => {
  const outcome = await run(`pr wait 7 8 -o table --color never ${where}`, {
    getQueue: json(queue('RUNNING')),
    getSubmittedPullRequest: ({ pr, includeTimeline }) =>
      json({
        ...record('FAILED', { prNumber: getNumber(pr, 'number') ?? 0 }),
        ...(includeTimeline === true &&
          getNumber(pr, 'number') === 7 && { timeline: [{ state: 'failure', testRunId: uuid }] }),
      }),
    getMergeQueueTestingDetails: json({
      checkSuites: [{ checkRuns: [{ name: 'ci', conclusion: 'FAILURE' }] }],
    }),
  })
  expect(outcome.out).toContain('#7 has already failed. Failing check: ci\n')
  expect(outcome.requests.filter(({ body }) => body.includes('includeTimeline'))).toHaveLength(2)
  expect(namesOf(outcome).filter(name => name === 'getMergeQueueTestingDetails')).toHaveLength(1)
})

const tests = (...all: readonly JsonObject[]) => json({ tests: all, page: { next_page_token: '' } })
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const testOf = (number: number, more: JsonObject = {}): JsonObject => ({
  id: idOf(number),
  name: `test ${number}`,
  classname: 'Cart',
  parent: 'Cart',
  quarantined: false,
  ...more,
})
/** A list of flaky tests, and none that is broken. */
const flaky =
  (...all: readonly JsonObject[]) =>
  ({ status }: JsonObject) =>
    status === 'FLAKY' ? tests(...all) : tests()

describe('flaky match', () => {
  const xml = junit(['Cart', 'test 1'], ['Cart', 'test 2'], ['Cart', 'test 3'])
  const match = (flags: string, answers: Answers) =>
    run(`flaky match junit.xml --allow known --retries 0 ${org} ${flags}`, answers, {
      files: { 'junit.xml': xml },
    })
  const answers: Answers = {
    'list-failing-tests': tests(testOf(1)),
    'list-unhealthy-tests': flaky(testOf(1, { name: 'other' }), testOf(2), testOf(3, { quarantined: true })),
  }

  test('a test that is flaky or broken is known, although it did not fail in the range', async () => {
    const { code, out, err } = await match('--json', answers)
    expect(code).toBe(0)
    const { counts, tests: matches } = JSON.parse(out)
    expect(counts).toEqual({ failed: 3, new: 0, unknown: 0, known: 2, quarantined: 1, flaky: 0 })
    const found = matches.map(({ name, verdict, inWindow }: JsonObject) => ({ name, verdict, inWindow }))
    expect(found).toEqual([
      { name: 'test 1', verdict: 'known' },
      { name: 'test 2', verdict: 'known', inWindow: false },
      { name: 'test 3', verdict: 'quarantined', inWindow: false },
    ])
    expect(err).toContain(
      '2 failed tests are known to be flaky or broken, but had not failed in this range before.\n',
    )
    const { out: picked } = await match('-o ndjson --fields name,inWindow', answers)
    expect(picked).toContain('{"name":"test 2","inWindow":false}\n')
  })

  test('--window-only reads only what failed in the range', async () => {
    const outcome = await match('--window-only', answers)
    expect({ code: outcome.code, sent: namesOf(outcome) }).toEqual({ code: 21, sent: ['list-failing-tests'] })
    expect(outcome.out).toMatch(/^test 2\tnew\t/)
  })

  test('nothing more is read where every failure is known already', async () => {
    const outcome = await match('', { 'list-failing-tests': tests(testOf(1), testOf(2), testOf(3)) })
    expect({ code: outcome.code, sent: namesOf(outcome) }).toEqual({ code: 0, sent: ['list-failing-tests'] })
  })

  test('if the service lists none of them, the result stays the same after one request', async () => {
    const outcome = await match('', { 'list-failing-tests': tests(testOf(1)) })
    const { code, out, err } = await match('--window-only', { 'list-failing-tests': tests(testOf(1)) })
    expect(outcome).toMatchObject({ code, out, err })
    expect(namesOf(outcome)).toEqual(['list-failing-tests', 'list-unhealthy-tests'])
  })

  const breaksOff = ({ page_query: query }: JsonObject) =>
    getString(query, 'page_token') === ''
      ? json({ tests: [testOf(2)], page: { next_page_token: 'b' } })
      : { status: 404, body: 'gone' }
  test.each([
    ['fails', 500, { status: 500 }],
    ['breaks off', 'gone', breaksOff],
  ])('a list that %s is reported, and all failures stay visible', async (_, status, answer) => {
    const { code, err } = await match('', { ...answers, 'list-unhealthy-tests': answer })
    expect(code).toBe(21)
    expect(err).toMatch(
      new RegExp(`^The list of flaky and broken tests is incomplete: .*${status}.*\\.$`, 'm'),
    )
  })

  test('a rejected token is an error', async () => {
    const { code, out } = await match('', { ...answers, 'list-unhealthy-tests': { status: 401 } })
    expect({ code, out }).toEqual({ code: 4, out: '' })
  })
})

describe('flaky gate', () => {
  const gate = (flags: string, answers: Answers, setting: Setting = {}) =>
    run(`flaky gate --max 1 --retries 0 ${org} ${flags}`, answers, setting)
  const answers: Answers = {
    'list-failing-tests': tests(testOf(1)),
    'list-unhealthy-tests': flaky(testOf(1), testOf(2), testOf(3, { codeowners: ['@a'] })),
  }

  test('reports how many other tests are flaky or broken, and does not count them', async () => {
    const { code, out, err } = await gate('--json', answers)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ ok: true, failing: 1, max: 1, notInWindow: 2 })
    expect(err).toContain(
      '2 more tests are flaky or broken, but did not fail in this range. The gate does not count them.\n',
    )
  })

  test('its filters and its baseline also apply to them', async () => {
    const owned = await gate('--owner @a -o ndjson', answers)
    expect(JSON.parse(owned.out)).toMatchObject({ failing: 0, notInWindow: 1 })
    const baseline = await gate('--baseline known.txt -o ndjson', answers, {
      files: { 'known.txt': `${idOf(2)}\n` },
    })
    expect(JSON.parse(baseline.out)).toMatchObject({ failing: 1, notInWindow: 1 })
  })

  test.each([
    ['--window-only', answers, ['list-failing-tests']],
    // Their records have no failure rates.
    ['--min-failure-rate 0.1', answers, ['list-failing-tests']],
    [
      '',
      { 'list-failing-tests': tests(testOf(1)) } satisfies Answers,
      ['list-failing-tests', 'list-unhealthy-tests'],
    ],
  ])('unchanged with %j, or if the service lists none of them', async (flags, given, sent) => {
    const outcome = await gate(`${flags} --json`, given)
    expect({ code: outcome.code, sent: namesOf(outcome) }).toEqual({ code: 0, sent })
    expect(JSON.parse(outcome.out)).not.toHaveProperty('notInWindow')
    expect(outcome.err).not.toContain('more test')
  })
})

test('what reads sends no change', async () => {
  const values = { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'main', pr: 7 }
  await expect(read(Object.create(null), submitPullRequest, values)).rejects.toThrow('is a change')
})
