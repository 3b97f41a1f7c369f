import { joinTruncated, pluralize } from '../../../values/format.ts'

export interface FailedTest {
  readonly name: string
  readonly classname: string | undefined
  /** The name of the outermost suite that contains the test, which the service has as its parent. */
  readonly suite: string | undefined
  readonly file: string | undefined
  /** Whether the report has it again behind its last failure, as passed. */
  readonly passedLater: boolean
}

export interface JUnitResults {
  readonly cases: number
  readonly failed: readonly FailedTest[]
  /** Why the run probably ended early, without a full stop: `it has an error outside of test cases`. */
  readonly problem: string | undefined
  /** What is odd, but no reason to doubt the results, without a full stop. */
  readonly remarks: readonly string[]
  /** Whether it says that it has no tests: `tests="0"`. */
  readonly saysEmpty: boolean
}

type Attributes = Readonly<Record<string, string>>

/** Failed attempts that Surefire and Gradle tried again. They also count them as tests and as failures. */
const attemptTags: readonly string[] = ['flakyFailure', 'flakyError', 'rerunFailure', 'rerunError']

/** What `status` or `result` says of a failed test: Ginkgo, CTest and others. */
const failedWord =
  /^(fail(ed|ure)?|error(ed)?|broken|crashed|panicked|interrupted|aborted|timed[ -]?out|timeout)$/i

/** What `status` or `result` says of a test that passed; another word, such as `notrun`, may mean that it did not run. */
const passedWord = /^(|run|ok|completed|pass(ed)?|success(ful)?)$/i

/** What Catch2 writes into a test that may fail, or should. */
const mayFailMessage = 'TEST_CASE tagged with !mayfail'

/** The first minor version of Go 1 that reports a package that does not build among the tests. */
const goWithBuildErrors = 24

/** Three-digit groups, as a number is written for people: `1,000` or `1.000`. */
const groupedNumber = /^\d{1,3}(?:[.,'’_\s]\d{2,3})*[.,'’_\s]\d{3}$/

/** Returns how many an attribute says; undefined if it says nothing, NaN if it is no count. */
function readCount(text = ''): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const count = Number(groupedNumber.test(trimmed) ? trimmed.replace(/\D/g, '') : trimmed)
  return count < 0 ? Number.NaN : count
}

/** An element with what it says of its tests, and what it contains. */
class Element {
  readonly tag: string
  readonly attributes: Attributes
  /** The test case and the suite that it is or belongs to. */
  readonly testCase: Element | undefined
  readonly suite: Element | undefined
  /** How many suites of the document began before it. */
  readonly number: number
  cases = 0
  skippedCases = 0
  failedCases = 0
  failures = 0
  attempts = 0
  /** Whether the test tool expects a failure, and whether it counts it. */
  expectedFailure: 'counted' | 'not counted' | undefined
  expectedFailures = 0
  /** Whether its counts of failures and of errors count the same tests. */
  countsTwice = false
  hasFailed = false
  /** The minor version of Go of its suites, the lowest of several; undefined where they say none, 0 for an unknown one. */
  goVersion: number | undefined
  /** How many errors the suites in it say that they have. */
  suiteErrors = 0
  /** The names of its failed tests, if it is a suite of Go. */
  readonly failedNames = new Set<string>()
  /** Whether Ginkgo says that the suite failed, and why, if not because of its tests. */
  succeeded = true
  failureReason = ''

  constructor(tag: string, attributes: Attributes, parent: Element | undefined, number: number) {
    this.tag = tag
    this.attributes = attributes
    this.number = number
    this.testCase = tag === 'testcase' ? this : tag === 'testsuite' ? undefined : parent?.testCase
    this.suite = tag === 'testsuite' ? this : parent?.suite
    this.cases = tag === 'testcase' ? 1 : 0
    this.countsTwice = tag === 'testsuite' && /^(TestCafe Tests:|Mocha Tests$)/.test(attributes.name ?? '')
  }

  add(inner: Element): void {
    this.cases += inner.cases
    this.skippedCases += inner.skippedCases
    this.failedCases += inner.failedCases
    this.failures += inner.failures
    this.attempts += inner.attempts
    this.expectedFailures += inner.expectedFailures
    if (inner.countsTwice) this.countsTwice = true
    if (!isSuite(inner)) return
    this.suiteErrors += readCount(inner.attributes.errors) ?? 0
    if (inner.goVersion !== undefined)
      this.goVersion = Math.min(inner.goVersion, this.goVersion ?? inner.goVersion)
  }
}

const isSuite = ({ tag }: Element): boolean => tag === 'testsuite'

const saysPassed = ({ status = '', result = '' }: Attributes): boolean =>
  passedWord.test(status) && passedWord.test(result)

const saysFailed = ({ status = '', result = '' }: Attributes): boolean =>
  failedWord.test(status) || failedWord.test(result)

/** Reads a JUnit XML document, element by element, as its producers mean it. */
export class JUnitDocument {
  /** The failed tests, each once, by their suite, class, name and file. */
  readonly #failed = new Map<string, FailedTest>()
  readonly #open: Element[] = []
  #suites = 0
  #cases = 0
  #problem: string | undefined
  readonly #remarks: string[] = []
  readonly #testCounts: number[] = []

  get depth(): number {
    return this.#open.length
  }

  results(): JUnitResults {
    return {
      cases: this.#cases,
      failed: [...this.#failed.values()],
      problem: this.#problem,
      remarks: this.#remarks,
      saysEmpty: this.#testCounts.length > 0 && this.#testCounts.every(count => count === 0),
    }
  }

  start(tag: string, attributes: Attributes): void {
    const parent = this.#open.at(-1)
    const { testCase, suite } = parent ?? {}
    if (tag === 'testcase') this.#cases++
    if (tag === 'failure' || tag === 'error') this.#addFailure(testCase, suite)
    // Codeception counts a warning with the failures; PHPUnit 9 has a count of its own for warnings.
    if (tag === 'warning' && testCase !== undefined && suite?.attributes.warnings === undefined)
      this.#addFailure(testCase, suite)
    if (attemptTags.includes(tag) && testCase !== undefined) testCase.attempts++
    if (tag === 'skipped' && testCase !== undefined) readSkipped(testCase, attributes)
    if (tag === 'property' && testCase === undefined && suite !== undefined) readProperty(suite, attributes)
    this.#open.push(new Element(tag, attributes, parent, this.#suites))
    if (tag === 'testsuite') this.#suites++
  }

  end(): void {
    const element = this.#open.pop()
    if (element === undefined) return
    if (element.tag === 'testcase') this.#endTestCase(element)
    else if (element.hasFailed) this.#addFailedTest(element)
    if (element.tag === 'testsuite' || element.tag === 'testsuites') {
      this.#checkFailures(element)
      this.#checkTests(element)
      this.#checkSubtests(element)
    }
    this.#open.at(-1)?.add(element)
  }

  /** Counts a failure. One outside of test cases is one of its suite, which could not be set up. */
  #addFailure(testCase: Element | undefined, suite: Element | undefined): void {
    if (testCase === undefined) this.#problem = 'it has an error outside of test cases'
    const element = testCase ?? suite
    if (element === undefined) return
    element.hasFailed = true
    element.failures++
  }

  /** Decides whether a test failed. One that passed may be a later attempt of one that failed. */
  #endTestCase(testCase: Element): void {
    if (testCase.expectedFailure !== undefined) {
      if (testCase.expectedFailure === 'counted') testCase.expectedFailures = testCase.failures
      testCase.failures = 0
      testCase.hasFailed = false
    }
    if (saysFailed(testCase.attributes)) testCase.hasFailed = true
    if (testCase.hasFailed) {
      testCase.failures = Math.max(testCase.failures, 1)
      testCase.failedCases = 1
      this.#addFailedTest(testCase)
    } else if (this.#failed.size > 0) {
      const passedLater = testCase.skippedCases === 0 && saysPassed(testCase.attributes)
      const [key] = this.#identify(testCase)
      const failed = this.#failed.get(key)
      if (failed !== undefined) this.#failed.set(key, { ...failed, passedLater })
    }
  }

  #addFailedTest(element: Element): void {
    const [key, test] = this.#identify(element)
    this.#failed.set(key, test)
    if (element.suite?.goVersion !== undefined) element.suite.failedNames.add(test.name)
  }

  /**
   * Returns a test as its failure is reported, with a key that attempts of the same test share. They are in the same
   * element of a suite: Playwright writes two suites of the same name for two browsers.
   */
  #identify(element: Element): readonly [key: string, test: FailedTest] {
    const suites = [...this.#open, element].filter(isSuite)
    const [outermost] = suites
    const fileOf = ({ attributes }: Element) => attributes.file || attributes.filepath || undefined
    const test = {
      name: element.attributes.name ?? '',
      // Codeception writes only `class`.
      classname: element.attributes.classname || element.attributes.class || undefined,
      suite: outermost?.attributes.name || undefined,
      file: [element, ...suites].map(fileOf).find(file => file !== undefined),
      passedLater: false,
    }
    // Tests without a name are not known to be the same.
    const ordinal = test.name === '' ? this.#failed.size : ''
    return [JSON.stringify([suites.at(-1)?.number, test.classname, test.name, test.file, ordinal]), test]
  }

  /** Compares what a suite says of its failures with what it contains. */
  #checkFailures(element: Element): void {
    const { attributes, failures, attempts, expectedFailures, ...suite } = element
    const stated = readCount(attributes.failures) ?? 0
    let errors = readCount(attributes.errors) ?? 0
    if (element.tag === 'testsuites' && suite.goVersion !== undefined && errors > suite.suiteErrors) {
      this.#addGoErrors(errors - suite.suiteErrors, suite.goVersion)
      errors = suite.suiteErrors
    }
    const reported = countsSame(element, stated, errors) ? Math.max(stated, errors) : stated + errors
    if (Number.isNaN(reported)) this.#problem ??= 'its number of failures or errors cannot be read'
    if (reported > failures + attempts + expectedFailures)
      this.#problem ??= 'it reports more failures than it has test cases for'
    if (failures === 0 && saysFailed(attributes)) this.#problem ??= 'a suite failed, but none of its tests'
    if (!suite.succeeded && suite.failureReason !== '')
      this.#problem ??= `a suite did not succeed: ${suite.failureReason}`
    if (!suite.succeeded && failures === 0)
      this.#problem ??= 'a suite did not succeed, but none of its tests failed'
  }

  /** gotestsum counts each line on standard error as an error, in the root element only. */
  #addGoErrors(count: number, goVersion: number): void {
    const counted = `it counts ${pluralize(count, 'error')} outside of its packages: gotestsum counts the lines on standard error`
    if (goVersion >= goWithBuildErrors) this.#remarks.push(counted)
    else
      this.#problem ??= `${counted}, and before Go 1.${goWithBuildErrors} a package that does not build shows up only there`
  }

  /** Compares the number of tests of the outermost element that has one. Mocha leaves out skipped tests. */
  #checkTests(element: Element): void {
    const tests = readCount(element.attributes.tests)
    if (tests === undefined) return
    this.#testCounts.push(tests)
    if (this.#open.some(outer => outer.attributes.tests !== undefined)) return
    // pytest counts subtests, which have no test case.
    const isPytest = [element, ...this.#open].some(({ attributes }) =>
      /^pytest( tests)?$/.test(attributes.name ?? ''),
    )
    if (lacksTests(element) && !isPytest)
      this.#remarks.push(
        `it reports ${pluralize(tests, 'test')}, but has ${pluralize(element.cases, 'test case')}`,
      )
  }

  /** Go reports a test as failed if one of its subtests did. */
  #checkSubtests({ failedNames }: Element): void {
    const subtests = new Map<string, string[]>()
    for (const name of failedNames)
      for (let end = name.indexOf('/'); end >= 0; end = name.indexOf('/', end + 1)) {
        const parent = name.slice(0, end)
        if (!failedNames.has(parent)) continue
        const names = subtests.get(parent) ?? []
        names.push(name)
        subtests.set(parent, names)
      }
    if (subtests.size === 0) return
    const parents = [...subtests].map(([parent, names]) => `${parent} (${joinTruncated(names)})`)
    this.#remarks.push(`tests with failed subtests are failures, too: ${joinTruncated(parents)}`)
  }
}

/** Whether an element says that it has more tests than test cases, without those that are known to be left out. */
function lacksTests({ attributes, cases, skippedCases, attempts }: Element): boolean {
  const leftOut = Math.max(0, (readCount(attributes.skipped) ?? 0) - skippedCases)
  return (readCount(attributes.tests) ?? 0) > cases + attempts + leftOut
}

/**
 * Whether the failures and the errors that an element counts are the same tests: its test tool is known for that, or
 * it has no other test cases. Elsewhere errors may have no test case, such as those that Karma counts.
 */
function countsSame(element: Element, failures: number, errors: number): boolean {
  if (element.countsTwice) return true
  const isEachFailed = failures === errors && failures === element.failedCases
  return isEachFailed && element.failedCases === element.cases && !lacksTests(element)
}

/**
 * CTest says `notrun` of a test that was skipped (`SKIP_RETURN_CODE=77`), but also of one that it could not run, and
 * then fails.
 */
function readSkipped(testCase: Element, { message = '', type }: Attributes): void {
  testCase.skippedCases = 1
  if (message === mayFailMessage) testCase.expectedFailure = 'not counted'
  // node:test writes a test that is still to be done so.
  if (type === 'todo') testCase.expectedFailure = 'counted'
  if (testCase.attributes.status === 'notrun' && message !== '' && !message.startsWith('SKIP_'))
    testCase.hasFailed = true
}

/**
 * Reads a property of a suite: Ginkgo says whether it succeeded, @web/test-runner in which browser it ran, and gotestsum
 * with which version of Go (`go1.25.1 linux/amd64`).
 */
function readProperty(suite: Element, { name, value = '' }: Attributes): void {
  if (name === 'SuiteSucceeded' && value === 'false') suite.succeeded = false
  if (name === 'SpecialSuiteFailureReason') suite.failureReason = (value.split('\n')[0] ?? '').slice(0, 200)
  if (name === 'go.version') suite.goVersion = Number(/^(?:go version )?go1\.(\d+)/.exec(value)?.[1] ?? 0)
  // It counts each failure as an error, too.
  if (name === 'browser.launcher') suite.countsTwice = true
}
