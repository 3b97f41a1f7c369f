import { describe, expect, test } from 'vitest'
import { type Answer, queueEnv as env, mergeq, type Seen } from '../../support/harness.ts'

const numberIn = ({ body }: Pick<Seen, 'body'>): number => JSON.parse(body).pr?.number
const operationOf = ({ path }: Pick<Seen, 'path'>): string => path.replace('/v1/', '')

const run = (flags: string, answer: (seen: Seen) => Answer) =>
  mergeq(`queue delete ${flags}`, { env, answer })

describe('queue delete', () => {
  test('--cancel-all: a pull request that left meanwhile is not an error; any other error keeps the queue', async () => {
    const listing = (seen: Seen, status: number): Answer => {
      if (operationOf(seen) === 'getQueue')
        return { body: JSON.stringify({ enqueuedPullRequests: [{ prNumber: 7 }, { prNumber: 8 }] }) }
      return operationOf(seen) === 'cancelPullRequest' && numberIn(seen) === 7
        ? { status, body: 'no' }
        : { body: 'OK' }
    }
    const gone = await run('--cancel-all --yes', seen => listing(seen, 404))
    expect({ code: gone.code, last: gone.requests.map(operationOf).at(-1) }).toEqual({
      code: 0,
      last: 'deleteQueue',
    })
    expect(gone.err).toMatch(
      /^Cancelled #8 in the queue for main of acme\/web\.\nNo longer in the queue: #7\.\n/m,
    )
    const refused = await run('--cancel-all --yes', seen => listing(seen, 422))
    expect(refused.code).toBe(6)
    expect(refused.requests.map(operationOf)).not.toContain('deleteQueue')
  })
})
