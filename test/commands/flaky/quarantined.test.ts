import { describe, expect, test } from 'vitest'
import { asked, idOf, ids, many, page, rows, screen, serving } from '../../support/flaky-list.ts'
import { mergeq, openStory, type Seen } from '../../support/harness.ts'

const where = '-R acme/web --org acme --retries 0'

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

  test('reads all pages and prints rows', async () => {
    const { code, out, err, requests } = await mergeq(`flaky quarantined ${where}`, { answer })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: [
        'b\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@b\tsrc/b.ts\tid-b\t\n',
        'a\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@a\tsrc/a.ts\tid-a\t\n',
        'c\tFLAKY\tAUTO_QUARANTINE\t2026-01-05T11:00:00.000Z\t@c\t\tid-c\t\n',
      ].join(''),
      err: '3 quarantined tests in github.com/acme/web.\n',
    })
    expect(asked(requests)).toEqual([{ page_query: page() }, { page_query: page('p2') }])
  })

  test('says on a terminal how each is quarantined, in a word', async () => {
    const settings = ['AUTO_QUARANTINE', 'ALWAYS_QUARANTINE', 'SOMETIMES']
    const records = settings.map((quarantine_setting, index) => ({ name: `t${index}`, quarantine_setting }))
    const setting = { ...screen, answer: serving(records, 'quarantined_tests') }
    const { out } = await mergeq('flaky quarantined', setting)
    expect(out.match(/\b(?:auto|always|SOMETIMES)\b/g)).toEqual(['auto', 'always', 'SOMETIMES'])
  })

  test.each([
    ["--owner @a --path 'src/*'", ['a']],
    ['--limit 1', ['b']],
    ['--page-token p2', ['c']],
  ])('%s', async (flags, names) => {
    const { out, err } = await mergeq(`flaky quarantined ${where} ${flags} -o ndjson --fields name`, {
      answer,
    })
    expect(out).toBe(names.map(name => `{"name":"${name}"}\n`).join(''))
    // Only an option of mergeq leaves out a test of a list that was read to its end.
    expect(err.startsWith('Listed 1 ')).toBe(!flags.includes('--owner'))
  })
})

test.each([
  ['flaky quarantined', 'quarantined_tests', 'quarantined'],
  ['flaky unhealthy --status flaky', 'tests', 'flaky'],
])('%s on a terminal ends with how many there are, and how to list all', async (line, key, adjective) => {
  const run = (count: number, flags = '') => {
    const owners = { codeowners: ['@acme/web'] }
    const records = many(count).map(record => ({ ...record, ...owners, test_case_id: record.id }))
    return mergeq(`${line} --retries 0 ${flags}`, { ...screen, answer: serving(records, key) })
  }
  const cut = await run(40)
  expect(rows(cut.out).slice(-2).join(' ')).toContain(
    `Showing 30 ${adjective} tests; there are more. To list more, add --limit 1000.`,
  )
  expect(cut.err).toBe('')
  const whole = await run(40, '--limit 1000')
  expect(rows(whole.out).at(-1)).toBe(`40 ${adjective} tests in github.com/acme/web.`)
  const none = await run(0)
  // The sentence is wrapped at the width of the terminal.
  expect([none.out.replace(/\n(?=.)/, ' '), none.err]).toEqual([
    `No test in github.com/acme/web is ${adjective}. To list the tests that failed, run: mergeq flaky list\n`,
    '',
  ])
  const hidden = await run(2, '--owner me')
  expect(hidden.out).toBe(`No ${adjective} test in github.com/acme/web matches the options.\n`)
  expect(hidden.err).toContain('No test is owned by me. Owners: @acme/web.\n')
  const misnamed = await run(2, '--owner web')
  expect(misnamed.err).toContain('No test is owned by web. Did you mean @acme/web?\n')
})

test.each(['both', 'hosted'] as const)(
  'quarantined, unhealthy and linked tests of the sandbox agree with its lists (%s)',
  async dialect => {
    const story = await openStory({ dialect })
    const read = async (line: string) => {
      const { code, out } = await story.mergeq(`${line} --json`)
      expect(code).toBe(0)
      return JSON.parse(out)
    }
    const names = (list: readonly { name: string; variant: string }[]) =>
      list.map(({ name, variant }) => `${name} ${variant}`).sort()
    const listed = await read('flaky list --since 30d --quarantined')
    const quarantined = await read('flaky quarantined --page-size 7')
    expect(names(quarantined.quarantined_tests)).toEqual(names(listed.tests))
    expect(quarantined.page.total_pages).toBeGreaterThan(1)

    const { tests } = await read('flaky unhealthy')
    const values = tests.map(({ status }: { status: { value: string } }) => status.value)
    expect([...new Set(values)]).toEqual(['flaky', 'broken'])
    const failed = ids(await story.mergeq('flaky list --since 24h -o ndjson'))
    expect(tests.some(({ id }: { id: string }) => !failed.includes(id))).toBe(true)
    expect(tests[0]).not.toHaveProperty('failure_rate_last_7d')

    expect((await story.mergeq(`flaky link ${tests[0].id} KAN-7 --yes`)).code).toBe(0)
    const { test } = await read(`flaky get ${tests[0].id}`)
    expect(test.ticket).toEqual({ html_url: 'https://tickets.sandbox.example/KAN-7' })

    expect((await story.mergeq(`flaky link ${idOf(7)} KAN-7`)).code).toBe(5)
  },
)
