import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/base/json.ts'
import { parseJUnit } from '../../../../src/commands/flaky/match/junit.ts'
import type { FailedTest, JUnitResults } from '../../../../src/commands/flaky/match/junit-document.ts'
import { createMatcher } from '../../../../src/commands/flaky/match/same-test.ts'
import { failureCounts, junit, reports } from '../../../support/flaky-match.ts'
import { slowTest } from '../../../support/sample.ts'

async function* inPieces(text: string | Uint8Array, length = 1_000): AsyncIterable<Uint8Array> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length)
}

async function readDocuments(text: string | Uint8Array, length?: number): Promise<readonly JUnitResults[]> {
  return (await parseJUnit(inPieces(text, length), 'junit.xml')) ?? []
}

const read = async (text: string | Uint8Array, length?: number): Promise<readonly FailedTest[]> =>
  (await readDocuments(text, length)).flatMap(({ failed }) => failed)

describe('the dialects of test runners', () => {
  const summaryOf = ({ classname, name, suite, file }: FailedTest) =>
    [suite ?? '', classname ?? '', name, ...(file === undefined ? [] : [file])].join(' | ')
  const odd = 'keeps <b>"quoted" & 日本語 names</b>'
  const failures: Readonly<Record<string, readonly string[]>> = {
    'vitest.xml': [
      'web/cart.test.mjs | web/cart.test.mjs | Cart totals > adds the shipping',
      `web/cart.test.mjs | web/cart.test.mjs | Cart totals > ${odd}`,
      'web/cart.test.mjs | web/cart.test.mjs | Cart totals > with a coupon > is cheaper',
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
      'Cart totals | test | is cheaper',
      ' | test | stands alone',
    ],
    'pytest.xml': [
      'pytest | tests.billing.test_invoice.TestInvoice | test_rounds_half_even',
      'pytest | tests.billing.test_invoice.TestInvoice | test_currency[JPY-¥]',
      'pytest | tests.billing.test_ledger | test_needs_database',
    ],
    'ctest.xml': ['Linux-c++ | adds | adds', 'Linux-c++ | links | links'],
    'gradle.xml': ['com.acme.billing.InvoiceTest | com.acme.billing.InvoiceTest | roundsHalfEven()'],
    'surefire.xml': [
      'com.acme.billing.LedgerTest | com.acme.billing.LedgerTest | balances',
      'com.acme.billing.LedgerTest | com.acme.billing.LedgerTest | opens',
    ],
  }

  test.each(Object.entries(failures))('%s, in pieces of any length', async (name, expected) => {
    for (const length of [1, 7, 1_000, 1_000_000])
      expect((await read(reports[name] ?? '', length)).map(summaryOf)).toEqual(expected)
  })

  test('every report has its failures, is whole, and has nothing odd', async () => {
    const results = await Promise.all(
      Object.entries(reports).map(async ([name, text]) => {
        const [{ failed = [], problem, remarks = [] } = {}] = await readDocuments(text)
        return [name, { failures: failed.length, complaint: problem ?? remarks[0] }]
      }),
    )
    // Go reports both.
    const subtests = 'tests with failed subtests are failures, too: TestShipping (TestShipping/free)'
    const expected = Object.entries(failureCounts).map(([name, failures]) => [
      name,
      { failures, complaint: name === 'gotestsum.xml' ? subtests : undefined },
    ])
    expect(Object.fromEntries(results)).toEqual(Object.fromEntries(expected))
  })

  const failed = (attributes: string) => `<testcase ${attributes}><failure/></testcase>`
  test.each([
    ['attributes missing', failed(''), [' |  | ']],
    [
      'a suite that could not be set up',
      '<testsuite name="Cart" file="a"><error/></testsuite>',
      [' |  | Cart | a'],
    ],
    [
      'output of any length',
      `<testcase name="a"><system-err>&lt;failure/><![CDATA[<failure/>${'x'.repeat(2_000_000)}]]></system-err></testcase>`,
      [],
    ],
    ['a name from Object', failed('name="constructor" __proto__="x"'), [' |  | constructor']],
    [
      'control characters of a terminal',
      failed('name="a&#27;[31mb&#x1B;&#x0;"'),
      [' |  | a\u001B[31mb\u001B\0'],
    ],
    ['a character as a surrogate pair', failed('name="&#55357;&#56832;"'), [' |  | \u{1F600}']],
    ['a failure with a prefix', '<j:testcase name="a"><j:failure/></j:testcase>', [' |  | a']],
    ['the class of Codeception', failed('class="A" name="a"'), [' | A | a']],
    ['a status without an element', '<testcase name="a" status="failed"/>', [' |  | a']],
    ['a result without an element', '<testcase name="a" result="Error"/>', [' |  | a']],
  ])('%s', async (_, inner, expected) => {
    expect((await read(`<testsuite>${inner}</testsuite>`)).map(summaryOf)).toEqual(expected)
  })

  test.each([
    ['latin1', 'iso-8859-1', ''],
    ['utf16le', 'utf-16', '\uFEFF'],
    ['utf8', 'utf-8', '\uFEFF'],
  ] as const)('%s, as the declaration or the byte order mark says', async (encoding, label, mark) => {
    const xml = `${mark}<?xml version="1.0" encoding="${label}"?><!DOCTYPE testsuite SYSTEM "junit.dtd"><testsuite><testcase name="né"><failure/></testcase></testsuite>`
    expect((await read(Buffer.from(xml, encoding))).map(({ name }) => name)).toEqual(['né'])
  })

  const utf16 =
    '<?xml version="1.0" encoding="utf-16"?><testsuite><testcase name="né"><failure/></testcase></testsuite>'
  test.each([
    ['a mark of UTF-8 before a declaration of UTF-16', Buffer.from(`\uFEFF${utf16}`)],
    ['a declaration of UTF-16 in UTF-8', Buffer.from(utf16)],
    ['UTF-16 without a mark', Buffer.from(utf16, 'utf16le')],
    ['UTF-16 of the other order without a mark', Buffer.from(utf16, 'utf16le').swap16()],
  ])('%s', async (_, bytes) => {
    for (const length of [1, 1_000])
      expect((await read(bytes, length)).map(({ name }) => name)).toEqual(['né'])
  })

  test('character references need about as long as text', async () => {
    const time = async (unit: string) => {
      const text = unit.repeat(1_000_000 / unit.length)
      const start = performance.now()
      await read(`<testsuite><testcase name="a"><failure>${text}</failure></testcase></testsuite>`, 65_536)
      return performance.now() - start
    }
    const text = await time('abcdef')
    for (const unit of ['&#27;', '&#x1b;', '&lt;']) expect(await time(unit)).toBeLessThan(10 * text + 500)
  })

  test('a test without a name is no attempt of another one', async () => {
    const failed = await read('<testsuite><testcase><failure/></testcase><testcase/></testsuite>')
    expect(failed).toMatchObject([{ name: '', passedLater: false }])
  })

  test('property: any names are read as they were written', async () => {
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

describe('which test of the service a failed test is', () => {
  const adds: FailedTest = {
    name: 'adds',
    classname: undefined,
    suite: undefined,
    file: undefined,
    passedLater: false,
  }
  const found = (failed: Partial<FailedTest>, tests: readonly JsonObject[]) => {
    const matching = createMatcher([{ ...adds, ...failed }])
    for (const test of tests) matching.take({ name: 'adds', ...test })
    const [match] = matching.matches
    return match?.test === undefined ? 'new' : `${match.test.id}${match.isQuarantined ? ' quarantined' : ''}`
  }
  const one = (more: JsonObject): JsonObject => ({ id: 'one', ...more })
  const other = (more: JsonObject): JsonObject => ({ id: 'other', ...more })

  // Of a failed test, and of a test of the service.
  const [A, S] = [{ classname: 'A' }, { suite: 'S' }]
  const [isA, isS, isQuarantined] = [{ classname: 'A' }, { parent: 'S' }, { quarantined: true }]
  const [file, isFile] = ['f.ts', { file_path: 'f.ts' }]
  const [AS, isAS, isCart] = [{ ...A, ...S }, { ...isA, ...isS }, { file_path: 'web/cart.ts' }]

  test.each<readonly [what: string, Partial<FailedTest>, readonly JsonObject[], string]>([
    ['class and name', A, [one(isA)], 'one'],
    ['another name', { ...A, name: 'subs' }, [one(isA)], 'new'],
    ['another class and nothing else', A, [one({ classname: 'B' })], 'new'],
    ['the name alone where more is known', A, [one({})], 'new'],
    ['a name that is all there is', {}, [one({})], 'one'],
    ['the suite', { suite: 'S' }, [one(isS)], 'one'],
    ['the name alone where one side knows a suite', S, [one({})], 'new'],
    ['the name alone where the other side knows a suite', {}, [one(isS)], 'new'],
    ['an empty class on both sides', S, [one({ classname: '', parent: 'T' })], 'new'],
    ['fields that are null', AS, [one({ classname: null, parent: null })], 'new'],
    ['the file', { file: '/home/ci/web/cart.ts' }, [one(isCart)], 'one'],
    ['a file with other separators', { file: '.\\web\\cart.ts' }, [one(isCart)], 'one'],
    ['a file name that macOS decomposed', { file: 'u\u0308.ts' }, [one({ file_path: '\u00FC.ts' })], 'one'],
    ['another file of the same name', { file: 'shop/cart.ts' }, [one(isCart)], 'new'],
    ['a longer end of the file', { file: 'web/cart.ts' }, [one({ file_path: '/src/web/cart.ts' })], 'one'],
    ['a file without its folder', { file: 'cart.ts' }, [one(isCart)], 'new'],
    ['a bare file name on both sides', { file: 'cart.ts' }, [one({ file_path: './cart.ts' })], 'one'],
    ['a bare file name in the same class', { ...A, file: 'cart.ts' }, [one({ ...isA, ...isCart })], 'one'],
    ['another bare file name in that class', { ...A, file: 'art.ts' }, [one({ ...isA, ...isCart })], 'new'],
    ['part of a file name', { file: 'mycart.ts' }, [one({ file_path: 'cart.ts' })], 'new'],
    ['blanks, accents', { ...A, name: 'e\u0301t\n e' }, [one({ classname: 'A ', name: '\u00e9t e' })], 'one'],
    ['a class, where only the report has a suite', AS, [other(isS), one(isA)], 'new'],
    ['a class, where only the service has a suite', A, [one(isAS)], 'new'],
    ['the suite alone where a file is known', { ...S, file: 'f.ts' }, [one(isS)], 'new'],
    ['the suite alone where the service knows a class', S, [one({ ...isS, ...isA })], 'new'],
    ['the file before the suite', { ...S, file: 'f.ts' }, [other(isS), one({ file_path: 'f.ts' })], 'one'],
    ['another file of the same class', { ...A, file: 'f.ts' }, [one({ ...isA, file_path: 'g.ts' })], 'new'],
    ['another suite of the same class', AS, [one({ ...isA, parent: 'T' })], 'new'],
    ['a suite of spaces', { ...A, suite: ' ' }, [one({ ...isA, parent: 'T', ...isQuarantined })], 'new'],
    ['of two that fit, one quarantined', AS, [one({ ...isAS, ...isQuarantined }), other(isAS)], 'other'],
    ['class and file before the file', { ...A, file }, [other(isFile), one({ ...isA, ...isFile })], 'one'],
    ['a variant that is not quarantined', A, [one({ ...isA, ...isQuarantined }), other(isA)], 'other'],
    [
      'a better fit that is quarantined',
      AS,
      [other(isA), one({ ...isAS, ...isQuarantined })],
      'one quarantined',
    ],
  ])('%s', (_, failed, tests, expected) => {
    expect(found(failed, tests)).toBe(expected)
    expect(found(failed, tests.toReversed()).replace(/^other q/, 'one q')).toBe(expected)
  })
})

describe('what a report says about its run', () => {
  const suite = (attributes: string, inner: string) => `<testsuite ${attributes}>${inner}</testsuite>`
  const passed = '<testcase name="a"/>'
  const failed = '<testcase name="b"><failure/></testcase>'
  const notSucceeded = '<properties><property name="SuiteSucceeded" value="false"/></properties>'
  const interrupted = `<properties><property name="SuiteSucceeded" value="false"/><property name="SpecialSuiteFailureReason" value="Interrupted by User"/></properties>`
  const ofGo = (...versions: readonly string[]) =>
    `<testsuites errors="1">${versions.map(value => suite('', `<properties><property name="go.version" value="${value}"/></properties>${passed}`)).join('')}</testsuites>`
  const ofTestCafe = (totals: string) => suite(`name="TestCafe Tests: Chrome" ${totals}`, failed)
  const more = 'it reports more failures than it has test cases for'
  const unread = 'its number of failures or errors cannot be read'
  const fewer = 'it reports 3 tests, but has 2 test cases'
  const outside = 'it has an error outside of test cases'

  test.each<readonly [what: string, xml: string, complaint: string | undefined]>([
    ['fewer failures than it says', suite('failures="1"', passed), more],
    ['errors beside failures', suite('failures="1" errors="1"', passed + failed), more],
    ['errors that are a part of the failures', suite('failures="2" errors="1"', failed + failed), more],
    [
      'errors of two versions of Go',
      ofGo('go1.25.1', 'go version go1.23.1'),
      expect.stringContaining('before Go 1.24'),
    ],
    ['no number', suite('failures="many"', failed), unread],
    ['groups of digits', suite('failures="1.000"', failed), unread],
    ['a decimal number', suite('failures="1.0"', failed), undefined],
    ['a negative number', suite('failures="1" errors="-1"', passed), unread],
    ['nothing', suite('failures="" errors=" "', passed), undefined],
    ['an error outside', suite('', `<error/>${passed}`), outside],
    ['totals of TestCafe', `<testsuites failures="1" errors="1">${ofTestCafe('')}</testsuites>`, undefined],
    ['more attempts than there are', suite('failures="2"', '<testcase><flakyFailure/></testcase>'), more],
    ['a failed suite', suite('status="failed"', passed), 'a suite failed, but none of its tests'],
    [
      'a failed Ginkgo suite',
      suite('', notSucceeded + passed),
      'a suite did not succeed, but none of its tests failed',
    ],
    [
      'an interrupted Ginkgo suite',
      suite('', interrupted + failed),
      'a suite did not succeed: Interrupted by User',
    ],
    ['fewer tests than it says', suite('tests="3"', passed + failed), fewer],
    ['skipped ones that Mocha leaves out', suite('tests="3" skipped="1"', passed + failed), undefined],
    [
      'such tests, and a skipped one',
      suite('tests="3" skipped="1"', `${passed}<testcase><skipped/></testcase>`),
      fewer,
    ],
  ])('%s', async (_, xml, complaint) => {
    const [document] = await readDocuments(xml)
    expect(document?.problem ?? document?.remarks[0]).toEqual(complaint)
  })

  test.each([
    ['<testsuites/>', false],
    ['<testsuites tests="0"/>', true],
    ['<testsuites><testsuite tests="0"/></testsuites>', true],
    ['<testsuites tests="0"><testsuite tests="3"/></testsuites>', false],
    ['<testsuites tests="none"/>', false],
  ])('%s says that it has no tests: %s', async (xml, saysEmpty) => {
    expect(await readDocuments(xml)).toMatchObject([{ cases: 0, saysEmpty }])
  })

  test('documents that follow each other are read one by one', async () => {
    const [one, two] = [
      suite('', failed),
      suite('failures="2"', `text${failed}<system-out>text</system-out>`),
    ]
    const between = ['', '\n\n', '\uFEFF<?xml version="1.0"?>\n', '<?xml version="1.0"?><!DOCTYPE testsuite>']
    for (const separator of between)
      for (const length of [1, 1_000]) {
        const documents = await readDocuments(`<!DOCTYPE testsuite>${one}${separator}${two}`, length)
        expect(documents.map(({ failed, problem }) => [failed.length, problem])).toEqual([
          [1, undefined],
          [1, more],
        ])
      }
  })
})

describe('a file that is not JUnit XML is refused with its line', () => {
  const lol = Array.from({ length: 9 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`)
  const badEntity = ': line 2: invalid XML: Invalid character entity'
  test.each<readonly [what: string, xml: string | Uint8Array, message: string]>([
    ['white space', ' \n\n', ' is empty.'],
    ['JSON', '\n{"tests":[]}', ': line 2: invalid XML'],
    ['a web page', '<!DOCTYPE html>\n<html></html>', ': line 2: not JUnit XML: the root element is <html>'],
    ['a cut between tests', '<testsuite>\n<testcase name="a"/>\n', ': line 3: the file is incomplete'],
    ['a cut in a tag', '<testsuite>\n<testcase name="a', ': line 2: the file is incomplete'],
    ['a cut in a second one', '<testsuite/>\n<testsuite>\n<testcase>', ': line 3: the file is incomplete'],
    ['another second one', '<testsuite/>\n<html/>', ': line 2: not JUnit XML: the root element is <html>'],
    ['text between documents', '<testsuite/>\nx<testsuite/>', ': line 2: invalid XML: Text data outside'],
    ['no character', '<testsuite name="&#x110000;"/>', ': line 1: invalid XML: Invalid character entity'],
    ['nesting without end', '<testsuite>'.repeat(60_000), ': line 1: more than 200 levels of elements'],
    ['a declaration without end', '<!'.repeat(40_000), ': line 1: a declaration is too long'],
    ['a declaration alone', '<!x>', ': line 1: invalid XML: a declaration outside of a document type'],
    ['tags that cross', '<testsuite>\n<a></testsuite></a>', ': line 2: invalid XML: Unexpected close tag'],
    ['text behind', '<testsuite/>\nand so on', ': line 2: invalid XML: Text data outside of root node'],
    [
      'a billion laughs',
      `<!DOCTYPE x [<!ENTITY l0 "lol">${lol.join('')}]>\n<testsuite name="&l9;"/>`,
      badEntity,
    ],
    [
      'an entity from outside',
      '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<testsuite name="&e;"/>',
      badEntity,
    ],
    [
      'an attribute without end',
      `<testsuite name="${'x'.repeat(1_200_000)}`,
      ': line 1: a name, attribute or comment is longer than 1.0 MiB',
    ],
    ['an encoding', '<?xml version="1.0" encoding="klingon"?>', ": line 1: unknown encoding 'klingon'"],
    ['bytes', Uint8Array.from({ length: 2_000 }, (_, index) => (index * 7 + 128) % 256), ': line '],
  ])('%s', async (_, xml, message) => {
    const error = await read(xml, 65_536).catch((error: unknown) => error)
    expect(error).toMatchObject({ kind: 'usage', message: expect.stringContaining(`junit.xml${message}`) })
    expect(String(error).length).toBeLessThan(300)
  })

  slowTest('more than 200,000 failed tests, or 256 MiB', async () => {
    const tests = Array.from(
      { length: 200_001 },
      (_, index) => `<testcase name="${index}"><error/></testcase>`,
    )
    const many = read(`<testsuite>${tests.join('')}`, 65_536)
    await expect(many).rejects.toThrow('junit.xml: line 1: more than 200,000 failed tests.')
    const tooLarge = new Uint8Array(256 * 1024 * 1024 + 1)
    await expect(read(tooLarge, tooLarge.length)).rejects.toThrow('junit.xml is larger than 256.0 MiB.')
  })
})
