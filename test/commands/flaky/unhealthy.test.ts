import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../../support/command-checks.ts'
import { asked, page } from '../../support/flaky-list.ts'
import { mergeq, queueEnv, type Seen } from '../../support/harness.ts'

const where = '-R acme/web --org acme --retries 0'

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
    const { code, out, err, requests } = await mergeq(`flaky unhealthy ${where}`, { answer })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: [
        'flaky 1\tflaky\t\ttrue\t@a\tflaky 1\t\n',
        'both\tflaky\t\t\t\tboth\t\n',
        'flaky 2\tflaky\t\tfalse\t@a\tflaky 2\t\n',
        'broken 1\tbroken\t\ttrue\t@a\tbroken 1\t\n',
      ].join(''),
      err: '4 flaky or broken tests in github.com/acme/web.\nOmitted 2 duplicate rows.\n',
    })
    expect(asked(requests)).toEqual([
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
    const { out, err } = await mergeq(`flaky unhealthy ${where} ${flags} -o ndjson --fields name`, { answer })
    expect(out).toBe(names.map(name => `{"name":"${name}"}\n`).join(''))
    expect(err.startsWith('Listed 2 ')).toBe(/limit|token/.test(flags))
  })

  test('a page token belongs to one status', async () => {
    expectUsageError(
      await mergeq(`flaky unhealthy ${where} --page-token p2`, { answer }),
      'mergeq: --page-token requires --status.\n',
    )
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

const answerOfBoth = ({ body }: Seen) => {
  const isFlaky = JSON.parse(body).status === 'FLAKY'
  const test = (name: string, prs: number, day: number) => ({
    id: name,
    name,
    pull_requests_impacted_last_7d: prs,
    status: { timestamp: `2026-01-0${day}T00:00:00Z` },
  })
  const tests = isFlaky ? [test('a', 1, 2), test('b', 9, 1)] : [test('c', 5, 3)]
  return { body: JSON.stringify({ tests, page: { next_page_token: '' } }) }
}

test.each([
  ['', 'abc', undefined],
  ['--sort impact', 'bca', 'most pull requests first'],
  ['--sort last-failed', 'cab', 'last failure first'],
])(
  'flaky unhealthy %s lists tests of both statuses in the order that it names',
  async (flags, order, words) => {
    const line = `flaky unhealthy ${flags}`
    const { out, err } = await mergeq(line, { answer: answerOfBoth, env: queueEnv })
    expect(out.match(/^./gm)?.join('')).toBe(order)
    const screen = await mergeq(line, { answer: answerOfBoth, env: queueEnv, terminal: true })
    for (const text of [err, screen.out])
      if (words === undefined) expect(text).not.toContain(' first')
      else expect(text).toContain(`${words}.`)
  },
)
