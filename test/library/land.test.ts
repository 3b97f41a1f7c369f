import { describe, expect, test } from 'vitest'
import { type Answer, noon, openStory, type Script, type Seen } from '../support/harness.ts'
import { clientOfStory, clientOf as clientOnHost, hostAt } from '../support/library-client.ts'
import { documentsIn, type Json } from '../support/pr-wait.ts'

const operationOf = ({ path }: Seen): string => path.replace('/v1/', '')

/** A queue whose pull requests stand as `recordOf` says, by the number of submissions before; undefined is not there. */
async function clientOf(
  recordOf: (submissions: number, pr: number) => Json | undefined,
  { submit = () => ({}), ...options }: object & { readonly submit?: (pr: number) => Answer } = {},
) {
  const clock = { now: noon }
  const submitted = new Map<number, number>()
  /** When each record was shown first: then it changed. */
  const since = new Map<string, string>()
  const answer: Script = seen => {
    const headers = { date: new Date(clock.now).toUTCString() }
    if (operationOf(seen) === 'getQueue') return { headers, body: '{"enqueuedPullRequests":[]}' }
    if (operationOf(seen) === 'getSubmittedPullRequests') return { status: 404 }
    const { number } = JSON.parse(seen.body).pr
    if (operationOf(seen) === 'submitPullRequest') {
      submitted.set(number, (submitted.get(number) ?? 0) + 1)
      return { headers, ...submit(number) }
    }
    const record = recordOf(submitted.get(number) ?? 0, number)
    if (record === undefined) return { status: 404, headers }
    const shown = JSON.stringify([number, submitted.get(number), record])
    const stateChangedAt = since.get(shown) ?? new Date(clock.now).toISOString()
    since.set(shown, stateChangedAt)
    return { headers, body: JSON.stringify({ id: 'a', prNumber: number, stateChangedAt, ...record }) }
  }
  const opened = await clientOnHost(answer, options, hostAt(clock))
  const sent = (name: string) => opened.requests.filter(seen => operationOf(seen) === name)
  return { ...opened, clock, sent }
}

const left = { isCurrentlySubmittedToQueue: false }
const queued = { state: 'testing', isCurrentlySubmittedToQueue: true }
const merged = { state: 'merged', ...left }
const failedFor = (reason: string) => ({ state: 'failed', reason, ...left })

describe('landPullRequests', () => {
  test('submits, waits and submits again as `pr land` does: several, which fail by trouble of the host', async () => {
    const printed = await openStory({ scenario: 'host-trouble' })
    const called = await openStory({ scenario: 'host-trouble' })
    const { out, err } = await printed.mergeq('pr land 9 7 -o ndjson')
    const notices: string[] = []
    const events: object[] = []
    const client = clientOfStory(called, { onNotice: text => notices.push(text) })
    const results = await client.landPullRequests({
      prs: [9, '#7', 7],
      onAttempt: (attempt: object) => events.push(attempt),
      onChange: (change: object) => events.push(change),
    })
    expect(results).toMatchObject([
      { pr: 9, outcome: 'merged', submitted: true, attempts: 2, exit: 0 },
      { pr: 7, outcome: 'merged', submitted: true, attempts: 2, exit: 0 },
    ])
    const lines = documentsIn(out)
    const byPullRequest = (one: Json, other: Json) => Number(other.pr) - Number(one.pr)
    const printedResults = lines.filter(({ type }) => type === 'result').sort(byPullRequest)
    expect(results).toEqual(printedResults)
    expect(events).toEqual(lines.filter(({ type }) => type !== 'result'))
    const said = (texts: readonly string[]) => texts.filter(text => /is not in the queue until/.test(text))
    expect(said(notices)).toEqual(said(err.split('\n')))
    expect(said(notices)).toHaveLength(2)
    expect(notices).toContainEqual(expect.stringMatching(/^#9: attempt 2 of 3\. /))
  })

  test('sends what it is given, and takes one in the queue for the first attempt', async () => {
    const { client, sent } = await clientOf(submissions => (submissions === 0 ? undefined : merged))
    await client.landPullRequests({ prs: [7], priority: 'high', noBatch: true, set: { 'new.field': 1 } })
    expect(sent('submitPullRequest').map(({ body }) => JSON.parse(body))).toMatchObject([
      { pr: { number: 7 }, priority: 'high', noBatch: true, new: { field: 1 } },
    ])
    let readings = 0
    const other = await clientOf(() => (readings++ < 2 ? queued : merged))
    expect(await other.client.landPullRequests({ prs: [7] })).toMatchObject([
      { outcome: 'merged', submitted: false, attempts: 1 },
    ])
    expect(other.sent('submitPullRequest')).toEqual([])
  })

  test.each([
    ['merge_conflict', { resubmit: 'any' }, 3],
    ['merge_conflict', { resubmit: 'any', attempts: 2 }, 2],
    ['github_api_rate_limit_exceeded', {}, 3],
    // The pause of 5 minutes would end later.
    ['github_api_rate_limit_exceeded', { timeout: '4m' }, 1],
  ] as const)('after %s with %j it submits %i times', async (reason, options, attempts) => {
    const { client, sent } = await clientOf(submissions =>
      submissions === 0 ? undefined : failedFor(reason),
    )
    expect(await client.landPullRequests({ prs: [7], ...options })).toMatchObject([
      { outcome: 'failed', serviceReason: reason, submitted: true, attempts, exit: 3 },
    ])
    expect(sent('submitPullRequest')).toHaveLength(attempts)
  })

  test('a submission that is refused is the result of its pull request, and the others go on', async () => {
    const { client } = await clientOf(
      (submissions, pr) => (pr === 8 || submissions === 0 ? undefined : merged),
      { submit: pr => (pr === 8 ? { status: 409, body: 'conflict' } : {}) },
    )
    expect(await client.landPullRequests({ prs: [8, 7] })).toMatchObject([
      { pr: 8, outcome: 'error', submitted: false, exit: 6, reason: '#8 was not submitted: conflict.' },
      { pr: 7, outcome: 'merged', submitted: true, exit: 0 },
    ])
  })

  test('an abort rejects, cancels nothing, and a later wait does not take an earlier end for the result', async () => {
    const stop = new AbortController()
    const old = {
      ...failedFor('merge_conflict'),
      id: 'a',
      stateChangedAt: new Date(noon - 60_000).toISOString(),
    }
    let readings = 0
    const { client, sent } = await clientOf(submissions => {
      if (submissions > 0 && ++readings === 2) stop.abort('shift is over')
      return readings < 8 ? old : merged
    })
    const error = await client
      .landPullRequests({ prs: [7], signal: stop.signal })
      .catch((error: unknown) => error)
    expect(error).toMatchObject({ kind: 'interrupted', exit: 130, cause: 'shift is over' })
    expect(error).toMatchObject({
      hint: 'To continue waiting, run:\nwaitForPullRequests({ prs: [7] })\nTo cancel, run:\ncancelPullRequest({ pr: 7 })',
    })
    expect([sent('submitPullRequest').length, sent('cancelPullRequest').length]).toEqual([1, 0])
    expect(await client.waitForPullRequests({ prs: [7] })).toMatchObject([{ outcome: 'merged' }])
  })

  test('an abort while a submission is sent says that its outcome is not known', async () => {
    const stop = new AbortController()
    const { client, sent } = await clientOf(() => undefined, {
      submit() {
        stop.abort()
        return {}
      },
    })
    await expect(client.landPullRequests({ prs: [7, 8], signal: stop.signal })).rejects.toMatchObject({
      kind: 'interrupted',
      delivery: 'unknown',
      operation: 'submitPullRequest',
      pr: 7,
    })
    expect(sent('submitPullRequest')).toHaveLength(1)
  })

  test('another head than the one that is meant is not submitted', async () => {
    const prSha = 'b'.repeat(40)
    const { client, sent } = await clientOf(() => ({ ...queued, prSha }))
    expect(await client.landPullRequests({ prs: [7], matchHead: 'a'.repeat(40) })).toMatchObject([
      { outcome: 'stale', submitted: false, exit: 14, reason: expect.stringContaining('Nothing was sent.') },
    ])
    expect(sent('submitPullRequest')).toEqual([])
  })
})
