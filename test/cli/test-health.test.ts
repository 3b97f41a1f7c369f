import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mergeq, openStory, type Seen, type Story } from '../support/harness.ts'

const where = '-R acme/web --org acme --retries 0'
const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const link = `flaky link ${id} KAN-123 -R acme/web`

const asked = (requests: readonly Seen[]) =>
  requests.map(({ body }) => {
    const { repo: _repo, org_url_slug: _org, ...rest } = JSON.parse(body)
    return rest
  })
const page = (token = '') => ({ page_size: 100, page_token: token })
const outcome = ({ code, out, err }: { code: number; out: string; err: string }) => ({ code, out, err })

describe('flaky quarantined', () => {
  const tests = ['b', 'a', 'c'].map((name, index) => ({
    name,
    parent: 'suite',
    file: index === 2 ? null : `src/${name}.ts`,
    classname: 'x',
    status: 'FLAKY',
    codeowners: [`@${name}`],
    quarantine_setting: 'AUTO_QUARANTINE',
    status_last_updated_at: '2026-01-05T11:00:00.000Z',
    test_case_id: `id-${name}`,
  }))
  const answer = ({ body }: Seen) => {
    const isSecond = JSON.parse(body).page_query.page_token === 'p2'
    return {
      body: JSON.stringify({
        quarantined_tests: isSecond ? tests.slice(2) : tests.slice(0, 2),
        page: { next_page_token: isSecond ? '' : 'p2', total_rows: 99 },
        kept: 1,
      }),
    }
  }

  test('reads all pages and prints rows, without the ids, which are not stable', async () => {
    const result = await mergeq(`flaky quarantined ${where}`, { answer })
    expect(outcome(result)).toEqual({
      code: 0,
      out: [
        'b\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@b\tsrc/b.ts\n',
        'a\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@a\tsrc/a.ts\n',
        'c\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@c\t\n',
      ].join(''),
      err: '3 quarantined tests in github.com/acme/web.\n',
    })
    expect(asked(result.requests)).toEqual([{ page_query: page() }, { page_query: page('p2') }])
  })

  test('the JSON is the document of the service with the range of the list', async () => {
    const { out } = await mergeq(`flaky quarantined ${where} --json`, { answer })
    expect(JSON.parse(out)).toEqual({
      quarantined_tests: tests,
      kept: 1,
      page: { total_rows: 3, total_pages: 2 },
      window: { complete: true },
    })
  })

  test.each([
    ['--owner @a', ['a']],
    ["--name '[bc]'", []],
    ["--path 'src/*'", ['b', 'a']],
    ['--limit 1', ['b']],
    ['--page-token p2', ['c']],
  ])('%s', async (flags, names) => {
    const { out } = await mergeq(`flaky quarantined ${where} ${flags} -o ndjson --fields name`, { answer })
    expect(out).toBe(names.map(name => `{"name":"${name}"}\n`).join(''))
  })
})

describe('flaky unhealthy', () => {
  const answer = ({ body }: Seen) => {
    const { status, page_query } = JSON.parse(body)
    const isFirst = page_query.page_token === ''
    const name = `${status.toLowerCase()} ${isFirst ? 1 : 2}`
    const tests = [
      { id: name, name, status: { value: status.toLowerCase() }, quarantined: isFirst, codeowners: ['@a'] },
      { id: 'both', name: 'both', status: { value: status.toLowerCase() } },
    ]
    const next_page_token = isFirst && status === 'FLAKY' ? 'p2' : ''
    return { body: JSON.stringify({ tests, page: { next_page_token } }) }
  }

  test('asks for the flaky tests, then for the broken tests, and prints each test once', async () => {
    const result = await mergeq(`flaky unhealthy ${where}`, { answer })
    expect(outcome(result)).toEqual({
      code: 0,
      out: [
        'flaky 1\tflaky\t\ttrue\t@a\tflaky 1\n',
        'both\tflaky\t\t\t\tboth\n',
        'flaky 2\tflaky\t\tfalse\t@a\tflaky 2\n',
        'broken 1\tbroken\t\ttrue\t@a\tbroken 1\n',
      ].join(''),
      err: '4 flaky or broken tests in github.com/acme/web.\nOmitted 2 duplicate rows.\n',
    })
    expect(asked(result.requests)).toEqual([
      { status: 'FLAKY', page_query: page() },
      { status: 'FLAKY', page_query: page('p2') },
      { status: 'BROKEN', page_query: page() },
    ])
  })

  test.each([
    ['--status broken', ['broken 1', 'both']],
    ['--status flaky --page-token p2', ['flaky 2', 'both']],
    ['--quarantined', ['flaky 1', 'broken 1']],
    ['--limit 2', ['flaky 1', 'both']],
  ])('%s', async (flags, names) => {
    const { out } = await mergeq(`flaky unhealthy ${where} ${flags} -o ndjson --fields name`, { answer })
    expect(out).toBe(names.map(name => `{"name":"${name}"}\n`).join(''))
  })

  test('a page token belongs to one status', async () => {
    const { code, err, requests } = await mergeq(`flaky unhealthy ${where} --page-token p2`, { answer })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toContain('mergeq: --page-token requires --status.\n')
  })

  test('a failure of the second status leaves the first, which is then not complete', async () => {
    const failing = (seen: Seen) => (seen.body.includes('BROKEN') ? { status: 500 } : answer(seen))
    const { code, out } = await mergeq(`flaky unhealthy ${where} --json`, { answer: failing })
    expect(code).toBe(17)
    expect(JSON.parse(out)).toMatchObject({
      tests: [{ name: 'flaky 1' }, { name: 'both' }, { name: 'flaky 2' }],
      window: { complete: false },
    })
  })
})

describe.each(['flaky quarantined', 'flaky unhealthy'])('%s', command => {
  test.each(['{}', 'null', '{"error":{"message":"down"}}', '{"tests":{},"quarantined_tests":{}}'])(
    'an answer without its list ends with 15: %s',
    async body => {
      const { code, out } = await mergeq(`${command} ${where}`, { answer: () => ({ body }) })
      expect({ code, out }).toEqual({ code: 15, out: '' })
    },
  )

  test('help says that only the hosted service has it', async () => {
    expect((await mergeq(`${command} --help`)).out).toContain('(hosted service only)')
  })

  test('a 404 says that this service has no such operation', async () => {
    const { code, err } = await mergeq(`${command} ${where}`, {
      answer: () => ({ status: 404, body: 'Not Found' }),
    })
    expect(code).toBe(5)
    expect(err).toContain(`the service has no operation flaky-tests/list-${command.slice(6)}-tests.\n`)
    expect(err).toContain('Check --repo and --org.\n')
  })
})

describe('flaky link', () => {
  test('sends the link once and says so', async () => {
    const result = await mergeq(link, { answer: () => ({ body: 'OK' }), terminal: true })
    expect(outcome(result)).toEqual({ code: 0, out: `Linked ticket KAN-123 to test ${id}.\n`, err: '' })
    expect(asked(result.requests)).toEqual([{ test_case_id: id, external_ticket_id: 'KAN-123' }])
  })

  test('its receipt', async () => {
    const { out } = await mergeq(`${link} --json`, { answer: () => ({ body: '{}' }) })
    expect(JSON.parse(out)).toEqual({
      operation: 'flaky-tests/link-ticket-to-test-case',
      repo: 'github.com/acme/web',
      ok: true,
      delivery: 'confirmed',
    })
  })

  test.each([500, 502, 504, 408])(
    'after %i its outcome is unknown, and it is not sent again',
    async status => {
      const { code, out, err, requests } = await mergeq(`${link} --json`, { answer: () => ({ status }) })
      expect({ code, requests: requests.length }).toEqual({ code: 11, requests: 1 })
      expect(JSON.parse(out)).toMatchObject({ ok: false, delivery: 'unknown', exit: 11 })
      expect(err).toContain('The outcome cannot be verified.')
    },
  )

  test.each([
    [400, 6],
    [401, 4],
    [404, 5],
    [422, 6],
  ])('after %i nothing was changed', async (status, expected) => {
    const { code, out, requests } = await mergeq(`${link} --json`, { answer: () => ({ status }) })
    expect({ code, requests: requests.length }).toEqual({ code: expected, requests: 1 })
    expect(JSON.parse(out)).toMatchObject({ ok: false, delivery: 'not-applied' })
  })

  test.each([
    ['flaky link x KAN-123', "'x' is not a test ID."],
    [`flaky link ${id} ''`, 'The ticket must not be empty.'],
    [`flaky link ${id}`, 'ticket'],
  ])('%s is a usage error', async (line, message) => {
    const { code, err } = await mergeq(`${line} -R acme/web`)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  test('help says that only the hosted service has it', async () => {
    expect((await mergeq('flaky link --help')).out).toContain('Link a ticket to a test (hosted service only)')
  })
})

describe.each(['document', 'hosted'] as const)('the sandbox in the %s dialect', dialect => {
  let story: Story
  beforeEach(async () => {
    story = await openStory({ dialect })
  })
  afterEach(() => story.close())
  const read = async (line: string) => {
    const { code, out } = await story.mergeq(`${line} --json`)
    expect(code).toBe(0)
    return JSON.parse(out)
  }

  test('lists the tests that flaky list reports as quarantined, in pages', async () => {
    const { tests } = await read('flaky list --since 30d --quarantined')
    const quarantined = await read('flaky quarantined --page-size 7')
    const names = (list: readonly { name: string; variant: string }[]) =>
      list.map(({ name, variant }) => `${name} ${variant}`).sort()
    expect(names(quarantined.quarantined_tests)).toEqual(names(tests))
    expect(quarantined.page.total_pages).toBeGreaterThan(1)
  })

  test('lists flaky and broken tests, also those that did not fail in the last day', async () => {
    const { tests } = await read('flaky unhealthy')
    const { tests: failed } = await read('flaky list --since 24h')
    const failedIds = new Set(failed.map(({ id }: { id: string }) => id))
    const values = tests.map(({ status }: { status: { value: string } }) => status.value)
    expect([...new Set(values)]).toEqual(['flaky', 'broken'])
    expect(tests.filter(({ id }: { id: string }) => !failedIds.has(id)).length).toBeGreaterThan(0)
    expect(tests[0]).not.toHaveProperty('failure_rate_last_7d')
  })

  test('a linked ticket is in the record of the test', async () => {
    const { tests } = await read('flaky unhealthy --status broken')
    const { code } = await story.mergeq(`flaky link ${tests[0].id} KAN-7`)
    expect(code).toBe(0)
    const { test } = await read(`flaky get ${tests[0].id}`)
    expect(test.ticket).toEqual({ html_url: 'https://tickets.sandbox.example/KAN-7' })
    expect((await story.mergeq(`flaky link ${id} KAN-7`)).code).toBe(5)
  })

  test('refuses what the service refuses', async () => {
    expect((await story.mergeq('flaky unhealthy --set status=healthy')).code).toBe(6)
    expect((await story.mergeq('flaky quarantined --set page_query.page_size=101')).code).toBe(6)
    expect((await story.mergeq('flaky quarantined --page-token x')).code).toBe(6)
    expect((await story.mergeq('flaky quarantined -R acme/other')).code).toBe(5)
  })
})
