import { describe, expect, test } from 'vitest'
import { mergeq, type Seen } from '../support/harness.ts'

const where = '-R acme/web -b main'
const stateOf = ({ body }: Seen): unknown => JSON.parse(body).state
const states = (requests: readonly Seen[]) => requests.map(stateOf)

/** A service that knows states in lower case only. */
const strict = (seen: Seen) => {
  const state = stateOf(seen)
  if (typeof state === 'string' && state !== state.toLowerCase())
    return { status: 400, body: `unknown state ${state}` }
  return { body: seen.path.endsWith('listPullRequests') ? '{"pullRequests":[]}' : 'OK' }
}

describe('a state that the service rejects is sent again in lower case', () => {
  test.each([
    [`queue pause ${where}`, ['PAUSED', 'paused']],
    [`queue update --state paused ${where}`, ['PAUSED', 'paused']],
    [`queue update --set state=PAUSED ${where}`, ['PAUSED', 'paused']],
    [`pr list --state not-ready ${where}`, ['NOT_READY', 'not_ready']],
    // It is known then.
    [`pr list --state merged --state failed ${where}`, ['MERGED', 'merged', 'failed']],
  ])('%s', async (line, expected) => {
    const { code, err, requests } = await mergeq(line, { answer: strict })
    expect(code).toBe(0)
    expect(err).not.toContain('400')
    expect(states(requests)).toEqual(expected)
  })

  test('a receipt says that the change is confirmed', async () => {
    const { out } = await mergeq(`queue pause ${where} --json`, { answer: strict })
    expect(JSON.parse(out)).toMatchObject({ ok: true, delivery: 'confirmed' })
  })
})

describe('a rejection stays a rejection', () => {
  test('the first refusal is reported', async () => {
    const answer = (_: Seen, index: number) => ({ status: 400, body: index === 0 ? 'not now' : 'never' })
    const { code, err, requests } = await mergeq(`queue pause ${where}`, { answer })
    expect({ code, states: states(requests) }).toEqual({ code: 6, states: ['PAUSED', 'paused'] })
    expect(err.split('\n')[0]).toMatch(/ was not updated: not now\.$/)
  })

  test.each([
    ['another status', `queue pause ${where}`, 409],
    ['a request without a state', `queue update --concurrency 9 ${where}`, 400],
    ['--retries 0', `queue pause ${where} --retries 0`, 400],
    ['a body that the user names with api', `api updateQueue -f state=PAUSED ${where}`, 400],
    ['a state that is not known', `queue update --set state=ASLEEP ${where}`, 400],
  ])('nothing is sent again after %s', async (_, line, status) => {
    const { requests } = await mergeq(line, { answer: () => ({ status, body: 'no' }) })
    expect(requests).toHaveLength(1)
  })

  test('a second request without a response is read back', async () => {
    const answer = (seen: Seen) => {
      if (seen.path.endsWith('getQueue')) return { body: '{"state":"paused","enqueuedPullRequests":[]}' }
      const answered = strict(seen)
      return answered.body === 'OK' ? { status: 503 } : answered
    }
    const { code, out, requests } = await mergeq(`queue pause ${where} --json`, { answer })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ ok: true, delivery: 'confirmed-by-read' })
    expect(requests.filter(({ path }) => path.endsWith('updateQueue')).map(stateOf)).toEqual([
      'PAUSED',
      'paused',
    ])
  })
})
