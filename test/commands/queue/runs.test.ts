import { describe, expect, test } from 'vitest'
import { mergeq, noon, type Seen, type Setting } from '../../support/harness.ts'

const result = (index: number) => ({
  prNumber: index,
  testRunId: `run-${index}`,
  endedAt: new Date(noon - index * 1000).toISOString(),
  outcome: index % 2 === 0 ? 'passed' : 'failed',
  cycleConclusion: 'merged',
  testingDurationMs: 60_000,
})

const headers = { date: new Date(noon).toUTCString() }
const emptyQueue = { headers, body: JSON.stringify({ state: 'running', enqueuedPullRequests: [] }) }
const requested = ({ body }: Seen) => JSON.parse(body)

/** A service with as many results; `page` changes what a page gives. */
const service =
  (number: number, page: (offset: number, take: number) => object = () => ({})) =>
  (seen: Seen) => {
    if (seen.path.endsWith('/getQueue')) return emptyQueue
    const { offset = 0, take } = requested(seen)
    const rows = Array.from({ length: number }, (_, index) => result(index)).slice(offset, offset + take)
    return {
      headers,
      body: JSON.stringify({ testingResults: rows, totalItems: number, ...page(offset, take) }),
    }
  }

const runs = async (flags: string, answer: NonNullable<Setting['answer']>, setting: Setting = {}) => {
  const outcome = await mergeq(`queue runs -R acme/web -b main --retries 0 ${flags}`, { answer, ...setting })
  const pages = outcome.requests.filter(({ path }) => path.endsWith('/listMergeQueueTestingResults'))
  return { ...outcome, pages: pages.map(requested) }
}

describe('`queue runs`', () => {
  test('prints a row for each result on a pipe', async () => {
    const { code, out, err } = await runs('', service(2))
    const place = 'github.com/acme/web\tmain\thttps://github.com/acme/web/pull'
    expect({ code, out, err }).toEqual({
      code: 0,
      out:
        `2026-01-05T12:00:00.000Z\t0\trun-0\tpassed\tmerged\t\t60000\t${place}/0\n` +
        `2026-01-05T11:59:59.000Z\t1\trun-1\tfailed\tmerged\t\t60000\t${place}/1\n`,
      err: '2 results of test runs for main of acme/web that ended from 2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z.\n',
    })
  })

  test('reads on after a short page, and without totals until a page is empty', async () => {
    const short = await runs(
      '--page-size 2',
      service(4, offset => (offset === 0 ? { testingResults: [result(0)] } : {})),
    )
    expect(short.pages.map(({ offset }) => offset)).toEqual([undefined, 1, 3])
    const without = await runs(
      '--page-size 2',
      service(4, () => ({ totalItems: null })),
    )
    expect(without.pages.map(({ offset }) => offset)).toEqual([undefined, 2, 4])
    expect([short.code, without.code]).toEqual([0, 0])
  })

  const twice = 'the service returned the same results twice'
  test.each<readonly [how: string, page: (offset: number) => object, problem: string]>([
    ['ends too early', at => (at === 2 ? { testingResults: [] } : {}), 'counted 4 results and returned 2'],
    ['repeats a page', () => ({ testingResults: [result(0), result(1)] }), twice],
    ['repeats an undated one', () => ({ testingResults: [{ prNumber: 1 }], totalItems: null }), twice],
    [
      'gives too many',
      at => ({ testingResults: [at, at + 1, at + 2].map(result) }),
      'counted 4 results and returned 6',
    ],
    [
      'counts fewer',
      at => ({ totalItems: 9 - at }),
      'counted 9 results and then 7, so some may have been skipped',
    ],
  ])('ends as incomplete where the service %s', async (_, page, problem) => {
    const { code, out, err, pages } = await runs('--page-size 2 --json', service(4, page))
    const { complete } = JSON.parse(out).window
    expect({ code, complete, requests: pages.length }).toEqual({ code: 17, complete: false, requests: 2 })
    expect(err).toContain(problem)
  })

  test('does not take a number that is none for the end of the list', async () => {
    const { code, err } = await runs(
      '--page-size 2',
      service(4, () => ({ totalItems: 'many' })),
    )
    expect(code).toBe(15)
    expect(err).toContain('it has no valid number of results (totalItems)')
  })

  test('selects by outcome and pull request', async () => {
    const outcome = await runs('--outcome failed --json', service(4))
    expect(
      JSON.parse(outcome.out).testingResults.map(({ prNumber }: { prNumber: number }) => prNumber),
    ).toEqual([1, 3])
    const one = await runs('--pr 2', service(4))
    expect(one.out.split('\n').map(row => row.split('\t')[1])).toEqual(['2', undefined])
  })

  test('requests 45 days less a minute, and refuses more', async () => {
    const { pages } = await runs('--since 45d', service(0))
    expect(pages[0].since).toBe('2025-11-21T12:01:00.000Z')
    const { code, err, pages: none } = await runs('--since 46d', service(0))
    expect({ code, none }).toEqual({ code: 2, none: [] })
    expect(err).toContain('The service keeps test runs for 45 days')
    expect(err).toContain('--since 45d')
  })

  test('says what was refused', async () => {
    const answer = (seen: Seen) =>
      seen.path.endsWith('/getQueue') ? emptyQueue : { status: 400, body: 'No.' }
    const { code, out, err } = await runs('', answer)
    expect({ code, out }).toEqual({ code: 6, out: '' })
    expect(err).toContain('rejected the request for the test runs in the queue for main of acme/web: No.')
  })
})
