import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, mergeq, openStory, type Seen, type Story } from '../support/harness.ts'

const where = '-R acme/web -b main --retries 0'

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

const asked = (requests: readonly Seen[]) =>
  requests.map(({ path, body }) => {
    const { repo: _repo, targetBranch: _branch, ...rest } = JSON.parse(body)
    return [path, rest]
  })

describe('the list', () => {
  const two = pages({ '': [[record(1), record(2)], [record(3)]] })

  test('prints rows on a pipe, and the range of the list on standard error', async () => {
    const { code, out, err, requests } = await mergeq(`pr list ${where}`, { answer: two })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: [1, 2, 3]
        .map(pr => `${pr}\tMERGED\t2026-01-05T11:57:00.000Z\tada\tmedium\tTitle ${pr}\n`)
        .join(''),
      err: '3 pull requests of the queue for main in github.com/acme/web.\n',
    })
    expect(asked(requests)).toEqual([
      ['/v1/listPullRequests', { take: 100 }],
      ['/v1/listPullRequests', { cursor: '1', take: 100 }],
    ])
  })

  test('is a table on a terminal', async () => {
    const { out } = await mergeq(`pr list ${where} --color never`, { answer: two, terminal: true })
    expect(out.split('\n').slice(0, 2)).toEqual([
      'PR  STATE     SINCE   AUTHOR  PRIORITY  TITLE',
      '#1  ✓ merged  3m ago  ada     medium    Title 1',
    ])
  })

  test.each([
    ['--limit 2', 'Showing 2 pull requests; there are more. To list all, add --limit 0.'],
    ['', '3 pull requests for main in github.com/acme/web.'],
    ['--since 24h', '3 pull requests for main in github.com/acme/web (ended in the last 24 hours).'],
    [
      '--since 2026-01-05T00:00:00.5Z --author ada',
      '3 pull requests for main in github.com/acme/web (ended since 2026-01-05 00:00 UTC, by ada).',
    ],
    [
      '--state not-ready --author nobody',
      'No pull requests for main in github.com/acme/web (not-ready, by nobody).',
    ],
  ])('on a terminal, %s ends with one sentence', async (flags, sentence) => {
    const { out } = await mergeq(`pr list ${where} --color never ${flags}`, {
      answer: flags.includes('state') ? pages({ NOT_READY: [[record(1), record(2)]] }) : two,
      terminal: true,
    })
    expect(out.replaceAll(/\s+/g, ' ').trimEnd().slice(-sentence.length)).toBe(sentence)
  })

  test('prints one JSON document with the fields of the service and the range of the list', async () => {
    const { out } = await mergeq(`pr list ${where} --json`, { answer: two })
    expect(JSON.parse(out)).toEqual({
      pullRequests: [1, 2, 3].map(pr => record(pr, { state: 'MERGED' })),
      kept: 1,
      window: { complete: true },
    })
  })

  test('follows a cursor that is a number', async () => {
    const answer = ({ body }: Seen): Answer => ({
      body: body.includes('"cursor"')
        ? '{"pullRequests":[{"prNumber":2}]}'
        : '{"pullRequests":[{"prNumber":1}],"nextCursor":5}',
    })
    const { code, out, requests } = await mergeq(`pr list ${where} -o ndjson`, { answer })
    expect({ code, out }).toEqual({ code: 0, out: '{"prNumber":1}\n{"prNumber":2}\n' })
    expect(JSON.parse(requests[1]?.body ?? '')).toMatchObject({ cursor: '5' })
  })

  test('keeps the cursor of a single page', async () => {
    const { out, err } = await mergeq(`pr list ${where} --json --limit 2`, { answer: two })
    expect(JSON.parse(out)).toMatchObject({ nextCursor: '1', window: { complete: false } })
    expect(err).toContain('This list is incomplete: there are more pull requests.\n')
  })

  test.each([
    ['ndjson', `${JSON.stringify({ prNumber: 1 })}\n${JSON.stringify({ prNumber: 2 })}\n`],
    ['csv', 'prNumber\r\n1\r\n2\r\n'],
    ['markdown', '| prnumber |\n| --- |\n| 1 |\n| 2 |\n'],
  ])('is printed as %s', async (format, expected) => {
    const { out } = await mergeq(`pr list ${where} -o ${format} --limit 2 --fields prNumber`, { answer: two })
    expect(out).toBe(expected)
  })

  test.each([
    ['{}', 15],
    ['{"pullRequests":null}', 15],
    ['{"error":{"message":"down"}}', 15],
    ['null', 15],
    ['{"pullRequests":[]}', 0],
    ['{"pullRequests":[],"nextCursor":{}}', 15],
    ['{"pullRequests":[],"nextCursor":true}', 15],
  ])('the answer %s ends with %i', async (body, expected) => {
    const { code, out } = await mergeq(`pr list ${where}`, { answer: () => ({ body }) })
    expect({ code, out }).toEqual({ code: expected, out: '' })
  })
})

describe('what is listed', () => {
  const byState = pages({
    FAILED: [[record(4, { state: 'failed' })], [record(5, { state: 'failed', prAuthor: 'Grace' })]],
    MERGED: [[record(1), record(4), record(2, { prAuthor: 'grace' })]],
  })

  test('one request for each state, in the order typed, each pull request once', async () => {
    const line = `pr list ${where} --state failed --state merged --state failed --since 24h -o ndjson --fields prNumber,state`
    const { out, err, requests } = await mergeq(line, { answer: byState })
    expect(
      out
        .trim()
        .split('\n')
        .map(text => Object.values(JSON.parse(text))),
    ).toEqual([
      [4, 'FAILED'],
      [5, 'FAILED'],
      [1, 'MERGED'],
      [2, 'MERGED'],
    ])
    const since = '2026-01-04T12:00:00.000Z'
    expect(asked(requests).map(([, body]) => body)).toEqual([
      { since, state: 'FAILED', take: 100 },
      { since, state: 'FAILED', cursor: '1', take: 100 },
      { since, state: 'MERGED', take: 100 },
    ])
    expect(err).toBe(
      `4 pull requests of the queue for main in github.com/acme/web (FAILED, MERGED, ended since ${since}).\nOmitted 1 duplicate row.\n`,
    )
  })

  test('--author is a filter of this program, and the number of the others is said', async () => {
    const line = `pr list ${where} --state failed --state merged --author @grace -o ndjson --fields prNumber`
    const { out, err } = await mergeq(line, { answer: byState })
    expect(out).toBe('{"prNumber":5}\n{"prNumber":2}\n')
    expect(err).toContain('2 pull requests hidden by --author.\n')
  })

  const many = pages({ '': [Array.from({ length: 40 }, (_, index) => record(index + 1))] })
  test.each([
    ['a pipe', false, '', 40],
    ['a pipe with --limit 7', false, '--limit 7', 7],
    ['a terminal', true, '', 30],
    ['a terminal with --limit 0', true, '--limit 0', 40],
  ])('on %s', async (_, terminal, flags, expected) => {
    const { out } = await mergeq(`pr list ${where} -o ndjson ${flags}`, { answer: many, terminal })
    expect(out.trim().split('\n')).toHaveLength(expected)
  })

  test.each([
    ['--state done', "--state: 'done' is not valid; must be one of: not-ready, pending, testing,"],
    ['--since yesterday', "'yesterday' is not"],
    ['--limit -1', '--limit'],
    ['--page-size 101', '--page-size'],
  ])('%s is a usage error', async (flags, message) => {
    const { code, err, requests } = await mergeq(`pr list ${where} ${flags}`, { answer: many })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toContain(message)
  })
})

describe('pages that mislead', () => {
  test('a cursor that repeats ends the list, which is then incomplete', async () => {
    const answer = () => ({ body: '{"pullRequests":[{"prNumber":1}],"nextCursor":"1"}' })
    const { code, err, requests } = await mergeq(`pr list ${where}`, { answer })
    expect({ code, requests: requests.length }).toEqual({ code: 17, requests: 2 })
    expect(err).toContain(
      'mergeq: pr list: the list is incomplete: the service returned the same page token twice.',
    )
  })

  test('a page that fails keeps the rows before it', async () => {
    const first = pages({ '': [[record(1)], [record(2)]] })
    const answer = (seen: Seen, index: number) => (index === 0 ? first(seen) : { status: 500 })
    const { code, out } = await mergeq(`pr list ${where} --json`, { answer })
    expect(code).toBe(17)
    expect(JSON.parse(out)).toMatchObject({ pullRequests: [{ prNumber: 1 }], window: { complete: false } })
  })
})

describe('a service without the operation', () => {
  test.each([
    ['a text', 'Not Found'],
    ['nothing', ''],
    ['an object', '{"error":{"message":"Not Found"}}'],
    ['a web page', '<!DOCTYPE html><title>Error</title><pre>Cannot POST /v1/listPullRequests</pre>'],
  ])('says so when it answers 404 with %s', async (_, body) => {
    const { code, err } = await mergeq(`pr list ${where}`, { answer: () => ({ status: 404, body }) })
    expect(code).toBe(5)
    expect(err.replace(/127\.0\.0\.1:\d+/, 'the host')).toBe(
      'mergeq: the host returned 404 (not found): the service has no operation listPullRequests.\n' +
        '  Only the hosted service has the operation listPullRequests. Check --repo and --target-branch.\n',
    )
  })

  test('a 404 with the words of the service is about the queue', async () => {
    const { code, err } = await mergeq(`pr list ${where}`, {
      answer: () => ({ status: 404, body: 'main has no queue.' }),
    })
    expect(code).toBe(5)
    expect(err).toContain(
      'returned 404 (not found) for the pull requests in the queue for main in github.com/acme/web: main has no queue.\n',
    )
  })

  test('help says that only the hosted service has it', async () => {
    expect((await mergeq('pr list --help')).out).toContain(
      'List pull requests of a queue, including finished ones (hosted service only)',
    )
  })
})

describe.each(['document', 'hosted'] as const)('the sandbox in the %s dialect', dialect => {
  let story: Story
  beforeEach(async () => {
    story = await openStory({ dialect, scenario: 'failure' })
    for (const pr of [1, 2, 3]) {
      await story.mergeq(`pr submit ${pr}`)
      story.clock.now += 1
    }
    story.clock.now += 20_000
    await story.mergeq('pr submit 4')
    story.clock.now += 300
  })
  afterEach(() => story.close())
  const list = async (flags: string) => {
    const { code, out } = await story.mergeq(`pr list ${flags} -o ndjson`)
    expect(code).toBe(0)
    const lines = out.split('\n').filter(line => line !== '')
    return lines.map(line => JSON.parse(line)).map(({ prNumber, state }) => `${prNumber} ${state}`)
  }

  test('lists all pull requests, the latest submission first', async () => {
    expect(await list('--page-size 2')).toEqual(['4 TESTING', '3 FAILED', '2 MERGED', '1 MERGED'])
  })

  test('selects by state, by end and by author', async () => {
    expect(await list('--state merged --state failed')).toEqual(['2 MERGED', '1 MERGED', '3 FAILED'])
    expect(await list('--since 1h')).toEqual(['3 FAILED', '2 MERGED', '1 MERGED'])
    expect(await list('--since 0')).toEqual([])
    const { out } = await story.mergeq('pr list --json')
    const [{ prAuthor }] = JSON.parse(out).pullRequests
    expect((await list(`--author ${prAuthor}`))[0]).toBe('4 TESTING')
    expect(await list('--author nobody')).toEqual([])
  })

  test('refuses what the service refuses, and knows its queues', async () => {
    expect((await story.mergeq('pr list --set take=101')).code).toBe(6)
    expect((await story.mergeq('pr list --set cursor=x')).code).toBe(6)
    expect((await story.mergeq('pr list --set state=done')).code).toBe(6)
    expect((await story.mergeq('pr list -b other')).code).toBe(5)
  })
})
