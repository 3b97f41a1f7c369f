import { expect, test } from 'vitest'
import { mergeq, queueEnv, type Seen } from '../../support/harness.ts'

const answer = ({ body }: Seen) => {
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
    const { out, err } = await mergeq(line, { answer, env: queueEnv })
    expect(
      out
        .trimEnd()
        .split('\n')
        .map(row => row[0])
        .join(''),
    ).toBe(order)
    const screen = await mergeq(line, { answer, env: queueEnv, terminal: true })
    for (const text of [err, screen.out])
      if (words === undefined) expect(text).not.toContain(' first')
      else expect(text).toContain(`${words}.`)
  },
)
