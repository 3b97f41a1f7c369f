import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { failing, idOf } from '../../support/flaky-list.ts'
import { junit } from '../../support/flaky-match.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const where = '-R acme/web --org acme --retries 0'

const slow = failing(1, { name: 'is slow', classname: 'web.Cart', parent: 'Cart' })
const odd = failing(2, { name: 'is odd', classname: 'web.Cart', parent: 'Cart', quarantined: true })

/** A service that lists these failing tests, and has no list of flaky and broken tests. */
const answerOf =
  (...tests: readonly JsonObject[]) =>
  ({ path }: Seen): Answer =>
    path.endsWith('/list-failing-tests')
      ? { body: JSON.stringify({ tests, page: { next_page_token: '' } }) }
      : { status: 404 }

const match = (xml: string | Uint8Array, flags = '', setting: Setting = {}) =>
  mergeq(`flaky match junit.xml ${where} ${flags}`, {
    files: { 'junit.xml': xml },
    answer: answerOf(slow, odd),
    ...setting,
  })

const verdictsIn = (out: string) =>
  JSON.parse(out).tests.map(({ name, verdict }: JsonObject) => `${name}: ${verdict}`)

describe('verdicts', () => {
  test('known, quarantined and new: a row each, the new ones first, exit 21', async () => {
    const { code, out, err, requests } = await match(
      junit(['web.Cart', 'is slow'], ['web.Cart', 'is odd'], ['web.Cart', 'is broken', 'web/new.ts']),
    )
    expect({ code, out, err }).toEqual({
      code: 21,
      out: [
        'is broken\tnew\t\t\tweb/new.ts\t\t',
        `is slow\tknown\t0.5\t@acme/web\tweb/cart.test.ts\t${slow.id}\t`,
        `is odd\tquarantined\t0.5\t@acme/web\tweb/cart.test.ts\t${odd.id}\t`,
        '',
      ].join('\n'),
      err: [
        '2 tests failed from 2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z.',
        'mergeq: flaky match: 2 of 3 failed tests are not quarantined.',
        '  Fix the failures, or quarantine the tests. To pass all tests that are known to fail, add --allow known.',
        '',
      ].join('\n'),
    })
    const list = {
      repo: { host: 'github.com', owner: 'acme', name: 'web' },
      org_url_slug: 'acme',
      page_query: { page_size: 100, page_token: '' },
    }
    const range = { start_time: '2026-01-04T12:00:00.000Z', end_time: '2026-01-05T12:00:00.000Z' }
    expect(requests.map(({ path, body }) => ({ path, body: JSON.parse(body) }))).toEqual([
      { path: '/v1/flaky-tests/list-failing-tests', body: { ...list, ...range } },
      // The new test may be flaky or broken without a failure in the range.
      { path: '/v1/flaky-tests/list-unhealthy-tests', body: { ...list, status: 'FLAKY' } },
    ])
  })

  test('--json is one document with counts, the list and the window', async () => {
    const { code, out } = await match(junit(['web.Cart', 'is slow'], ['web.Cart', 'is new']), '--json')
    expect(code).toBe(21)
    const failed = { classname: 'web.Cart', parent: 'Cart' }
    expect(JSON.parse(out)).toEqual({
      counts: { failed: 2, new: 1, unknown: 0, known: 1, quarantined: 0, flaky: 0 },
      tests: [
        { verdict: 'new', name: 'is new', ...failed, file: null, test: null },
        { verdict: 'known', name: 'is slow', ...failed, file: 'web/cart.test.ts', test: slow },
      ],
      window: { start: '2026-01-04T12:00:00.000Z', end: '2026-01-05T12:00:00.000Z', complete: true },
    })
  })

  test('several files and standard input; what fails in two of them counts once', async () => {
    const { code, out } = await mergeq(`flaky match a.xml b.xml - ${where} --json`, {
      files: {
        'a.xml': junit(['web.Cart', 'one'], ['web.Cart', 'is slow']),
        'b.xml': junit(['web.Cart', 'is slow']),
      },
      input: junit(['web.Cart', 'three']),
      answer: answerOf(slow),
    })
    expect({ code, verdicts: verdictsIn(out) }).toEqual({
      code: 21,
      verdicts: ['one: new', 'three: new', 'is slow: known'],
    })
  })

  test('the reports of a directory are read in the order of their names', async () => {
    const files = {
      'reports/b.xml': junit(['web.Cart', 'is odd']),
      'reports/a.XML': junit(['web.Cart', 'is slow']),
      'reports/c.txt': 'no',
    }
    const answer = answerOf(slow, { ...odd, quarantined: false })
    const { code, out } = await mergeq(`flaky match reports/ ${where} --allow known --json`, {
      files,
      answer,
    })
    expect({ code, verdicts: verdictsIn(out) }).toEqual({
      code: 0,
      verdicts: ['is slow: known', 'is odd: known'],
    })
  })

  test('without failures no request is sent and no token is needed', async () => {
    for (const flags of ['', '--dry-run'])
      expect(
        await match('<testsuite><testcase name="a"/></testsuite>', flags, { env: { MERGEQ_TOKEN: '' } }),
      ).toMatchObject({ code: 0, out: '', err: 'No failed tests.\n', requests: [] })
  })
})

describe('what passes', () => {
  const [known, quarantined, fresh] = [
    junit(['web.Cart', 'is slow']),
    junit(['web.Cart', 'is odd']),
    junit(['web.Cart', 'is new']),
  ]
  test.each([
    [known, '', 21],
    [known, '--allow known', 0],
    [quarantined, '', 0],
    [fresh, '--allow known', 21],
    [quarantined, '--variant linux', 0],
    [quarantined, '--variant windows', 21],
  ])('%#: %s ends with %i', async (xml, flags, exit) => {
    const tests = [slow, { ...odd, variant: 'linux' }]
    expect((await match(xml, flags, { answer: answerOf(...tests) })).code).toBe(exit)
  })

  test('without the service: nothing, or all that is no crash with --on-unavailable pass', async () => {
    const setting = { answer: () => ({ status: 503 }) }
    expect((await match(known, '', setting)).code).toBe(7)
    const { code, err } = await match(known, '--on-unavailable pass', setting)
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('Nothing was read. The match passes'),
    })
    expect((await match('<testsuites/>', '--on-unavailable pass', setting)).code).toBe(21)
  })

  const passed = '<testsuite failures="0"><testcase name="a"/></testsuite>'
  const empty = 'a.xml contains no test cases.'
  test.each([
    ['<testsuites errors="1"/>', '', '', 21, 'reports more failures than it has test cases for'],
    [
      '<testsuite tests="3"><testcase name="a"/></testsuite>',
      '',
      '',
      0,
      'a.xml: it reports 3 tests, but has 1',
    ],
    // Each document of a file is a report of its own.
    [`${passed}\n<testsuite errors="1"/>`, '', '', 21, 'a.xml, document 2: it reports'],
    ['<testsuites/>', '', '', 21, empty],
    ['<testsuites/>', passed, '', 21, empty],
    ['<testsuites/>', passed, '--allow-empty', 0, empty],
    ['<testsuites tests="2"/>', passed, '', 21, empty],
    ['<testsuites tests="2"/>', passed, '--allow-empty', 0, empty],
    ['<testsuites><testsuite tests="0" failures="0"/></testsuites>', passed, '', 0, empty],
    ['<testsuites tests="0" errors="1"/>', passed, '--allow-empty', 21, empty],
    ['<testsuites tests="0"/>', '<testsuites/>', '--allow-empty', 21, empty],
  ])('no run that crashed: %s beside %j, with "%s": exit %i', async (report, other, flags, exit, problem) => {
    const files = { 'a.xml': report, 'b.xml': other === '' ? passed : other }
    const paths = other === '' ? 'a.xml' : 'a.xml b.xml'
    const setting = { files, answer: answerOf() }
    const { code, err } = await mergeq(`flaky match ${paths} ${where} ${flags}`, setting)
    expect({ code, err }).toEqual({ code: exit, err: expect.stringContaining(problem) })
    expect(err.includes('the test run has not finished, or it crashed.')).toBe(exit === 21)
  })
})

describe('a test that the report has again, as passed', () => {
  const again = (name: string, ...attempts: readonly string[]) =>
    attempts.map(inner => `<testcase classname="web.Cart" name="${name}">${inner}</testcase>`).join('')
  const suite = (...cases: readonly string[]) => `<testsuite name="Cart">${cases.join('')}</testsuite>`
  const flaky = again('is slow', '<failure/>', '<failure/>', '')

  test('--retried pass: its verdict is flaky, nothing is read for it, and it is the last row', async () => {
    const { code, out, err, requests } = await match(suite(flaky), '--retried pass --json')
    expect({ code, err, requests }).toEqual({
      code: 0,
      err: '1 test failed, and passed in a later attempt.\nNo failed tests.\n',
      requests: [],
    })
    const failed = { name: 'is slow', classname: 'web.Cart', parent: 'Cart', file: null, test: null }
    expect(JSON.parse(out)).toMatchObject({
      counts: { failed: 0, new: 0, unknown: 0, known: 0, quarantined: 0, flaky: 1 },
      tests: [{ verdict: 'flaky', ...failed }],
    })
    const both = await match(suite(flaky, again('is new', '<failure/>')), '--retried pass')
    expect(both).toMatchObject({ code: 21, out: 'is new\tnew\t\t\t\t\t\nis slow\tflaky\t\t\t\t\t\n' })
    expect(both.err).toContain('1 of 1 failed test is new')
  })

  const [failing, passing] = [again('is slow', '<failure/>'), again('is slow', '')]
  test.each([
    ['failed in another report', flaky, failing, 21],
    ['failed and passed in another report', flaky, again('is slow', '<error/>', ''), 0],
    ['passed in another report, and failed in this one', flaky, passing, 0],
    ['passed in another report alone', failing, passing, 21],
  ])('one that %s', async (_, report, other, exit) => {
    for (const [one, two] of [
      [report, other],
      [other, report],
    ] as const) {
      const setting = { files: { 'a.xml': suite(one), 'b.xml': suite(two) }, answer: answerOf() }
      const { code } = await mergeq(`flaky match a.xml b.xml ${where} --retried pass`, setting)
      expect(code).toBe(exit)
    }
  })
})

test('a test that is known in another class is new, and that class is said', async () => {
  const known = { ...odd, id: idOf(3), classname: 'web.Basket' }
  const xml =
    '<testsuite name="Cart" file="web/cart.test.ts"><testcase name="is odd" classname="web.Cart"><failure/></testcase></testsuite>'
  const said =
    'The service knows the name, file and suite of 1 failed test in another class: is odd (web.Basket).'
  const { code, err } = await match(xml, '', { answer: answerOf(known) })
  expect({ code, err }).toEqual({ code: 21, err: expect.stringContaining(said) })
  for (const other of [
    { ...known, file_path: null },
    { ...known, parent: 'User' },
    { ...known, name: 'is' },
  ])
    expect((await match(xml, '', { answer: answerOf(other) })).err).not.toContain('another class')
  expect((await match(xml, '', { answer: answerOf(known, odd) })).err).not.toContain('another class')
})

describe('a directory', () => {
  const passed = '<testsuite><testcase name="a"/></testsuite>'
  const summary = '<failsafe-summary result="0"><completed>1</completed></failsafe-summary>'
  const testng = '<testng-results failed="1"/>'

  test('other XML files are left out, and counted once', async () => {
    const files = {
      'reports/failsafe-summary.xml': summary,
      'reports/deep/coverage.xml': '<!DOCTYPE coverage>\n<coverage>\n<not closed',
      'reports/deep/TEST-a.xml': passed,
    }
    const { code, err } = await mergeq(`flaky match reports ${where}`, { files })
    expect({ code, err }).toEqual({
      code: 0,
      err: '2 other XML files were left out: the root element is not <testsuites> or <testsuite>.\nNo failed tests.\n',
    })
  })

  const folder = temporaryFolder('mergeq-match-')
  test('what is below it is read, but no links and nothing that begins with a dot', async () => {
    for (const name of ['deep/er', '.hidden']) mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, 'deep/er/a.xml'), junit(['web.Cart', 'is slow']))
    for (const name of ['.hidden/b.xml', 'deep/.c.xml'])
      writeFileSync(join(folder, name), junit(['web.Cart', name]))
    symlinkSync('deep', join(folder, 'link'))
    symlinkSync('.hidden/b.xml', join(folder, 'd.xml'))
    const setting = { realFiles: true, answer: answerOf() }
    const run = (path: string) => mergeq(`flaky match ${path} ${where} --json`, setting)
    expect(verdictsIn((await run(folder)).out)).toEqual(['is slow: new'])
    // What is named is read.
    expect(verdictsIn((await run(`${folder} ${folder}/deep/.c.xml`)).out)).toHaveLength(2)
    expect(verdictsIn((await run(`${folder}/d.xml`)).out)).toHaveLength(1)
  })

  const unread = 'reports contains no JUnit XML file.'
  test.each([
    ['none.xml', {}, 'none.xml cannot be read'],
    ['reports', { 'reports/a.xml': summary }, unread],
    ['reports', { 'reports/.a.xml': passed }, unread],
    ['reports', { 'reports/a.txt': passed }, 'reports contains no .xml file.'],
    ['reports/a.xml', { 'reports/a.xml': summary }, 'the root element is <failsafe-summary>'],
    [
      'reports reports/b.xml',
      { 'reports/a.xml': passed, 'reports/b.xml': summary },
      'the root element is <failsafe-summary>',
    ],
    ['reports', { 'reports/a.xml': `<testsuites/>${testng}` }, 'the root element is <testng-results>'],
    [
      'reports',
      { 'reports/a.xml': passed, 'reports/b.xml': '<testsui' },
      'reports/b.xml: line 1: the file is',
    ],
  ])('%s of %j is a usage error that sends nothing', async (path, files, message) => {
    expectUsageError(
      await mergeq(`flaky match ${path} ${where}`, {
        files,
        answer: answerOf(),
      }),
      message,
    )
  })
})

describe('a window that could not be read completely', () => {
  const cut =
    (status: number) =>
    ({ body }: Seen): Answer =>
      JSON.parse(body).page_query.page_token === ''
        ? { body: JSON.stringify({ tests: [slow], page: { next_page_token: 'more' } }) }
        : { status, body: 'no' }

  test.each([
    [500, 17],
    [401, 4],
  ])('page 2 answers %i: a test that was not found is unknown, not new: exit %i', async (status, exit) => {
    const xml = junit(['web.Cart', 'is slow'], ['web.Cart', 'other'])
    const { code, out, err } = await match(xml, '--json', { answer: cut(status) })
    expect({ code, verdicts: verdictsIn(out) }).toEqual({
      code: exit,
      verdicts: ['other: unknown', 'is slow: known'],
    })
    expect(JSON.parse(out).window.complete).toBe(false)
    expect(err).toMatch(/The list is incomplete/)
  })

  test('missing pages do not matter if every test was found', async () => {
    const known = junit(['web.Cart', 'is slow'])
    const { code, err } = await match(known, '--allow known', { answer: cut(500) })
    expect(code).toBe(0)
    expect(err).toMatch(/The list is incomplete/)
  })
})
