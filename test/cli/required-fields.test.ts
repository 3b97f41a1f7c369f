import { describe, expect, test } from 'vitest'
import { withFaultServer } from '../support/fault-server.ts'
import { runAndCheck } from '../support/fault-server-runs.ts'
import { mergeq, type Seen } from '../support/harness.ts'
import { resetConnection, respondWith, withoutEffect } from '../support/responders.ts'

const where = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_PR: '7' }
const operationOf = ({ path }: Seen): string => path.replace('/v1/', '')

describe('a response without a required part is rejected', () => {
  const others = [
    '{}',
    '{"message":"busy"}',
    '{"error":{"message":"busy"}}',
    '12345678901234567890',
    '1e400',
    '7',
  ]
  const records = [...others, '{"state":null}', '{"state":""}', '{"state":7}', '{"test":{}}']
  const queues = [
    ...others,
    '{"state":"running"}',
    '{"enqueuedPullRequests":null}',
    '{"enqueuedPullRequests":{}}',
  ]
  const reads: readonly (readonly [line: string, bodies: readonly string[]])[] = [
    ['pr get 7', records],
    ['pr get --head fix', records],
    ['pr get 7 --exit-status', records],
    ['pr wait 7 --timeout 0', records],
    ['queue get', queues],
    ['queue check --max-depth 3', queues],
    ['queue check --stalled 2h', queues],
    ['queue watch --once', queues],
    ['queue export', queues],
    ['pr explain 7', [...others, '{"state":null}']],
  ]
  for (const [line, bodies] of reads)
    test.each(bodies)(`${line}: %s`, async body => {
      const { code, out, err } = await mergeq(line, { env: where, answer: () => ({ body }) })
      expect({ code, err }).toEqual({
        code: 15,
        err: expect.stringMatching(/^mergeq: Invalid response from 127\.0\.0\.1:\d+: /m),
      })
      if (!line.startsWith('pr wait')) expect(out).toBe('')
    })

  test('the message has what the response said instead', async () => {
    const answer = () => ({ body: '{"message":"busy"}' })
    expect((await mergeq('queue get', { env: where, answer })).err).toContain(' and says: busy')
  })

  test.each([
    '{"state":"running","enqueuedPullRequests":[]}',
    '{"enqueuedPullRequests":[null,{}]}',
    '{"state":"HOVERING","enqueuedPullRequests":[{"state":"HOVERING","prNumber":7}]}',
  ])('a record with a list of pull requests is a queue, whatever else it has: %s', async body => {
    expect(await mergeq('queue get', { env: where, answer: () => ({ body }) })).toMatchObject({ code: 0 })
  })

  test('`pr explain` reads a record without a state if it has other fields', async () => {
    const answer = (seen: Seen) =>
      operationOf(seen) === 'getQueue'
        ? { status: 404 }
        : { body: '{"readiness":{"gitHubMergeability":"not_mergeable"}}' }
    expect(await mergeq('pr explain 7 --json', { env: where, answer })).toMatchObject({ code: 0 })
  })

  const silent = ['{}', '{"message":"busy"}', '12345678901234567890']
  test.each(silent)('as a reading back it says nothing: %s', async body => {
    const script = {
      getSubmittedPullRequest: withoutEffect(respondWith(200, body)),
      getQueue: withoutEffect(respondWith(200, body)),
    }
    const lines = [
      'pr submit 7',
      'pr cancel 7',
      'pr restart 7',
      'queue create',
      'queue pause',
      'queue delete --yes',
    ]
    for (const line of lines) {
      const changes = [
        'submitPullRequest',
        'cancelPullRequest',
        'restartTestsOnPullRequest',
        'createQueue',
        'updateQueue',
        'deleteQueue',
      ]
      const lost = Object.fromEntries(changes.map(operation => [operation, withoutEffect(resetConnection)]))
      await withFaultServer({ script: { ...script, ...lost } }, async server => {
        const { code, documents } = await runAndCheck(server, `${line} --json`)
        expect({ line, code, delivery: documents[0]?.delivery }).toEqual({
          line,
          code: 11,
          delivery: 'unknown',
        })
      })
    }
  })

  test.each(['queue update --concurrency 5', 'queue pause', 'pr submit 7'])(
    'a change is done whatever the body of its 200: %s',
    async line => {
      const answer = () => ({ body: '{"message":"busy"}' })
      expect(await mergeq(line, { env: where, answer })).toMatchObject({ code: 0 })
    },
  )
})
