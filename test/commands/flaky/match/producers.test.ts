// What test tools write, and what the service's own uploader makes of it. Read for this table:
// - the uploader: context/src/junit/parser.rs of trunk-io/analytics-cli. The parent of a test is its outermost suite; the
//   class is only `classname`; the file is `file` or `filepath` of the case, else of the outermost suite; of failure, error
//   and skipped, the first one counts; a case outside of suites is dropped; attempts are separate runs of one test.
// - lib/internal/test_runner/reporter/junit.js of nodejs/node, catch_reporter_junit.cpp of catchorg/Catch2,
//   internal/junitxml/report.go of gotestyourself/gotestsum (failed tests come first in a package), lib/reporters/xunit.js of
//   mochajs/mocha, packages/playwright/src/reporters/junit.ts of microsoft/playwright, _pytest/junitxml.py of pytest,
//   the reporter of karma-runner/karma-junit-reporter.
// - issues: pytest-dev/pytest 13876 (subtests), gotestyourself/gotestsum 281 and 476 (reruns; build errors since Go 1.24).
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/base/json.ts'
import { failing } from '../../../support/flaky-list.ts'
import { mergeq } from '../../../support/harness.ts'

interface Row {
  readonly producer: string
  readonly trait: string
  readonly xml: string
  readonly flags?: string
  /** How many tests failed. */
  readonly failures: number
  /** The exit code if the tests that the uploader sends are quarantined. */
  readonly exit: 0 | 21
  /** The failed tests as the uploader sends them: parent, class, name, file. */
  readonly uploaded: readonly string[]
  /** What mergeq says, if not only about the failed tests. */
  readonly says?: string
  /** Reports that differ in one text and must not pass; what is replaced, and by what. */
  readonly not?: readonly (readonly [from: string, to: string])[]
}

const rows: readonly Row[] = [
  {
    producer: 'node:test',
    trait: 'a test outside of suites, which the uploader drops',
    xml: '<testsuites><testcase name="rejects" classname="test"><failure/></testcase></testsuites>',
    failures: 1,
    exit: 21,
    uploaded: ['checkout | test | rejects | '],
  },
  {
    producer: 'node:test',
    trait: 'a failure of a test that is to be done; the suite counts it (uploaded as skipped)',
    xml: '<testsuites><testsuite name="cart" tests="1" failures="1" errors="0" skipped="1"><testcase name="rounds" classname="test" failure="no"><skipped type="todo" message="later"/><failure type="testCodeFailure"/></testcase></testsuite></testsuites>',
    failures: 0,
    exit: 0,
    uploaded: [],
    not: [
      ['type="todo"', 'type="skipped"'],
      ['failures="1"', 'failures="2"'],
    ],
  },
  {
    producer: 'Catch2',
    trait: '[!mayfail] and [!shouldfail] (uploaded as skipped)',
    xml: '<testsuites><testsuite name="shop" errors="0" failures="0" skipped="1" tests="1"><testcase classname="shop.global" name="rounds" status="run"><skipped message="TEST_CASE tagged with !mayfail"/><failure message="total == 3" type="CHECK"/></testcase></testsuite></testsuites>',
    failures: 0,
    exit: 0,
    uploaded: [],
    not: [
      ['TEST_CASE tagged with !mayfail', 'no total'],
      ['failures="0"', 'failures="1"'],
      ['status="run"', 'status="failed"'],
    ],
  },
  {
    producer: 'gotestsum --rerun-fails',
    trait: 'attempts are test cases of the package, the failed ones first',
    xml: '<testsuites tests="2" failures="1" errors="0"><testsuite tests="2" failures="1" name="acme/pay"><properties><property name="go.version" value="go1.25.1 linux/amd64"/></properties><testcase classname="acme/pay" name="TestNet"><failure message="Failed"/></testcase><testcase classname="acme/pay" name="TestNet"></testcase></testsuite></testsuites>',
    flags: '--retried pass',
    failures: 0,
    exit: 0,
    uploaded: [],
    says: '1 test failed, and passed in a later attempt.',
    not: [
      ['name="TestNet"></testcase>', 'name="TestNets"></testcase>'],
      ['classname="acme/pay" name="TestNet"></testcase>', 'classname="acme/buy" name="TestNet"></testcase>'],
      ['name="TestNet"></testcase>', 'file="net_test.go" name="TestNet"></testcase>'],
      ['name="TestNet"></testcase>', 'name="TestNet" status="notrun"></testcase>'],
      ['name="TestNet"></testcase>', 'name="TestNet"><skipped/></testcase>'],
      [
        'name="TestNet"></testcase>',
        'name="TestNet"></testcase><testcase classname="acme/pay" name="TestNet"><failure/></testcase>',
      ],
      ['</testcase><testcase', '</testcase></testsuite><testsuite name="acme/pay"><testcase'],
      ['failures="1" errors="0"', 'failures="2" errors="0"'],
    ],
  },
  {
    producer: 'gotestsum --rerun-fails',
    trait: 'attempts, without --retried pass',
    xml: '<testsuite name="acme/pay"><testcase classname="acme/pay" name="TestNet"><failure/></testcase><testcase classname="acme/pay" name="TestNet"/></testsuite>',
    failures: 1,
    exit: 0,
    uploaded: ['acme/pay | acme/pay | TestNet | '],
    says: '1 failed test passed in a later attempt; --retried pass accepts that.',
    not: [['<testsuite name="acme/pay"', '<testsuite name="acme/buy"']],
  },
  {
    producer: 'Playwright',
    trait: 'a project is a suite of the same name, and only `hostname` differs: no attempt of the other one',
    xml: '<testsuites tests="2" failures="1" errors="0"><testsuite name="cart.spec.ts" hostname="chromium" tests="1" failures="1" errors="0"><testcase name="Cart › opens" classname="cart.spec.ts"><failure/></testcase></testsuite><testsuite name="cart.spec.ts" hostname="firefox" tests="1" failures="0" errors="0"><testcase name="Cart › opens" classname="cart.spec.ts"/></testsuite></testsuites>',
    flags: '--retried pass',
    failures: 1,
    exit: 0,
    uploaded: ['cart.spec.ts | cart.spec.ts | Cart › opens | '],
    not: [['name="cart.spec.ts" hostname="chromium"', 'name="user.spec.ts" hostname="chromium"']],
  },
  {
    producer: 'pytest',
    trait: 'subtests are counted, but have no test case',
    xml: '<testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="3"><testcase classname="tests.test" name="test"/></testsuite></testsuites>',
    failures: 0,
    exit: 0,
    uploaded: [],
    says: '',
    not: [['failures="0"', 'failures="1"']],
  },
  {
    producer: 'gotestsum with Go 1.24',
    trait: 'lines on standard error are errors of the root element',
    xml: '<testsuites tests="1" failures="0" errors="2"><testsuite tests="1" failures="0" name="acme/pay"><properties><property name="go.version" value="go1.24.0 linux/amd64"/></properties><testcase classname="acme/pay" name="TestNet"/></testsuite></testsuites>',
    failures: 0,
    exit: 0,
    uploaded: [],
    says: 'it counts 2 errors outside of its packages',
    not: [
      ['go1.24.0', 'go1.23.12'],
      ['go1.24.0 linux/amd64', 'unknown'],
      ['name="go.version"', 'name="go.os"'],
      ['tests="1" failures="0" name', 'tests="1" failures="0" errors="1" name'],
      ['failures="0" errors="2"', 'failures="1" errors="2"'],
    ],
  },
  {
    producer: 'Mocha, its XUnit reporter',
    trait: 'counts each failure as an error, too',
    xml: '<testsuite name="Mocha Tests" tests="2" failures="1" errors="1" skipped="0"><testcase classname="Cart" name="adds"><failure/></testcase><testcase classname="Cart" name="opens"/></testsuite>',
    failures: 1,
    exit: 0,
    uploaded: ['Mocha Tests | Cart | adds | '],
    not: [
      ['name="Mocha Tests"', 'name="Web"'],
      ['failures="1"', 'failures="2"'],
    ],
  },
  {
    producer: 'any',
    trait: 'counts its only failure as an error, too',
    xml: '<testsuite name="e2e" tests="1" failures="1" errors="1"><testcase classname="Cart" name="adds"><failure/></testcase></testsuite>',
    failures: 1,
    exit: 0,
    uploaded: ['e2e | Cart | adds | '],
    not: [
      ['tests="1"', 'tests="2"'],
      ['errors="1"', 'errors="2"'],
      ['</testcase>', '</testcase><testcase classname="Cart" name="opens"/>'],
    ],
  },
  {
    producer: 'Karma',
    trait: 'an error outside of the tests, or a lost browser, has no test case',
    xml: '<testsuite name="Chrome" tests="2" failures="1" errors="1"><properties><property name="browser.fullName" value="Chrome"/></properties><testcase classname="Chrome" name="adds"><failure/></testcase><testcase classname="Chrome" name="opens"/></testsuite>',
    failures: 1,
    exit: 21,
    uploaded: ['Chrome | Chrome | adds | '],
  },
]

/** The records of the service for what its uploader sent. */
const toRecords = (uploaded: readonly string[]): readonly JsonObject[] =>
  uploaded.map((line, index) => {
    const [parent, classname, name, file_path] = line.split(' | ')
    return failing(index, { parent, classname, name, file_path, quarantined: true })
  })

const match = async (xml: string, flags: string, tests: readonly JsonObject[]) => {
  const { code, out, err } = await mergeq(
    `flaky match junit.xml -R acme/web --org acme --retries 0 --json ${flags}`,
    {
      files: { 'junit.xml': xml },
      answer: ({ path }) =>
        path.endsWith('/list-failing-tests')
          ? { body: JSON.stringify({ tests, page: { next_page_token: '' } }) }
          : { status: 404 },
    },
  )
  return { code, counts: JSON.parse(out).counts, err }
}

describe.each(rows)('$producer: $trait', ({ xml, flags = '', failures, exit, uploaded, says, not = [] }) => {
  test('failures and verdict, with what the uploader sends in quarantine', async () => {
    const { code, counts, err } = await match(xml, flags, toRecords(uploaded))
    expect({ code, failed: counts.failed }).toEqual({ code: exit, failed: failures })
    if (says === '') expect(err).toBe('No failed tests.\n')
    else if (says !== undefined) expect(err).toContain(says)
  })

  if (failures > 0)
    test('without the quarantine it does not pass', async () => {
      expect((await match(xml, flags, [])).code).toBe(21)
    })

  test.skipIf(not.length === 0).each(not)('%s as %s does not pass', async (from, to) => {
    expect(xml.split(from)).toHaveLength(2)
    expect((await match(xml.replace(from, to), flags, toRecords(uploaded))).code).toBe(21)
  })
})
