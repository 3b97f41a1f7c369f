import { describe, expect, test } from 'vitest'
import type { FailedTest } from '../../src/commands/flaky/junit.ts'
import { createMatcher } from '../../src/commands/flaky/match.ts'
import type { JsonObject } from '../../src/json.ts'
import { junit } from '../support/flaky-match.ts'
import { type Answer, mergeq, openStory, type Seen, type Setting, tickingClock } from '../support/harness.ts'

const where = '-R acme/web --org acme'

let last = 0
/** A failing test of the service. */
const known = (name: string, more: JsonObject = {}): JsonObject => ({
  id: `00000000-0000-4000-8000-${String(++last).padStart(12, '0')}`,
  name,
  failure_rate_last_7d: 0.25,
  codeowners: ['@acme/web'],
  quarantined: false,
  ...more,
})

/** A service that lists these failing tests, and has no list of flaky and broken tests. */
const answerOf =
  (...tests: readonly JsonObject[]) =>
  ({ path }: Seen): Answer =>
    path.endsWith('/list-failing-tests')
      ? { body: JSON.stringify({ tests, page: { next_page_token: '' } }) }
      : { status: 404 }

const match = (xml: string | Uint8Array, setting: Setting = {}, flags = '') =>
  mergeq(`flaky match junit.xml ${where} ${flags}`, { files: { 'junit.xml': xml }, ...setting })

const verdictsIn = (out: string) =>
  JSON.parse(out).tests.map(({ name, verdict }: JsonObject) => `${name}: ${verdict}`)

describe('verdicts', () => {
  test('known, quarantined and new: a row each, the new ones first, exit 21', async () => {
    const [slow, odd] = [
      known('is slow', { classname: 'web.Cart' }),
      known('is odd', { classname: 'web.Cart', quarantined: true }),
    ]
    const { code, out, err, requests } = await match(
      junit(['web.Cart', 'is slow'], ['web.Cart', 'is odd'], ['web.Cart', 'is broken', 'web/cart.ts']),
      { answer: answerOf(slow, odd, known('other')) },
    )
    expect({ code, out, err }).toEqual({
      code: 21,
      out: [
        'is broken\tnew\t\t\t\tweb/cart.ts',
        `is slow\tknown\t${slow.id}\t0.25\t@acme/web\t`,
        `is odd\tquarantined\t${odd.id}\t0.25\t@acme/web\t`,
        '',
      ].join('\n'),
      err: [
        '3 tests failed from 2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z.',
        'mergeq: flaky match: 1 of 3 failed tests is new (not in the list of failing tests for this range).',
        '  Fix the new failures, or widen the range with --since 30d.',
        '',
      ].join('\n'),
    })
    expect(requests.map(({ path, body }) => ({ path, body: JSON.parse(body) }))).toEqual([
      {
        path: '/v1/flaky-tests/list-failing-tests',
        body: {
          repo: { host: 'github.com', owner: 'acme', name: 'web' },
          org_url_slug: 'acme',
          start_time: '2026-01-04T12:00:00.000Z',
          end_time: '2026-01-05T12:00:00.000Z',
          page_query: { page_size: 100, page_token: '' },
        },
      },
      // The new test may be flaky or broken without a failure in the range.
      {
        path: '/v1/flaky-tests/list-unhealthy-tests',
        body: {
          repo: { host: 'github.com', owner: 'acme', name: 'web' },
          org_url_slug: 'acme',
          status: 'FLAKY',
          page_query: { page_size: 100, page_token: '' },
        },
      },
    ])
  })

  test('--json is one document with counts, the list and the window', async () => {
    const slow = known('is slow', { classname: 'web.Cart', extra: 9007199254740991 })
    const { code, out } = await match(
      junit(['web.Cart', 'is slow'], ['web.Cart', 'is new']),
      { answer: answerOf(slow) },
      '--json',
    )
    expect(code).toBe(21)
    expect(JSON.parse(out)).toEqual({
      counts: { failed: 2, new: 1, unknown: 0, known: 1, quarantined: 0 },
      tests: [
        { verdict: 'new', name: 'is new', classname: 'web.Cart', parent: 'Cart', file: null, test: null },
        { verdict: 'known', name: 'is slow', classname: 'web.Cart', parent: 'Cart', file: null, test: slow },
      ],
      window: { start: '2026-01-04T12:00:00.000Z', end: '2026-01-05T12:00:00.000Z', complete: true },
    })
  })

  test('-o ndjson is a record a line; --fields picks', async () => {
    const setting = { answer: answerOf(known('a', { classname: 'b' })) }
    const { out } = await match(
      junit(['b', 'a'], ['b', 'c']),
      setting,
      '-o ndjson --fields verdict,test.name',
    )
    expect(out).toBe('{"verdict":"new"}\n{"verdict":"known","test":{"name":"a"}}\n')
  })

  const by = (failed: Partial<FailedTest>, ...tests: readonly JsonObject[]) => {
    const matching = createMatcher([
      { name: 'adds', classname: undefined, suites: [], file: undefined, ...failed },
    ])
    for (const one of tests) matching.take(one)
    const [found] = matching.matches()
    return found?.test === undefined ? 'new' : `${found.test.id}${found.isQuarantined ? ' quarantined' : ''}`
  }
  const one = (more: JsonObject): JsonObject => ({ id: 'one', name: 'adds', ...more })
  const other = (more: JsonObject): JsonObject => ({ id: 'other', name: 'adds', ...more })

  test.each<readonly [what: string, Partial<FailedTest>, readonly JsonObject[], string]>([
    ['class and name', { classname: 'Cart' }, [one({ classname: 'Cart' })], 'one'],
    ['another name', { classname: 'Cart', name: 'subs' }, [one({ classname: 'Cart' })], 'new'],
    ['another class and nothing else', { classname: 'Cart' }, [one({ classname: 'Shop' })], 'new'],
    ['the name alone does not do', { classname: 'Cart' }, [one({})], 'new'],
    ['a name that is all there is', {}, [one({})], 'one'],
    ['the suite', { suites: ['inner', 'Cart'] }, [one({ parent: 'Cart' })], 'one'],
    [
      'the suite where classes differ',
      { classname: 'test', suites: ['Cart'] },
      [one({ classname: 'x', parent: 'Cart' })],
      'one',
    ],
    ['the file', { file: '/home/ci/web/cart.ts' }, [one({ file_path: 'web/cart.ts' })], 'one'],
    ['a file with other separators', { file: '.\\web\\cart.ts' }, [one({ file_path: 'web/cart.ts' })], 'one'],
    ['another file of the same name', { file: 'shop/cart.ts' }, [one({ file_path: 'web/cart.ts' })], 'new'],
    ['part of a file name', { file: 'mycart.ts' }, [one({ file_path: 'cart.ts' })], 'new'],
    [
      'white space and accents',
      { name: 'e\u0301t\n e', classname: 'A' },
      [one({ name: '\u00e9t e', classname: 'A ' })],
      'one',
    ],
    [
      'the class before the suite',
      { classname: 'A', suites: ['S'] },
      [other({ parent: 'S' }), one({ classname: 'A' })],
      'one',
    ],
    [
      'the suite before the file',
      { suites: ['S'], file: 'f.ts' },
      [one({ parent: 'S' }), other({ file_path: 'f.ts' })],
      'one',
    ],
    [
      'class and suite before the class',
      { classname: 'test', suites: ['S'] },
      [other({ classname: 'test', parent: 'T' }), one({ classname: 'test', parent: 'S' })],
      'one',
    ],
    [
      'variants that are all quarantined',
      { classname: 'A' },
      [one({ classname: 'A', quarantined: true }), other({ classname: 'A', quarantined: true })],
      'one quarantined',
    ],
    [
      'a variant that is not quarantined',
      { classname: 'A' },
      [one({ classname: 'A', quarantined: true }), other({ classname: 'A' })],
      'other',
    ],
    [
      'a better fit that is quarantined',
      { classname: 'A', suites: ['S'] },
      [other({ classname: 'A' }), one({ classname: 'A', parent: 'S', quarantined: true })],
      'one quarantined',
    ],
    [
      'fields that are null',
      { classname: 'A', suites: ['S'], file: 'f' },
      [one({ classname: null, parent: null, file_path: null })],
      'new',
    ],
    [
      'an empty class on both sides',
      { classname: undefined, suites: ['S'] },
      [one({ classname: '', parent: 'T' })],
      'new',
    ],
  ])('%s', (_, failed, tests, found) => {
    expect(by(failed, ...tests)).toBe(found)
    expect(by(failed, ...tests.toReversed()).replace(/^other q/, 'one q')).toBe(found)
  })

  test('several files and standard input; what fails in two of them counts once', async () => {
    const { code, out } = await mergeq(`flaky match a.xml b.xml - ${where} --json`, {
      files: { 'a.xml': junit(['A', 'one'], ['A', 'two']), 'b.xml': junit(['A', 'two']) },
      input: junit(['A', 'three']),
      answer: answerOf(known('two', { classname: 'A' })),
    })
    expect({ code, verdicts: verdictsIn(out) }).toEqual({
      code: 21,
      verdicts: ['one: new', 'three: new', 'two: known'],
    })
  })

  test('the range is in words on a terminal, also if time passes while the files are read', async () => {
    const { err } = await mergeq(`flaky match a.xml ${where}`, {
      files: { 'a.xml': junit(['A', 'one']) },
      answer: answerOf(known('two', { classname: 'A' })),
      terminal: true,
      clock: tickingClock(),
    })
    expect(err).toContain('failed in the last 24 hours.')
  })

  test('nothing that is new is exit 0', async () => {
    const answer = answerOf(
      known('one', { classname: 'A' }),
      known('two', { classname: 'A', quarantined: true }),
    )
    expect(await match(junit(['A', 'one'], ['A', 'two']), { answer })).toMatchObject({ code: 0 })
  })

  test('without failures no request is sent and no token is needed', async () => {
    const { code, out, err, requests } = await match('<testsuite><testcase name="a"/></testsuite>', {
      answer: answerOf(),
      env: { MERGEQ_TOKEN: '' },
    })
    expect({ code, out, err, requests }).toEqual({
      code: 0,
      out: '',
      err: 'No failed tests.\n',
      requests: [],
    })
  })

  test('a file without tests causes a warning', async () => {
    const { code, err } = await match('<testsuites/>', { answer: answerOf() })
    expect({ code, err }).toEqual({
      code: 0,
      err: 'mergeq: junit.xml contains no test cases.\nNo failed tests.\n',
    })
  })

  test('names with escapes reach a terminal without them', async () => {
    const { out } = await match(
      junit(['A', 'x\u202Ey|z\n| row |']),
      { answer: answerOf(), terminal: true, columns: 120 },
      '--color never',
    )
    expect(out.split('\n')).toHaveLength(3)
    expect(out).toMatch(/^✗ new +xy\|z \| row \|$/m)
  })
})

describe.each(['document', 'hosted'] as const)('the sandbox in the %s dialect', dialect => {
  test('its failing tests are known or quarantined, others new', async () => {
    const story = await openStory({ dialect })
    try {
      const tests: readonly JsonObject[] = JSON.parse(
        (await story.mergeq('flaky list --since 8d --json')).out,
      ).tests
      expect(tests.length).toBeGreaterThan(200)
      const names = tests.map(({ classname, name }) => [String(classname), String(name)] as const)
      const files = {
        'all.xml': junit(...names),
        'new.xml': junit(['web.cart.Carttotals', 'was written today']),
      }
      const all = await story.mergeq('flaky match all.xml --since 8d --json', { files })
      const { counts, window } = JSON.parse(all.out)
      expect(all.code).toBe(0)
      expect(counts).toMatchObject({ failed: new Set(names.map(String)).size, new: 0, unknown: 0 })
      expect(counts.quarantined).toBeGreaterThan(10)
      expect(window.complete).toBe(true)
      const some = await story.mergeq('flaky match all.xml new.xml --since 8d', { files })
      expect(some.code).toBe(21)
      expect(some.out.split('\n')[0]).toBe('was written today\tnew\t\t\t\t')
    } finally {
      await story.close()
    }
  })
})

describe('a window that could not be read completely', () => {
  const cut =
    (status: number) =>
    ({ body }: { readonly body: string }): Answer =>
      JSON.parse(body).page_query.page_token === ''
        ? {
            body: JSON.stringify({
              tests: [known('slow', { classname: 'A' })],
              page: { next_page_token: 'more' },
            }),
          }
        : { status, body: 'no' }

  test.each([
    [500, 17],
    [401, 4],
  ])('page 2 answers %i: a test that was not found is unknown, not new: exit %i', async (status, code) => {
    const ran = await match(
      junit(['A', 'slow'], ['A', 'other']),
      { answer: cut(status) },
      '--retries 0 --json',
    )
    expect({ code: ran.code, verdicts: verdictsIn(ran.out) }).toEqual({
      code,
      verdicts: ['other: unknown', 'slow: known'],
    })
    expect(JSON.parse(ran.out).window.complete).toBe(false)
    expect(ran.err).toMatch(/The list is incomplete/)
  })

  test('the list is also incomplete if --max-pages is reached', async () => {
    const { code, out, err } = await match(junit(['A', 'other']), { answer: cut(500) }, '--max-pages 1')
    expect(err).toContain('the list has more than 1 page (to read more, raise --max-pages)')
    expect({ code, out }).toEqual({ code: 17, out: 'other\tunknown\t\t\t\t\n' })
  })

  test('missing pages do not matter if every test was found', async () => {
    const { code, err } = await match(junit(['A', 'slow']), { answer: cut(500) }, '--retries 0')
    expect(code).toBe(0)
    expect(err).toMatch(/The list is incomplete/)
  })

  test('if no page can be read, nothing is printed', async () => {
    const { code, out } = await match(
      junit(['A', 'slow']),
      { answer: () => ({ status: 503 }) },
      '--retries 0',
    )
    expect({ code, out }).toEqual({ code: 7, out: '' })
  })
})

describe('files that are not JUnit XML', () => {
  const lol = Array.from({ length: 9 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`)
  const cases: readonly (readonly [what: string, xml: string | Uint8Array, message: RegExp])[] = [
    ['nothing', '', /junit\.xml is empty\./],
    ['white space', ' \n\n', /junit\.xml is empty\./],
    ['a declaration alone', '<?xml version="1.0"?>\n', /junit\.xml is empty\./],
    ['text', 'all tests passed', /junit\.xml: line 1: invalid XML/],
    ['JSON', '\n{"tests":[]}', /junit\.xml: line 2: invalid XML/],
    [
      'a web page',
      '<!DOCTYPE html>\n<html><body></body></html>',
      /junit\.xml: line 2: not JUnit XML: the root element is <html>/,
    ],
    ['other XML', '<project/>', /line 1: not JUnit XML: the root element is <project>/],
    ['cut between tests', '<testsuite>\n<testcase name="a"/>\n', /line 3: the file is incomplete/],
    ['cut in a tag', '<testsuite>\n<testcase name="a', /line 2: the file is incomplete/],
    ['cut in a comment', '<testsuite><!-- ', /line 1: the file is incomplete/],
    [
      'tags that cross',
      '<testsuite>\n<testcase></testsuite></testcase>',
      /line 2: invalid XML: Unexpected close tag/,
    ],
    ['text behind', '<testsuite/>\nand so on', /line 2: invalid XML: Text data outside of root node/],
    [
      'an entity that nobody knows',
      '<testsuite>\n<testcase name="&nbsp;"/></testsuite>',
      /line 2: invalid XML: Invalid character entity/,
    ],
    [
      'an entity of Object',
      '<testsuite><testcase name="&constructor;"/></testsuite>',
      /junit\.xml: line 1: /,
    ],
    [
      'a billion laughs',
      `<!DOCTYPE x [<!ENTITY l0 "lol">${lol.join('')}]>\n<testsuite name="&l9;"/>`,
      /line 2: invalid XML: Invalid character entity/,
    ],
    [
      'an entity from outside',
      '<!DOCTYPE x [\n<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<testsuite name="&e;"/>',
      /line 3: invalid XML: Invalid character entity/,
    ],
    ['nesting without end', '<testsuite>'.repeat(100_000), /line 1: the file is incomplete/],
    [
      'an attribute without end',
      `<testsuite name="${'x'.repeat(3_000_000)}`,
      /line 1: a name, attribute or comment is longer than 1\.0 MiB/,
    ],
    [
      'a name without end',
      `<testsuite ${'x'.repeat(3_000_000)}`,
      /a name, attribute or comment is longer than 1\.0 MiB/,
    ],
    [
      'a comment without end',
      `<testsuite><!--${'x'.repeat(3_000_000)}`,
      /a name, attribute or comment is longer/,
    ],
    [
      'an encoding that nobody knows',
      '<?xml version="1.0" encoding="klingon"?><testsuite/>',
      /line 1: unknown encoding 'klingon'/,
    ],
    [
      'bytes',
      Uint8Array.from({ length: 2_000 }, (_, index) => (index * 7 + 128) % 256),
      /line \d+: invalid XML/,
    ],
  ]

  test.each(cases)('%s is refused with its file, and nothing is sent', async (_, xml, message) => {
    const { code, out, err, requests } = await match(xml, { answer: answerOf() })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err).toMatch(message)
    expect(err).toMatch(/^mergeq: .*\n {2}\S.*\n$/)
    expect(err.length).toBeLessThan(400)
  })

  test('a missing file, or no file name', async () => {
    const missing = await mergeq(`flaky match none.xml ${where}`, { answer: answerOf() })
    expect(missing).toMatchObject({ code: 2, out: '', requests: [] })
    expect(missing.err).toMatch(/none\.xml cannot be read/)
    expect(await mergeq(`flaky match ${where}`, { answer: answerOf() })).toMatchObject({
      code: 2,
      requests: [],
    })
  })

  test('one bad file among good ones stops before anything is sent', async () => {
    const ran = await mergeq(`flaky match a.xml b.xml ${where}`, {
      files: { 'a.xml': junit(['A', 'one']), 'b.xml': '<testsuite>' },
      answer: answerOf(),
    })
    expect(ran).toMatchObject({ code: 2, out: '', requests: [] })
    expect(ran.err).toContain('b.xml: line 1: the file is incomplete')
  })

  test('--dry-run prints the first request and sends nothing', async () => {
    const { code, out, requests } = await match(junit(['A', 'one']), { answer: answerOf() }, '--dry-run')
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(JSON.parse(out)).toMatchObject({ operation: 'flaky-tests/list-failing-tests' })
  })
})

describe('several reports', () => {
  const failing = (name: string) => junit(['web.Cart', name])
  const counted = async (line: string, files: Readonly<Record<string, string>>) => {
    const { code, out, err } = await mergeq(`flaky match ${line} ${where} --json`, {
      files,
      answer: answerOf(known('one', { classname: 'web.Cart' }), known('two', { classname: 'web.Cart' })),
    })
    return { code, names: code === 0 ? verdictsIn(out) : err }
  }

  test('of a directory are read in the order of their names', async () => {
    const files = { 'reports/b.xml': failing('two'), 'reports/a.XML': failing('one'), 'reports/c.txt': 'no' }
    for (const path of ['reports', 'reports/'])
      expect(await counted(path, files)).toEqual({ code: 0, names: ['one: known', 'two: known'] })
    expect(await counted('reports', { 'reports/c.txt': 'no' })).toEqual({
      code: 2,
      names: expect.stringContaining('"reports contains no .xml file."'),
    })
  })

  test('a pattern is a file name: the shell expands it', async () => {
    const files = { 'reports/a*.xml': failing('one'), 'reports/ab.xml': 'no' }
    expect(await counted("'reports/a*.xml'", files)).toEqual({ code: 0, names: ['one: known'] })
  })
})
