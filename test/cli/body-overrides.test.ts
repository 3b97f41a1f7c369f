import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, noon, type Seen } from '../support/harness.ts'

const where = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_PR: '7' }
const date = { date: new Date(noon).toUTCString() }

/** What a request says that it concerns. */
interface Concerns {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string }
  readonly targetBranch: string
  readonly pr?: { readonly number: number }
}

const record = (prNumber: number, more: object = {}) => ({
  prNumber,
  state: 'pending',
  stateChangedAt: new Date(noon - 3_600_000).toISOString(),
  isCurrentlySubmittedToQueue: true,
  ...more,
})
const queued = record(7)
const place = ({ body }: Seen): string => {
  const { repo, targetBranch, pr }: Concerns = JSON.parse(body)
  return [repo.name, targetBranch, ...(pr === undefined ? [] : [pr.number])].join(' ')
}

/**
 * A service that loses every change, and knows pull requests and queues by what a request says that it
 * concerns.
 */
const losing =
  (known: Readonly<Record<string, object>>): ((seen: Seen) => Answer) =>
  seen => {
    if (!/get(Submitted|Queue)/.test(seen.path)) return { status: 503, headers: date }
    const found = known[place(seen)]
    return found === undefined
      ? { status: 404, body: 'Not Found', headers: date }
      : { body: JSON.stringify(found), headers: date }
  }

/** Answers every change with OK. */
const accepting = (): Answer => ({ body: 'OK' })

const receiptIn = ({ out }: { readonly out: string }): Readonly<Record<string, unknown>> =>
  JSON.parse(out.split('\n')[0] || '{}')

describe('the final body decides what is read back and named', () => {
  const queue = { state: 'running', mode: 'single', concurrency: 1, enqueuedPullRequests: [] }
  test.each([
    ['pr submit 7 --set targetBranch=prod', { 'web main 7': queued }, 'web prod 7'],
    [`pr submit 7 --set 'repo={"host":"h","owner":"o","name":"n"}'`, { 'web main 7': queued }, 'n main 7'],
    ['pr submit --set pr.number=8', { 'web main 7': queued }, 'web main 8'],
    ['queue pause --set targetBranch=prod', { 'web main': { ...queue, state: 'PAUSED' } }, 'web prod'],
    ['queue create --set targetBranch=prod', { 'web main': queue }, 'web prod'],
    ['api updateQueue -F state=PAUSED -F targetBranch=prod', { 'web main': queue }, 'web prod'],
  ])('%s', async (line, known, expected) => {
    const { code, out, requests } = await mergeq(`${line} --json`, { env: where, answer: losing(known) })
    expect([...new Set(requests.map(place))]).toEqual([expected])
    expect(requests.some(seen => /get(Submitted|Queue)/.test(seen.path))).toBe(true)
    const { ok, delivery, repo, targetBranch, pr } = receiptIn({ out })
    expect({ confirmed: code === 0, ok }).toEqual({ confirmed: false, ok: false })
    expect(delivery).not.toBe('confirmed-by-read')
    const named = [String(repo).split('/').at(-1), targetBranch, ...(pr === undefined ? [] : [pr])].join(' ')
    expect(named).toBe(expected)
  })

  test('a change without a response is confirmed by reading that resource', async () => {
    const record = { ...queued, stateChangedAt: new Date(noon + 2_000).toISOString() }
    const { code, out } = await mergeq('pr submit 7 --set targetBranch=prod --json', {
      env: where,
      answer: losing({ 'web prod 7': record }),
    })
    expect({ code, ...receiptIn({ out }) }).toMatchObject({
      code: 0,
      targetBranch: 'prod',
      delivery: 'confirmed-by-read',
    })
  })

  test.each([
    ['queue pause --set targetBranch=prod', { targetBranch: 'prod' }, 'The queue for prod of acme/web'],
    ['pr restart --set pr.number=8', { pr: 8 }, 'Requested a restart of the tests of #8.'],
  ])('without a fault: %s', async (line, expected, sentence) => {
    const setting = { env: where, answer: accepting }
    const { out } = await mergeq(`${line} --json`, setting)
    expect(receiptIn({ out })).toMatchObject({ ok: true, delivery: 'confirmed', ...expected })
    expect((await mergeq(line, { ...setting, terminal: true })).out).toContain(sentence)
  })

  test.each([
    ['pr get --set pr.number=8', '#8 is not in the queue for main of'],
    ['pr get --set pr.number=4294967295', '#4294967295 is not in the queue for main of'],
    ['queue get --set targetBranch=prod', 'There is no queue for prod of'],
    ['api cancelPullRequest -F pr.number=8', '#8 is not in the queue for main of'],
  ])('in messages: %s', async (line, expected) => {
    const answer = () => ({ status: 404, body: 'Not Found' })
    const { code, err } = await mergeq(line, { env: where, answer })
    expect({ code, err }).toEqual({ code: 5, err: expect.stringContaining(expected) })
  })

  test('in the question before a queue is deleted', async () => {
    const setting = { env: where, answer: accepting, terminal: true, inputTerminal: true }
    const line = 'queue delete --set targetBranch=prod'
    const refused = await mergeq(line, { ...setting, typed: ['main'] })
    expect({ code: refused.code, requests: refused.requests.length }).toEqual({ code: 2, requests: 0 })
    const agreed = await mergeq(line, { ...setting, typed: ['prod'] })
    expect({ code: agreed.code, places: agreed.requests.map(place) }).toEqual({
      code: 0,
      places: ['web prod'],
    })
  })

  test('in the cancellations before a queue is deleted', async () => {
    const answer = (seen: Seen) => {
      if (!seen.path.endsWith('/getQueue')) return accepting()
      const enqueuedPullRequests = [record(place(seen) === 'web prod' ? 9 : 7)]
      return { body: JSON.stringify({ ...queue, enqueuedPullRequests }) }
    }
    const line = 'queue delete --cancel-all --yes --set targetBranch=prod'
    const { code, requests } = await mergeq(line, { env: where, answer })
    expect({ code, places: requests.map(place) }).toEqual({
      code: 0,
      // The queue is read first.
      places: ['web prod', 'web prod 9', 'web prod'],
    })
  })

  test('in a wait', async () => {
    const answer = losing({
      'web prod 7': { ...queued, state: 'merged', isCurrentlySubmittedToQueue: false },
    })
    const { code, requests } = await mergeq('pr wait 7 --set targetBranch=prod', { env: where, answer })
    expect({ code, places: [...new Set(requests.map(place))] }).toEqual({ code: 0, places: ['web prod 7'] })
  })

  test.each([
    ['pr submit 7 --set targetBranch=5', 'targetBranch'],
    ['pr submit 7 --set repo.owner=null', 'repo'],
    [`pr submit --set 'pr.number="7"'`, 'pr'],
    ['pr cancel --set pr.number=-1', 'pr'],
    ['queue pause --set targetBranch=null', 'targetBranch'],
    ['api cancelPullRequest', 'pr'],
    ['api deleteQueue -F repo.name=web', 'repo'],
  ])(
    'a body that cannot be read back has an unknown outcome after one request: %s',
    async (line, missing) => {
      const answer = losing({ 'web main 7': queued, 'web main': { ...queue, state: 'PAUSED' } })
      const { code, out, err, requests } = await mergeq(`${line} --json`, { env: where, answer })
      expect({ code, requests: requests.length }).toEqual({ code: 11, requests: 1 })
      const receipt = receiptIn({ out })
      expect(receipt).toMatchObject({ ok: false, delivery: 'unknown', exit: 11 })
      expect(receipt).not.toHaveProperty(missing)
      expect(err).not.toMatch(/Checking whether|Retrying once|undefined/)
    },
  )

  test('a body that names nothing is confirmed without names', async () => {
    const setting = { env: where, answer: accepting, terminal: true }
    const { code, out } = await mergeq('pr submit 7 --set targetBranch=5', setting)
    expect({ code, out }).toEqual({ code: 0, out: 'The service accepted submitPullRequest.\n' })
  })

  test('targets that `--set` gives are those of the receipt', async () => {
    const line = `pr targets //a --sha 4f2a9c1 --set 'impactedTargets=["b","c"]' --json`
    const { out, requests } = await mergeq(line, { env: where, answer: accepting })
    expect(JSON.parse(requests[0]?.body ?? '').impactedTargets).toEqual(['b', 'c'])
    expect(receiptIn({ out })).toMatchObject({ targets: 2 })
  })
})

test.each<readonly [string, Answer]>([
  ['503', { status: 503 }],
  ['a web page', { body: '<!doctype html><html></html>' }],
])('an unknown operation that is answered with %s is not said to be sent again', async (_, answer) => {
  const line = 'api exampleOperation -F name=value --json'
  const { code, out, err, requests } = await mergeq(line, { env: where, answer: () => answer })
  expect({ code, requests: requests.length }).toEqual({ code: 11, requests: 1 })
  expect(receiptIn({ out })).toMatchObject({ delivery: 'unknown' })
  expect(err).not.toMatch(/Retrying once|Checking whether/)
})
