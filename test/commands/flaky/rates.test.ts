import { expect, test } from 'vitest'
import { mergeq, queueEnv, type Script } from '../../support/harness.ts'
import { testId } from '../../support/operations.ts'

/** Tests of which the second one is not shown with `--limit 1`. */
const serviceWith =
  (first: number, second: number): Script =>
  ({ path }) => {
    const tests = [first, second].map((failure_rate_last_7d, index) => ({
      id: testId.replace(/^./, String(index + 1)),
      name: `test ${index + 1}`,
      classname: 'shop',
      failure_rate_last_7d,
      failure_rate_last_24h: failure_rate_last_7d,
      pull_requests_impacted_last_7d: 9 - index,
    }))
    if (path.endsWith('get-test-details')) return { body: JSON.stringify({ test: tests[0] }) }
    return { body: JSON.stringify({ tests, page: { next_page_token: '' } }) }
  }

const files = {
  'a.xml':
    '<testsuite><testcase name="test 1" classname="shop"><failure message="m"/></testcase></testsuite>',
}

const lines = [
  'flaky list --limit 1',
  'flaky match a.xml',
  'flaky report --limit 1',
  'flaky report --format github',
]

const run = async (line: string, answer: Script, terminal = true) => {
  const { out, err } = await mergeq(line, { answer, terminal, files, env: queueEnv, columns: 160 })
  return `${out}${err}`
}

test.each([...lines, `flaky get ${testId}`])('%s shows percent of rates up to 1', async line => {
  expect(await run(line, serviceWith(0.29, 1))).toMatch(/\b29%/)
})

test.each(lines)('%s shows the numbers of the service if one of the whole list is above 1', async line => {
  const shown = await run(line, serviceWith(0.29, 12.5))
  expect(shown).toMatch(/\b0\.29\b/)
  expect(shown).not.toMatch(/\d%/)
})

test('the rates of one test are compared with each other', async () => {
  expect(await run(`flaky get ${testId}`, serviceWith(29, 0.1))).toMatch(/failed in 29 of runs/)
})

test('machine formats and --min-failure-rate have the numbers of the service', async () => {
  expect(await run('flaky list -o csv', serviceWith(0.29, 1), false)).toContain(',0.29,')
  const { out } = await mergeq('flaky list --min-failure-rate 12 --json', {
    answer: serviceWith(0.29, 12.5),
    env: queueEnv,
  })
  expect(JSON.parse(out).tests).toHaveLength(1)
})
