import { describe, expect, test } from 'vitest'
import { mergeq, openStory, type Seen, type Setting } from '../../support/harness.ts'

const record = (prNumber: number, more: object = {}) => ({
  prNumber,
  state: 'merged',
  stateChangedAt: '2026-01-05T11:57:00.000Z',
  prAuthor: 'ada',
  priorityName: 'medium',
  prTitle: `Title ${prNumber}`,
  ...more,
})

/** Answers by state and cursor: `''` is the first page. */
const pages =
  (byState: Readonly<Record<string, readonly (readonly object[])[]>>) =>
  ({ body }: Pick<Seen, 'body'>) => {
    const { state = '', cursor = '' } = JSON.parse(body)
    const index = cursor === '' ? 0 : Number(cursor)
    const list = byState[state] ?? [[]]
    const nextCursor = index + 1 < list.length ? String(index + 1) : null
    return { body: JSON.stringify({ pullRequests: list[index], nextCursor, kept: 1 }) }
  }

const bodiesOf = (requests: readonly Seen[]) =>
  requests.map(({ body }) => {
    const { repo: _repo, targetBranch: _branch, ...rest } = JSON.parse(body)
    return rest
  })

const list = (flags: string, answer: NonNullable<Setting['answer']>, setting: Setting = {}) =>
  mergeq(`pr list -R acme/web -b main --retries 0 ${flags}`, { answer, ...setting })

describe('`pr list`', () => {
  const two = pages({ '': [[record(1), record(2)], [record(3)]] })

  test('prints rows on a pipe, and the range of the list on standard error', async () => {
    const { code, out, err, requests } = await list('', two)
    expect({ code, out, err }).toEqual({
      code: 0,
      out: [1, 2, 3]
        .map(pr => `${pr}\tMERGED\t2026-01-05T11:57:00.000Z\tada\tmedium\tTitle ${pr}\n`)
        .join(''),
      err: '3 pull requests for main of acme/web.\n',
    })
    expect(bodiesOf(requests)).toEqual([{ take: 100 }, { cursor: '1', take: 100 }])
  })

  const [here, day] = ['for main of acme/web', '2026-01-05 00:00 UTC']
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  test.each([
    ['--limit 2', 'Showing 2 pull requests; there are more. To list more, add --limit 1000.'],
    ['', `3 pull requests ${here}.`],
    ['--since 24h', `3 pull requests ${here} (ended in the last 24 hours).`],
    ['--until 2026-01-05T09:30:00Z', `3 pull requests ${here} (ended until 2026-01-05 09:30 UTC).`],
    ['--since yesterday', `3 pull requests ${here} (ended since yesterday, 00:00 ${timeZone}).`],
    ['--since 2026-01-05T00:00:00.5Z --author ada', `3 pull requests ${here} (ended since ${day}, by ada).`],
    ['--state not-ready --author nobody', `No pull requests ${here} (not-ready, by nobody).`],
  ])('prints on a terminal a table and one sentence: "%s"', async (flags, sentence) => {
    const answer = flags.includes('state') ? pages({ NOT_READY: [[record(1), record(2)]] }) : two
    const { out } = await list(`--color never ${flags}`, answer, { terminal: true })
    expect(out.replaceAll(/\s+/g, ' ').trimEnd().slice(-sentence.length)).toBe(sentence)
    if (!flags.includes('state'))
      expect(out).toMatch(/^PR {2}STATE {5}AGO {2}AUTHOR {2}TITLE\n#1 {2}✓ merged {2}3m {3}ada {5}Title 1\n/)
  })

  test('shows the priority on a terminal where one is not medium', async () => {
    const answer = pages({ '': [[record(1), record(2, { priorityName: 'high' })]] })
    const { out } = await list('--color never', answer, { terminal: true })
    expect(out).toMatch(/^PR .* PRIORITY {2}TITLE\n#1 .* medium {4}Title 1\n#2 .* high {6}Title 2\n/)
  })

  test('prints one JSON document with the fields of the service and the range of the list', async () => {
    expect(JSON.parse((await list('--json', two)).out)).toEqual({
      pullRequests: [1, 2, 3].map(pr => record(pr, { state: 'MERGED' })),
      kept: 1,
      window: { complete: true },
    })
    const { out, err } = await list('--json --limit 2', two)
    expect(JSON.parse(out)).toMatchObject({ nextCursor: '1', window: { complete: false } })
    expect(err).toBe('Listed 2 pull requests for main of acme/web. There are more.\n')
    const ranged = JSON.parse((await list('--since 24h --until 2026-01-05T09:30:00Z --json', two)).out)
    const range = { start: '2026-01-04T12:00:00.000Z', end: '2026-01-05T09:30:00.000Z' }
    expect(ranged.window).toEqual({ ...range, complete: true })
    // A cursor would skip the rest of the page.
    const cut = await list(
      '--json --limit 2 --page-size 10',
      pages({ '': [[1, 2, 3].map(pr => record(pr)), []] }),
    )
    expect(JSON.parse(cut.out)).not.toHaveProperty('nextCursor')
    expect((await list('-o csv --limit 2 --fields prNumber', two)).out).toBe('prNumber\r\n1\r\n2\r\n')
  })

  test('follows a cursor that is a number', async () => {
    const { code, out, requests } = await list('-o ndjson', ({ body }) => ({
      body: body.includes('"cursor"')
        ? '{"pullRequests":[{"prNumber":2}]}'
        : '{"pullRequests":[{"prNumber":1}],"nextCursor":5}',
    }))
    expect({ code, out }).toEqual({ code: 0, out: '{"prNumber":1}\n{"prNumber":2}\n' })
    expect(bodiesOf(requests)[1]).toMatchObject({ cursor: '5' })
  })

  test.each([
    ['{}', 15],
    ['{"pullRequests":null}', 15],
    ['null', 15],
    ['{"pullRequests":[]}', 0],
    ['{"pullRequests":[],"nextCursor":{}}', 15],
    ['{"pullRequests":[],"nextCursor":true}', 15],
  ])('of the answer %s ends with %i', async (body, expected) => {
    const { code, out, err } = await list('', () => ({ body }))
    expect({ code, out }).toEqual({ code: expected, out: '' })
    if (expected === 15) expect(err).toMatch(/^mergeq: Invalid response from /)
  })

  const byState = pages({
    FAILED: [[record(4, { state: 'failed' })], [record(5, { state: 'failed', prAuthor: 'Grace' })]],
    MERGED: [[record(1), record(4), record(2, { prAuthor: 'grace' })]],
  })

  test('sends one request for each state, in the order typed, and lists each pull request once', async () => {
    const states = '--state failed --state merged --state failed'
    const { out, err, requests } = await list(`${states} --since 24h -o csv --fields prNumber,state`, byState)
    expect(out).toBe('prNumber,state\r\n4,FAILED\r\n5,FAILED\r\n1,MERGED\r\n2,MERGED\r\n')
    const since = '2026-01-04T12:00:00.000Z'
    expect(bodiesOf(requests)).toEqual([
      { since, state: 'FAILED', take: 100 },
      { since, state: 'FAILED', cursor: '1', take: 100 },
      { since, state: 'MERGED', take: 100 },
    ])
    expect(err).toBe(
      `4 pull requests for main of acme/web (FAILED, MERGED, ended since ${since}).\nOmitted 1 duplicate row.\n`,
    )
  })

  test('filters by --author itself, and says so once', async () => {
    const flags = '--state failed --state merged --author @grace -o ndjson --fields prNumber'
    const { out, err } = await list(flags, byState)
    expect(out).toBe('{"prNumber":5}\n{"prNumber":2}\n')
    expect(err).toMatch(
      /^2 pull requests for .* \(FAILED, MERGED, by @grace\)\.\nOmitted 1 duplicate row\.\n$/,
    )
  })

  const notFound = 'The service did not find the pull requests in the queue for main of acme/web'
  const noOperation = 'HOST has no operation listPullRequests (404).\n'
  const onlyHosted = '  Only the hosted service has the operation listPullRequests.'
  const check = 'Check --repo and --target-branch.\n'
  const page = '<!DOCTYPE html><title>Error</title><pre>Cannot POST /v1/listPullRequests</pre>'
  test.each([
    ['Not Found', 200, `${noOperation}${onlyHosted}\n`, 2],
    [page, 200, `${noOperation}${onlyHosted}\n`, 2],
    ['{"error":{"message":"Not Found"}}', 404, `acme/web has no queue for main.\n  ${check}`, 2],
    [page, 404, `acme/web has no queue for main.\n  ${check}`, 2],
    ['Not Found', 500, `${notFound}, or ${noOperation}${onlyHosted} ${check}`, 2],
    ['main has no queue.', 200, `${notFound}: main has no queue.\n${onlyHosted} ${check}`, 1],
  ])(
    'tells what is missing after the 404 %j, with a queue that answers %i',
    async (body, status, said, asked) => {
      const { code, err, requests } = await list('', ({ path }) =>
        path.endsWith('/getQueue')
          ? { status, body: status === 200 ? '{"enqueuedPullRequests":[]}' : '' }
          : { status: 404, body },
      )
      expect({ code, err: err.replace(/127\.0\.0\.1:\d+/, 'HOST'), asked: requests.length }).toEqual({
        code: 5,
        err: `mergeq: ${said}`,
        asked,
      })
    },
  )

  test.each(['both', 'hosted'] as const)('selects from the sandbox in the %s dialect', async dialect => {
    const story = await openStory({ dialect, scenario: 'failure' })
    for (const pr of [1, 2, 3]) {
      await story.mergeq(`pr submit ${pr}`)
      story.clock.now += 1
    }
    story.clock.now += 20_000
    await story.mergeq('pr submit 4')
    story.clock.now += 300
    const listed = async (flags: string) => {
      const { code, out } = await story.mergeq(`pr list ${flags} -o csv --fields prNumber,state`)
      expect(code).toBe(0)
      return out.split('\r\n').slice(1, -1).join(' ')
    }
    // The latest submission first.
    expect(await listed('--page-size 2')).toBe('4,TESTING 3,FAILED 2,MERGED 1,MERGED')
    expect(await listed('--state merged --state failed')).toBe('2,MERGED 1,MERGED 3,FAILED')
    expect(await listed('--since 1h')).toBe('3,FAILED 2,MERGED 1,MERGED')
    expect(await listed('--since 0')).toBe('')
    expect(await listed('--until 10s')).toBe('3,FAILED 2,MERGED 1,MERGED')
    expect(await listed('--since 2h --until 1h')).toBe('')
    const [{ prAuthor }] = JSON.parse((await story.mergeq('pr list --json')).out).pullRequests
    expect(await listed(`--author ${prAuthor}`)).toMatch(/^4,TESTING/)
    expect(await listed('--author nobody')).toBe('')
    for (const wrong of ['--set take=101', '--set cursor=x', '--set state=done'])
      expect((await story.mergeq(`pr list ${wrong}`)).code, wrong).toBe(6)
    expect((await story.mergeq('pr list -b other')).code).toBe(5)
  })
})
