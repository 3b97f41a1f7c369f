import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FailedTest, parseJUnit } from '../../src/commands/flaky/junit.ts'
import { createMatcher } from '../../src/commands/flaky/match.ts'
import { junit } from '../support/flaky-match.ts'

const folder = new URL('../fixtures/junit/', import.meta.url)

const fixtures: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder).map(name => [name, readFileSync(new URL(name, folder), 'utf8')]),
)

async function* inPieces(text: string | Uint8Array, length = 1_000): AsyncIterable<Uint8Array> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length)
}

const read = async (text: string | Uint8Array, length?: number): Promise<readonly FailedTest[]> =>
  (await parseJUnit(inPieces(text, length), 'junit.xml')).failed

describe('the dialects of test runners', () => {
  const summaryOf = ({ classname, name, suites, file }: FailedTest) =>
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

  test.each(Object.entries(failures))('%s, in pieces of any length', async (name, expected) => {
    for (const length of [1, 7, 1_000, 1_000_000])
      expect((await read(fixtures[name] ?? '', length)).map(summaryOf)).toEqual(expected)
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
  ])('%s', async (_, xml, expected) => {
    expect((await read(xml)).map(summaryOf)).toEqual(expected)
  })

  test.each([
    ['latin1', 'iso-8859-1', ''],
    ['utf16le', 'utf-16', '\uFEFF'],
  ] as const)('%s, as the declaration or the byte order mark says', async (encoding, label, mark) => {
    const xml = `${mark}<?xml version="1.0" encoding="${label}"?><testsuite><testcase name="né"><failure/></testcase></testsuite>`
    expect((await read(Buffer.from(xml, encoding))).map(({ name }) => name)).toEqual(['né'])
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

test('a file name that macOS wrote in decomposed form is the same file', async () => {
  const [failed] = await read(
    '<testsuite><testcase name="a" file="src/u\u0308ber.test.ts"><failure/></testcase></testsuite>',
    64,
  )
  const matching = createMatcher(failed === undefined ? [] : [failed])
  matching.take({ id: '1', name: 'a', file_path: 'src/\u00FCber.test.ts' })
  expect(matching.matches().map(({ test }) => test?.id)).toEqual(['1'])
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

  test('output between tags may have any length: it is not kept in memory', async () => {
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
