import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { readBaseline } from '../../../src/commands/flaky/gate.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { failing, idOf, pages } from '../../support/flaky-list.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'

const gate = (flags: string, setting: Setting) =>
  mergeq(`flaky gate --retries 0 -R acme/web --org acme ${flags}`, setting)
const three = [failing(1), failing(2), failing(3)]

/** Failing tests, and a flaky one that did not fail in the range. */
const withUnhealthy =
  (tests: readonly JsonObject[], unhealthy: JsonObject) =>
  ({ path, body }: Seen): Answer => {
    const isFlaky = path.endsWith('/list-unhealthy-tests') && JSON.parse(body).status === 'FLAKY'
    const listed = path.endsWith('/list-failing-tests') ? tests : isFlaky ? [unhealthy] : []
    return { body: JSON.stringify({ tests: listed, page: { next_page_token: '' } }) }
  }

const within = 'true\t3\t3\t3 tests failed, within the limit of 3'
const incomplete = 'false\t3\t3\t3 tests failed, within the limit of 3; the list is incomplete\n'
const over = 'false\t3\t2\t3 tests failed, over the limit of 2\n'
const pass = '--on-unavailable pass'

test.each([
  ['few enough tests pass', pages(three), '--max 3', 0, `${within}\n`],
  ['a list that is cut, and not over the limit, is incomplete', pages(three, 500), '--max 3', 17, incomplete],
  ['a list that is cut, and over the limit already, fails', pages(three, 500), '--max 2', 21, over],
  ['a token that is refused on the way is the reason', pages(three, 401), '--max 3', 4, incomplete],
  ['a list of too many pages is incomplete', pages(three, []), '--max 3 --max-pages 1', 17, incomplete],
  ['an unavailable service fails', pages(503), '--max 3', 7, ''],
  [
    'an unavailable service passes with --on-unavailable pass',
    pages(503),
    `--max 3 ${pass}`,
    0,
    'true\t0\t3\tnot checked; passed with an incomplete list because the service is unavailable\n',
  ],
  ['a list that the service cut is never a pass', pages(three, 503), `--max 3 ${pass}`, 17, incomplete],
  ['one that becomes unavailable over the limit fails', pages(three, 503), `--max 2 ${pass}`, 21, over],
  ['a bad token is never a pass', pages(401), `--max 3 ${pass}`, 4, ''],
  ['a refusal is never a pass', pages(400), `--max 3 ${pass}`, 6, ''],
  ['too many pages are never a pass', pages(three, []), `--max 3 --max-pages 1 ${pass}`, 17, incomplete],
])('%s', async (_, answer, flags, exit, printed) => {
  const { code, out, err } = await gate(flags, { answer })
  expect({ code, out }).toEqual({ code: exit, out: printed })
  if (exit === 0 && printed.includes('unavailable'))
    expect(err).toMatch(/^mergeq: .*The gate passes because of --on-unavailable pass\.$/m)
  if (printed.includes('not checked')) expect(err).not.toContain(' failed from ')
  else if (exit !== 0)
    expect(err).toMatch(/^mergeq: .*\n {2}\S|^mergeq: flaky gate: the list is incomplete: .*--max-pages/m)
})

test.each([
  ['', '', '--max is required.'],
  // A limit would cut what is counted.
  ['--max 1 --limit 1', '', '--limit'],
  ['--max 1 --baseline no.txt', '', 'no.txt cannot be read'],
  ['--max 1 --baseline b', `${idOf(1)}\n<html>\n`, "b:2: '<html>' is not a test ID."],
  ['--max 1 --baseline b', '{"tests":[{"id":', 'b:1: not a test ID or a test record.'],
  ['--max 1 --baseline b', '{"id":"x"}\n{"name":"y"}\n', 'b:2: not a test ID or a test record.'],
  ['--max 1 --baseline b', '[1]', 'b:1: not a test ID or a test record.'],
])('`flaky gate %s` with the baseline %j is a usage error', async (flags, b, message) => {
  expectUsageError(await gate(flags, { files: { b }, answer: pages(three) }), message)
})

const asUnhealthy = failing(4, { codeowners: ['@acme/wbe'] })
test.each([
  ['is like one who owns a failing test', '@acme/wbe', pages(three), 2],
  ['is like one whose test another option hides', 'acme/web --quarantined', pages(three), 2],
  ['owns a failing test that another option hides', '@acme/web --quarantined', pages(three), 0],
  ['is like nobody', '@acme/payments', pages(three), 0],
  ['owns a test that is flaky', '@acme/wbe', withUnhealthy(three, asUnhealthy), 0],
  ['may be on a page that was not read', '@acme/wbe', pages(three, 500), 17],
])('an owner that %s', async (_, owner, answer, exit) => {
  const { code, out, err } = await gate(`--max 3 --owner ${owner}`, { answer })
  expect({ code, isSilent: out === '' }).toEqual({ code: exit, isSilent: exit === 2 })
  if (exit === 2) expect(err).toContain('Did you mean @acme/web?')
})

test('a baseline reads the same as ids, as JSON and as NDJSON', () => {
  fc.assert(
    fc.property(fc.array(fc.uuid(), { maxLength: 20 }), fc.boolean(), (ids, isCrlf) => {
      const records = ids.map(id => ({ id, name: 'a\nb' }))
      const end = isCrlf ? '\r\n' : '\n'
      const forms = [
        ids.map(id => `${id.toUpperCase()}${end}`).join(''),
        JSON.stringify({ tests: records, window: {} }, null, 2),
        JSON.stringify(records),
        JSON.stringify(ids),
        records.map(record => `${JSON.stringify(record)}${end}`).join(''),
      ]
      for (const form of forms) expect([...readBaseline(form, 'b')].sort()).toEqual([...new Set(ids)].sort())
    }),
  )
})

test('tests of the baseline are not counted, and a verdict can be the next baseline', async () => {
  const files = { b: `# known\n\n${idOf(1).toUpperCase()}\n` }
  const { code, out } = await gate('--max 1 --baseline b --json', { answer: pages(three), files })
  expect(code).toBe(21)
  const verdict = JSON.parse(out)
  expect(verdict).toMatchObject({ ok: false, failing: 2, max: 1, baseline: 1, complete: true })
  expect(verdict.tests).toHaveLength(2)
  expect(await gate('--max 1 --baseline -', { answer: pages(three), input: out })).toMatchObject({
    code: 0,
    out: 'true\t1\t1\t1 test failed, within the limit of 1; 2 ignored by the baseline\n',
  })
})
