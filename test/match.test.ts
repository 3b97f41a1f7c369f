import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FailedTest, parseJUnit } from '../src/commands/flaky/match/junit.ts'
import { createMatcher } from '../src/commands/flaky/match/known-tests.ts'
import type { JsonObject } from '../src/json.ts'
import { type Answer, mergeq, openStory, type Setting } from './harness.ts'

const where = '-R acme/web --org acme'
const folder = new URL('fixtures/junit/', import.meta.url)

const fixtures: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder).map(name => [name, readFileSync(new URL(name, folder), 'utf8')]),
)

async function* inPieces(text: string | Uint8Array, length = 1_000): AsyncIterable<Uint8Array> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length)
}

const read = async (text: string | Uint8Array, length?: number): Promise<readonly FailedTest[]> =>
  (await parseJUnit(inPieces(text, length), 'junit.xml')).failed

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

const answerOf =
  (...tests: readonly JsonObject[]) =>
  (): Answer => ({ body: JSON.stringify({ tests, page: { next_page_token: '' } }) })

const escaped = (text: string) => text.replace(/[&<>"\t\n\r]/g, character => `&#${character.charCodeAt(0)};`)

/** A file with these failed tests, each `class name`, `name`, `file`. */
const junit = (...tests: readonly (readonly [classname: string, name: string, file?: string])[]) =>
  `<testsuites><testsuite name="Cart">${tests
    .map(
      ([classname, name, file]) =>
        `<testcase classname="${escaped(classname)}" name="${escaped(name)}"${file === undefined ? '' : ` file="${escaped(file)}"`}><failure/></testcase>`,
    )
    .join('')}<testcase classname="a" name="passes"/></testsuite></testsuites>`

const match = (xml: string | Uint8Array, setting: Setting = {}, flags = '') =>
  mergeq(`flaky match junit.xml ${where} ${flags}`, { files: { 'junit.xml': xml }, ...setting })

const verdictsIn = (out: string) =>
  JSON.parse(out).tests.map(({ name, verdict }: JsonObject) => `${name}: ${verdict}`)

describe('the dialects of test runners', () => {
  const told = ({ classname, name, suites, file }: FailedTest) =>
    [suites.toReversed().join(' > '), classname ?? '', name, ...(file === undefined ? [] : [file])].join(
      ' | ',
    )
  const odd = 'keeps <b>"quoted" & 日本語 names</b>'
  const failures: Readonly<Record<string, readonly string[]>> = {
    'vitest.xml': [
      'web/cart.test.mjs | web/cart.test.mjs | Cart totals > adds the shipping',
      `web/cart.test.mjs | web/cart.test.mjs | Cart totals > ${odd}`,
      'web/cart.test.mjs | web/cart.test.mjs | Cart totals > with a coupon > is cheaper',
    ],
    'jest.xml': [
      'Cart totals | Cart totals adds the shipping | Cart totals adds the shipping',
      `Cart totals | Cart totals ${odd} | Cart totals ${odd}`,
      'Cart totals | Cart totals with a coupon is cheaper | Cart totals with a coupon is cheaper',
    ],
    'mocha.xml': [
      'Cart totals | adds the shipping | Cart totals adds the shipping | /home/ci/web/cart.mocha.js',
      `Cart totals | ${odd} | Cart totals ${odd} | /home/ci/web/cart.mocha.js`,
      'with a coupon | is cheaper | Cart totals with a coupon is cheaper | /home/ci/web/cart.mocha.js',
    ],
    // Node 20 escapes quotation marks twice.
    'node.xml': [
      'Cart totals | test | adds the shipping',
      'Cart totals | test | keeps <b>&quot;quoted&quot; & 日本語 names</b>',
      'Cart totals > with a coupon | test | is cheaper',
      ' | test | stands alone',
    ],
    'pytest.xml': [
      'pytest | tests.billing.test_invoice.TestInvoice | test_rounds_half_even',
      'pytest | tests.billing.test_invoice.TestInvoice | test_currency[JPY-¥]',
      'pytest | tests.billing.test_ledger | test_needs_database',
    ],
    'gradle.xml': ['com.acme.billing.InvoiceTest | com.acme.billing.InvoiceTest | roundsHalfEven()'],
    'surefire.xml': [
      'com.acme.billing.LedgerTest | com.acme.billing.LedgerTest | balances',
      'com.acme.billing.LedgerTest | com.acme.billing.LedgerTest | opens',
    ],
  }

  test('every fixture has its failures', () => {
    expect(Object.keys(fixtures).sort()).toEqual(Object.keys(failures).sort())
  })

  test.each(Object.entries(failures))('%s, in pieces of any length', async (name, told_) => {
    for (const length of [1, 7, 1_000, 1_000_000])
      expect((await read(fixtures[name] ?? '', length)).map(told)).toEqual(told_)
  })

  test.each([
    ['attributes missing', '<testsuite><testcase><failure/></testcase></testsuite>', [' |  | ']],
    [
      'a suite that could not be set up',
      '<testsuite name="Cart" file="a.ts"><error message="x"/><testcase name="b"/></testsuite>',
      ['Cart |  | Cart | a.ts'],
    ],
    [
      'a failure and an error in one test',
      '<testsuite name="s"><testcase name="a"><failure/><error/></testcase></testsuite>',
      ['s |  | a'],
    ],
    [
      'skipped, flaky and output',
      '<testsuite><testcase name="a"><skipped/></testcase><testcase name="b"><flakyFailure/><system-out>&lt;failure/></system-out></testcase><testcase name="c"><system-err><![CDATA[<failure/>]]></system-err></testcase></testsuite>',
      [],
    ],
    [
      'a name from Object',
      '<testsuite><testcase name="constructor" __proto__="x"><failure/></testcase></testsuite>',
      [' |  | constructor'],
    ],
    [
      'control characters of a terminal',
      '<testsuite><testcase name="a&#27;[31mb"><failure>\u001B[0m&#x1B;</failure></testcase></testsuite>',
      [' |  | a&#27;[31mb'],
    ],
    [
      'a doctype without entities',
      '<!DOCTYPE testsuite SYSTEM "junit.dtd"><testsuite><testcase name="a"><failure/></testcase></testsuite>',
      [' |  | a'],
    ],
    [
      'a BOM',
      '\uFEFF<?xml version="1.0"?><testsuite><testcase name="é"><failure/></testcase></testsuite>',
      [' |  | é'],
    ],
  ])('%s', async (_, xml, told_) => {
    expect((await read(xml)).map(told)).toEqual(told_)
  })

  test.each([
    ['latin1', 'iso-8859-1', ''],
    ['utf16le', 'utf-16', '\uFEFF'],
  ] as const)('%s, as the declaration or the byte order mark says', async (encoding, label, mark) => {
    const xml = `${mark}<?xml version="1.0" encoding="${label}"?><testsuite><testcase name="né"><failure/></testcase></testsuite>`
    expect((await read(Buffer.from(xml, encoding))).map(({ name }) => name)).toEqual(['né'])
  })

  test('property: whatever the names are, they are read as they were written', async () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter(one => !/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(one))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name, name, name)),
        fc.integer({ min: 1, max: 50 }),
        async (tests, length) => {
          const failed = await read(junit(...tests), length)
          expect(failed.map(({ classname, name, file }) => [classname, name, file])).toEqual(tests)
        },
      ),
    )
  })
})

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
        '3 tests that failed from 2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z.',
        '3 tests failed here: 1 new, 1 known, 1 quarantined.',
        'mergeq: flaky match: 1 of 3 failed tests is new: not among the tests that failed in that time.',
        '  Mend what is new, or look further back with --since 30d.',
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

  test('nothing that is new is exit 0', async () => {
    const answer = answerOf(
      known('one', { classname: 'A' }),
      known('two', { classname: 'A', quarantined: true }),
    )
    expect(await match(junit(['A', 'one'], ['A', 'two']), { answer })).toMatchObject({ code: 0 })
  })

  test('where nothing failed nothing is asked and no token needed', async () => {
    const { code, out, err, requests } = await match('<testsuite><testcase name="a"/></testsuite>', {
      answer: answerOf(),
      env: { MERGEQ_TOKEN: '' },
    })
    expect({ code, out, err, requests }).toEqual({
      code: 0,
      out: '',
      err: '0 tests failed here.\n',
      requests: [],
    })
  })

  test('a file without any test is worth a warning', async () => {
    const { code, err } = await match('<testsuites/>', { answer: answerOf() })
    expect({ code, err }).toEqual({
      code: 0,
      err: 'mergeq: junit.xml holds no test case.\n0 tests failed here.\n',
    })
  })

  test('names with escapes reach a terminal without them', async () => {
    const { out } = await match(
      junit(['A', 'x\u202Ey|z\n| row |']),
      { answer: answerOf(), terminal: true, columns: 120 },
      '--color never',
    )
    expect(out.split('\n')).toHaveLength(3)
    expect(out).toMatch(/^xy\|z \| row \| +new /m)
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

describe('a window that could not be read wholly', () => {
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

  test('--max-pages reached is not the whole list either', async () => {
    const { code, out } = await match(junit(['A', 'other']), { answer: cut(500) }, '--max-pages 1')
    expect({ code, out }).toEqual({ code: 17, out: 'other\tunknown\t\t\t\t\n' })
  })

  test('where every test was found what is missing does not matter', async () => {
    const { code, err } = await match(junit(['A', 'slow']), { answer: cut(500) }, '--retries 0')
    expect(code).toBe(0)
    expect(err).toMatch(/The list is incomplete/)
  })

  test('nothing read is nothing said', async () => {
    const { code, out } = await match(
      junit(['A', 'slow']),
      { answer: () => ({ status: 503 }) },
      '--retries 0',
    )
    expect({ code, out }).toEqual({ code: 7, out: '' })
  })
})

describe('what is no JUnit XML', () => {
  const lol = Array.from({ length: 9 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`)
  const cases: readonly (readonly [what: string, xml: string | Uint8Array, message: RegExp])[] = [
    ['nothing', '', /junit\.xml is empty\./],
    ['white space', ' \n\n', /junit\.xml is empty\./],
    ['a declaration alone', '<?xml version="1.0"?>\n', /junit\.xml is empty\./],
    ['text', 'all tests passed', /junit\.xml: line 1: this is no XML/],
    ['JSON', '\n{"tests":[]}', /junit\.xml: line 2: this is no XML/],
    [
      'a web page',
      '<!DOCTYPE html>\n<html><body></body></html>',
      /junit\.xml: line 2: this is no JUnit XML: it begins with <html>/,
    ],
    ['other XML', '<project/>', /line 1: this is no JUnit XML: it begins with <project>/],
    ['cut between tests', '<testsuite>\n<testcase name="a"/>\n', /line 3: it ends before it is complete/],
    ['cut in a tag', '<testsuite>\n<testcase name="a', /line 2: it ends before it is complete/],
    ['cut in a comment', '<testsuite><!-- ', /line 1: it ends before it is complete/],
    [
      'tags that cross',
      '<testsuite>\n<testcase></testsuite></testcase>',
      /line 2: this is no XML: Unexpected close tag/,
    ],
    ['text behind', '<testsuite/>\nand so on', /line 2: this is no XML: Text data outside of root node/],
    ['two documents', '<testsuite/>\n<testsuite/>', /line 2: a second document begins/],
    [
      'an entity that nobody knows',
      '<testsuite>\n<testcase name="&nbsp;"/></testsuite>',
      /line 2: this is no XML: Invalid character entity/,
    ],
    [
      'an entity of Object',
      '<testsuite><testcase name="&constructor;"/></testsuite>',
      /junit\.xml: line 1: /,
    ],
    [
      'a billion laughs',
      `<!DOCTYPE x [<!ENTITY l0 "lol">${lol.join('')}]>\n<testsuite name="&l9;"/>`,
      /line 1: it declares entities/,
    ],
    [
      'an entity from outside',
      '<!DOCTYPE x [\n<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<testsuite name="&e;"/>',
      /line 2: it declares entities/,
    ],
    [
      'an entity of parameters',
      '<!DOCTYPE x [<!ENTITY % e SYSTEM "http://127.0.0.1:9/x"> %e;]><testsuite/>',
      /line 1: it declares entities/,
    ],
    ['nesting without end', '<testsuite>'.repeat(100_000), /line 1: it is nested more than 200 deep/],
    [
      'an attribute without end',
      `<testsuite name="${'x'.repeat(3_000_000)}"/>`,
      /line 1: something in it is longer than 1\.0 MiB/,
    ],
    ['a name without end', `<testsuite ${'x'.repeat(3_000_000)}`, /something in it is longer than 1\.0 MiB/],
    [
      'a comment without end',
      `<testsuite><!--${'x'.repeat(3_000_000)}--></testsuite>`,
      /something in it is longer/,
    ],
    [
      'attributes without number',
      `<testsuite ${Array.from({ length: 300 }, (_, index) => `a${index}=""`).join(' ')}/>`,
      /more than 200 attributes/,
    ],
    [
      'an encoding that nobody knows',
      '<?xml version="1.0" encoding="klingon"?><testsuite/>',
      /line 1: there is no encoding 'klingon'/,
    ],
    [
      'bytes',
      Uint8Array.from({ length: 2_000 }, (_, index) => (index * 7 + 128) % 256),
      /line \d+: this is no XML/,
    ],
    ['more than 256 MiB', new Uint8Array(256 * 1024 * 1024 + 1), /junit\.xml is larger than 256\.0 MiB/],
  ]

  test.each(cases)('%s is refused with its file, and nothing is sent', async (_, xml, message) => {
    const { code, out, err, requests } = await match(xml, { answer: answerOf() })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err).toMatch(message)
    expect(err).toMatch(/^mergeq: .*\n {2}\S.*\n$/)
    expect(err.length).toBeLessThan(400)
  })

  test('a file that is not there, or no name at all', async () => {
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
    expect(ran.err).toContain('b.xml: line 1: it ends before it is complete')
  })

  test('--dry-run prints the first request and sends nothing', async () => {
    const { code, out, requests } = await match(junit(['A', 'one']), { answer: answerOf() }, '--dry-run')
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(JSON.parse(out)).toMatchObject({ operation: 'flaky-tests/list-failing-tests' })
  })
})

describe('big runs', () => {
  test('50,000 cases, 2,500 failures and 50,000 known tests take seconds', async () => {
    const xml = `<testsuite name="s">${Array.from(
      { length: 50_000 },
      (_, index) =>
        `<testcase classname="C${index % 500}" name="case ${index}">${index % 20 === 0 ? `<failure message="no">${'at x\n'.repeat(50)}</failure>` : '<system-out>fine</system-out>'}</testcase>`,
    ).join('')}</testsuite>`
    const started = performance.now()
    const failed = await read(xml, 65_536)
    expect(failed).toHaveLength(2_500)
    const matching = createMatcher(failed)
    for (let index = 0; index < 50_000; index++)
      matching.take({
        id: String(index),
        name: `case ${index}`,
        classname: `C${index % 500}`,
        quarantined: index % 40 === 0,
      })
    const found = matching.matches()
    expect(found.filter(({ test }) => test === undefined)).toEqual([])
    expect(found.filter(({ isQuarantined }) => isQuarantined)).toHaveLength(1_250)
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('output between tags may have any length: it is never held', async () => {
    let most = 0
    async function* endless(): AsyncIterable<Uint8Array> {
      const utf8 = new TextEncoder()
      yield utf8.encode('<testsuite><testcase name="a"><system-out><![CDATA[')
      const piece = utf8.encode('x'.repeat(1_000_000))
      for (let count = 0; count < 60; count++) {
        yield piece
        most = Math.max(most, process.memoryUsage().heapUsed)
      }
      yield utf8.encode(']]></system-out><failure/></testcase></testsuite>')
    }
    const before = process.memoryUsage().heapUsed
    expect((await parseJUnit(endless(), 'junit.xml')).failed).toHaveLength(1)
    expect(most - before).toBeLessThan(200_000_000)
  })
})
