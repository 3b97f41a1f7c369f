import { describe, expect, test } from 'vitest'
import { type Answer, openStory, type Seen } from '../support/harness.ts'
import { documentsIn, numberIn, numbersIn, run } from '../support/several-pull-requests.ts'

const dialects = ['document', 'hosted'] as const

const operationOf = ({ path }: Pick<Seen, 'path'>): string => path.replace('/v1/', '')

test('a pull request that is named twice is processed once', async () => {
  const { code, out, requests } = await run('pr restart 7 8 #7 7 --json', () => ({ body: 'OK' }))
  expect({ code, sent: numbersIn(requests).toSorted() }).toEqual({ code: 0, sent: [7, 8] })
  expect(documentsIn(out).map(({ pr }) => pr)).toEqual([7, 8])
  const url = 'https://github.com/acme/api/pull/7'
  const other = await run(`pr restart ${url} ${url}/ https://github.com/acme/cli/pull/7`, () => ({
    body: 'OK',
  }))
  expect(numbersIn(other.requests)).toEqual([7, 7])
})

describe('one failure', () => {
  const refusing = (seen: Seen): Answer => (numberIn(seen) === 8 ? { status: 422 } : { body: 'OK' })

  test('does not stop the rest', async () => {
    const { code, out, requests } = await run('pr cancel 7 8 9 --yes --json', refusing)
    expect({ code, sent: numbersIn(requests).toSorted() }).toEqual({ code: 6, sent: [7, 8, 9] })
    expect(documentsIn(out).map(({ pr, ok }) => [pr, ok])).toEqual([
      [7, true],
      [8, false],
      [9, true],
    ])
  })

  test('stops the rest with --stop-on-error, and names the pull requests that were not started', async () => {
    const { code, err, requests } = await run('pr cancel 7 8 9 --yes --stop-on-error', refusing)
    expect({ code, sent: numbersIn(requests) }).toEqual({ code: 6, sent: [7, 8] })
    expect(err).toMatch(/Done: #7\. Failed: #8\. Not started: #9\./)
  })

  test('stops submit --wait with --stop-on-error', async () => {
    const { code, err, requests } = await run('pr submit 7 8 9 --wait --stop-on-error', seen =>
      operationOf(seen) === 'submitPullRequest' ? refusing(seen) : { status: 404 },
    )
    expect(code).toBe(6)
    expect(requests.map(operationOf).filter(name => name === 'submitPullRequest')).toHaveLength(2)
    expect(err).toMatch(/Done: #7\. Failed: #8\. Not started: #9\./)
  })

  test('stops submit --wait with --stop-on-error: still one result for each', async () => {
    const answer = (seen: Seen) =>
      operationOf(seen) === 'submitPullRequest' ? refusing(seen) : { status: 404 }
    const { code, out } = await run('pr submit 7 8 9 --wait --stop-on-error --json', answer)
    expect(code).toBe(6)
    expect(documentsIn(out).map(({ pr, outcome, exit }) => [pr, outcome, exit])).toEqual([
      [7, 'pending', 8],
      [8, 'error', 6],
      [9, 'pending', 8],
    ])
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

  test.each(['{"type":"result","pr":7}', '{"pr":7}', '{"type":"result","exit":3}'])(
    '%s is refused',
    async input => {
      const { code, requests } = await run('pr submit -', () => ({ body: 'OK' }), { input })
      expect({ code, requests }).toEqual({ code: 2, requests: [] })
    },
  )
})

describe.each(dialects)('in the %s dialect', dialect => {
  test('20 submits of the same pull request at once: each done or refused', async () => {
    const story = await openStory({ dialect })
    try {
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => story.mergeq('pr submit 7')))
      for (const { code, err } of outcomes) {
        expect([0, 6]).toContain(code)
        expect(err).not.toMatch(/inside mergeq/)
      }
      expect(outcomes.some(({ code }) => code === 0)).toBe(true)
    } finally {
      await story.close()
    }
  })

  test('queue delete --cancel-all empties the queue first', async () => {
    const story = await openStory({ dialect, scenario: 'paused' })
    try {
      await story.mergeq('pr submit 7 8 9')
      story.clock.now += 1_000
      const { code, err } = await story.mergeq('queue delete --cancel-all --yes')
      expect(code).toBe(0)
      expect(err).toMatch(/^Cancelled #7, #8, #9\.$/m)
    } finally {
      await story.close()
    }
  })
})

describe('queue delete', () => {
  test('--cancel-all: a pull request that left meanwhile is not an error; any other error keeps the queue', async () => {
    const listing = (seen: Seen, status: number): Answer => {
      if (operationOf(seen) === 'getQueue')
        return { body: JSON.stringify({ enqueuedPullRequests: [{ prNumber: 7 }, { prNumber: 8 }] }) }
      return operationOf(seen) === 'cancelPullRequest' && numberIn(seen) === 7
        ? { status, body: 'no' }
        : { body: 'OK' }
    }
    const gone = await run('queue delete --cancel-all --yes', seen => listing(seen, 404))
    expect({ code: gone.code, last: gone.requests.map(operationOf).at(-1) }).toEqual({
      code: 0,
      last: 'deleteQueue',
    })
    expect(gone.err).toMatch(/^Cancelled #8\.\nNo longer in the queue: #7\.\n/m)
    const refused = await run('queue delete --cancel-all --yes', seen => listing(seen, 422))
    expect(refused.code).toBe(6)
    expect(refused.requests.map(operationOf)).not.toContain('deleteQueue')
  })

  test.each([
    ['', 'deletes the queue for main in github\\.com/acme/web', []],
    ['--cancel-all', 'cancels 2 queued pull requests and deletes the queue for main in \\S+', ['getQueue']],
  ])('the prompt with %j names the damage; a no changes nothing', async (words, damage, sent) => {
    const { code, err, requests } = await run(
      `queue delete ${words}`,
      () => ({ body: JSON.stringify({ enqueuedPullRequests: [{ prNumber: 7 }, { prNumber: 8 }] }) }),
      { terminal: true, inputTerminal: true, typed: ['no'], columns: 200, env: { NO_COLOR: '1' } },
    )
    expect({ code, sent: requests.map(operationOf) }).toEqual({ code: 2, sent })
    expect(err).toMatch(
      new RegExp(
        `This ${damage}\\. Type main to confirm: mergeq: 'no' is not 'main'\\. Nothing was changed\\.\\n$`,
      ),
    )
  })
})
