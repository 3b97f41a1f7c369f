import { describe, expect, test } from 'vitest'
import { pollDelays } from '../../../src/wait/poll.ts'
import { type Answer, mergeq, openStory, type Seen } from '../../support/harness.ts'
import { documentsIn } from '../../support/pr-wait.ts'

const record = {
  state: 'testing',
  stateChangedAt: '2026-01-05T11:57:00.000Z',
  priorityValue: 100,
  priorityName: 'medium',
  isCurrentlySubmittedToQueue: true,
  prNumber: 123,
  prTitle: 'Fix cart',
}
const where = '-R acme/web -b main'
const answer = () => ({ body: JSON.stringify(record), headers: { 'content-type': 'application/json' } })

test('`pr get --timeline --eta` requests both, and a terminal shows what came', async () => {
  const testRun = { branch: 'trunk-merge/pr-123/6e1d9f0a' }
  const timeline = [{ timestamp: '2026-01-05T11:50:00.000Z', state: 'testing', testRun }]
  const body = JSON.stringify({ ...record, estimatedTimeToMerge: 840, timeline })
  const line = `pr get 123 ${where} --timeline --eta --color never`
  const { out, requests } = await mergeq(line, { answer: () => ({ body }), terminal: true })
  const { body: sent = '' } = requests.find(({ path }) => path.endsWith('PullRequest')) ?? {}
  expect(JSON.parse(sent)).toMatchObject({ includeTimeline: true, includeEstimatedTimeToMerge: true })
  expect(out.split('\n').slice(3, -1)).toEqual([
    '  estimate  840',
    '  page      https://github.com/acme/web/pull/123',
    '  Why: mergeq pr explain 123 --repo acme/web --target-branch main',
    'AGO  STATE      REASON              TEST RUN',
    '10m  ◐ testing  Its tests started.  6e1d9f0a',
  ])
  expect((await mergeq(line, { answer, terminal: true })).out).toContain(
    '\n  estimate  the service gave no estimate\n',
  )
})

test.each([
  ['', { terminal: true }, /^ {2}stack +those below it are tested and merged with it$/m],
  ['-o table', { terminal: true }, /TITLE +STACKED\n.* yes$/m],
  ['-o markdown', {}, /\| stacked \|\n.*\n.* true \|$/m],
  ['-o csv', {}, /,stacked,repo,targetBranch,url\r\n.*,true,github.com\/acme\/web,/m],
  ['', {}, /\ttrue\tgithub.com\/acme\/web\t/m],
])('says %s that one is stacked, and nothing of one that is not', async (option, setting, expected) => {
  const stacked = { prBaseBranch: 'fix-cart', readiness: { doesBaseBranchMatch: true } }
  const read = async (more: object) => {
    const answer = () => ({ body: JSON.stringify({ ...record, ...more }) })
    return (await mergeq(`pr get 123 ${where} ${option} --color never`, { ...setting, answer })).out
  }
  expect(await read(stacked)).toMatch(expected)
  expect(await read({})).not.toMatch(expected)
})

test('`pr get --timeline` has a row for each event on a pipe, and the record where --fields selects from it', async () => {
  const timeline = [
    { timestamp: '2026-01-05T11:57:00.000Z', state: 'failure', reason: { name: 'tests_failed' } },
    {
      timestamp: '2026-01-05T11:55:00.000Z',
      cancellation: { reason: 'user_requested', actor: { gitHubLogin: 'ada' } },
    },
    {},
  ]
  const setting = { answer: () => ({ body: JSON.stringify({ ...record, timeline }) }) }
  const print = async (flags: string) =>
    (await mergeq(`pr get 123 ${where} --timeline ${flags}`, setting)).out
  const place = '\tgithub.com/acme/web\tmain\thttps://github.com/acme/web/pull/123'
  expect(await print('')).toBe(
    `123\t2026-01-05T11:57:00.000Z\tFAILED\tThe service says: tests_failed.\t\t\ttests_failed\tunknown\tlook\tfalse${place}\n` +
      `123\t2026-01-05T11:55:00.000Z\tCANCELLED\tIt was cancelled by ada.\tada\t\tuser_requested\tperson\tlook\tfalse${place}\n` +
      `123\t\t\t\t\t\t\t\t\tfalse${place}\n`,
  )
  expect(await print('-o csv')).toMatch(
    /^pr,when,state,reason,actor,test_run,service_reason,by,again,may_be_merged,repo,targetBranch,url\r\n123,2026-01-05T11:57.*,github\.com\/acme\/web,main,https:\/\/github\.com\/acme\/web\/pull\/123\r\n/,
  )
  expect(await print('--fields prNumber')).toBe('123\n')
})

test('a person does not wait for two requests in a row: the record is asked for before the queue has answered', async () => {
  let noteRecord: (answered: { body: string }) => void = () => undefined
  const queueAnswer = new Promise<{ body: string }>(resolve => {
    noteRecord = resolve
  })
  const answerBoth = ({ path }: Seen) => {
    if (path.endsWith('/getQueue')) return queueAnswer
    noteRecord({ body: '{}' })
    return answer()
  }
  const { code } = await mergeq(`pr get 123 ${where}`, { answer: answerBoth, terminal: true })
  expect(code).toBe(0)
})

test('a new submission is not found at first: --grace asks again for so long', async () => {
  const [first = 0] = pollDelays.first
  const story = await openStory({ dialect: 'hosted' })
  await story.mergeq('pr submit 9')
  expect((await story.mergeq('pr get 9')).code).toBe(5)
  expect(await story.mergeq('pr get 9 --grace 90s')).toMatchObject({ code: 0, sleeps: [first] })
  const late = await story.mergeq('pr get 8 --grace 5s')
  expect({ code: late.code, sleeps: late.sleeps }).toEqual({ code: 5, sleeps: [first, 5_000 - first] })
  const denied = await mergeq('pr get 9 -R acme/web -b main --grace 90s', { answer: () => ({ status: 403 }) })
  expect({ code: denied.code, sleeps: denied.sleeps }).toEqual({ code: 4, sleeps: [] })
})

describe('`pr get` of several pull requests', () => {
  const numbers = Array.from({ length: 60 }, (_, index) => index + 1)
  const recordOf = (number: number) => ({ ...record, prNumber: number })
  const answering =
    (more: object = {}, extra: object = {}) =>
    ({ path, body }: Seen) => {
      const { prs = [], pr } = JSON.parse(body)
      const several: readonly { readonly number: number }[] = prs
      const pullRequests = several.map(({ number }) => ({ ...recordOf(number), ...more }))
      return path.endsWith('/getSubmittedPullRequests')
        ? { body: JSON.stringify({ pullRequests, notFound: [], ...extra }) }
        : { body: JSON.stringify(recordOf(pr.number)) }
    }
  const operationsOf = (requests: readonly Seen[]) =>
    requests.map(({ path, body }) => `${path.slice(4)} ${JSON.parse(body).prs?.length ?? 1}`)

  test('asks for 50 at a time, and prints them in the order in which they were typed', async () => {
    const typed = [...numbers].reverse()
    const line = `pr get ${typed.join(' ')} ${where} --fields prNumber`
    const { code, out, requests } = await mergeq(line, { answer: answering() })
    expect({ code, out }).toEqual({ code: 0, out: `${typed.join('\n')}\n` })
    expect(operationsOf(requests).sort()).toEqual([
      'getSubmittedPullRequests 10',
      'getSubmittedPullRequests 50',
    ])
  })

  test.each([
    ['--timeline', ['getSubmittedPullRequests 2']],
    ['--grace 90s', ['getSubmittedPullRequests 2']],
    ['--eta', ['getSubmittedPullRequest 1', 'getSubmittedPullRequest 1']],
    ['--set trace=1', ['getSubmittedPullRequest 1', 'getSubmittedPullRequest 1']],
  ])('with %s sends %j', async (option, sent) => {
    const { code, requests } = await mergeq(`pr get 7 8 ${where} ${option}`, { answer: answering() })
    expect({ code, sent: operationsOf(requests) }).toEqual({ code: 0, sent })
    for (const { body } of requests)
      expect(JSON.parse(body).includeTimeline).toBe(option === '--timeline' ? true : undefined)
  })

  test('has "stacked" in its JSON, from one request or several', async () => {
    const stacked = { prBaseBranch: 'fix-cart', readiness: { doesBaseBranchMatch: true } }
    for (const line of [`pr get 7 ${where}`, `pr get 7 8 ${where}`]) {
      const answer = (seen: Seen) =>
        seen.path.endsWith('s')
          ? answering(stacked)(seen)
          : { body: JSON.stringify({ ...recordOf(7), ...stacked }) }
      const { out } = await mergeq(`${line} --json`, { answer })
      for (const document of out.trimEnd().split(/\n(?={)/)) expect(JSON.parse(document).stacked).toBe(true)
      expect((await mergeq(`${line} --fields stacked`, { answer })).out).toMatch(/^true\n/)
      expect((await mergeq(`${line} --json`, { answer: answering() })).out).not.toContain('stacked')
    }
  })
})

test('of several, a script gets a record of each, of an unknown one, too, beside the error', async () => {
  const answer = ({ path, body }: Seen): Answer => {
    if (path.endsWith('getSubmittedPullRequests')) return { status: 404 }
    const { number } = JSON.parse(body).pr
    return number === 7 ? { status: 404, body: 'not found' } : { body: '{"state":"testing","prNumber":8}' }
  }
  const print = (flags: string) => mergeq(`pr get 7 8 ${where} ${flags}`, { answer })
  const place = (pr: number) => ({
    repo: 'github.com/acme/web',
    targetBranch: 'main',
    url: `https://github.com/acme/web/pull/${pr}`,
  })
  const { code, out, err } = await print('--json')
  expect({ code, records: documentsIn(out) }).toEqual({
    code: 5,
    records: [
      { pr: 7, ...place(7), state: null },
      { state: 'TESTING', prNumber: 8, ...place(8) },
    ],
  })
  expect(JSON.parse(err).error).toMatchObject({ exit: 5, pr: 7 })
  expect((await print('-o csv')).out).toMatch(/^7,,.*pull\/7\r\n8,TESTING,.*pull\/8\r$/m)
})

test('what the service refuses was not "just submitted": only a 404 may be that', async () => {
  const { code, err } = await mergeq(`pr get 9 ${where}`, { answer: () => ({ status: 400 }) })
  expect(code).toBe(6)
  expect(err).not.toContain('just submitted')
})
