import { pluralize } from '../../../values/format.ts'

/** A test that failed, as a JUnit XML file names it. */
export interface FailedTest {
  readonly name: string
  readonly classname: string | undefined
  /** The names of the suites that contain the test, innermost first. */
  readonly suites: readonly string[]
  readonly file: string | undefined
}

/** The results in a JUnit XML document. */
export interface JUnitResults {
  readonly cases: number
  readonly failed: readonly FailedTest[]
  /** Why the run probably ended early, without a full stop: `it has an error outside of test cases`. */
  readonly problem: string | undefined
  /** What is odd, but no reason to doubt the results, without a full stop. */
  readonly remark: string | undefined
  /** Whether it says that it has no tests: `tests="0"`. */
  readonly saysEmpty: boolean
}

type Attributes = Readonly<Record<string, string>>

/** Failed attempts that Surefire and Gradle tried again. They also count them as tests and as failures. */
const attemptTags: readonly string[] = ['flakyFailure', 'flakyError', 'rerunFailure', 'rerunError']

/** What `status` or `result` says of a failed test: Ginkgo, CTest and others. */
const failedWord =
  /^(fail(ed|ure)?|error(ed)?|broken|crashed|panicked|interrupted|aborted|timed[ -]?out|timeout)$/i

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
interface Element {
  readonly tag: string
  readonly attributes: Attributes
  /** The test case and the suite that it is or belongs to. */
  readonly testCase: Element | undefined
  readonly suite: Element | undefined
  cases: number
  skippedCases: number
  failures: number
  /** Failed attempts that were tried again. */
  attempts: number
  /** Whether its counts of failures and of errors count the same tests. */
  countsTwice: boolean
  hasFailed: boolean
  /** Whether Ginkgo says that the suite failed, and why, if not because of its tests. */
  succeeded: boolean
  failureReason: string
}

const isSuite = ({ tag }: Element): boolean => tag === 'testsuite'

const saysFailed = ({ status = '', result = '' }: Attributes): boolean =>
  failedWord.test(status) || failedWord.test(result)

function createElement(tag: string, attributes: Attributes, parent: Element | undefined): Element {
  const element = {
    tag,
    attributes,
    testCase: parent?.testCase,
    suite: parent?.suite,
    cases: 0,
    skippedCases: 0,
    failures: 0,
    attempts: 0,
    countsTwice: false,
    hasFailed: false,
    succeeded: true,
    failureReason: '',
  }
  if (tag === 'testcase') return Object.assign(element, { testCase: element, cases: 1 })
  if (tag !== 'testsuite') return element
  const countsTwice = attributes.name?.startsWith('TestCafe Tests:') === true
  return Object.assign(element, { suite: element, testCase: undefined, countsTwice })
}

/** Reads a JUnit XML document, element by element, as its producers mean it. */
export class JUnitDocument {
  readonly failed: FailedTest[] = []
  readonly #open: Element[] = []
  #cases = 0
  #problem: string | undefined
  #remark: string | undefined
  /** What its suites say about their number of tests. */
  readonly #testCounts: number[] = []

  /** Whether its root element has ended. */
  get isWhole(): boolean {
    return this.#open.length === 0
  }

  results(): JUnitResults {
    return {
      cases: this.#cases,
      failed: this.failed,
      problem: this.#problem,
      remark: this.#remark,
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
    this.#open.push(createElement(tag, attributes, parent))
  }

  end(): void {
    const element = this.#open.pop()
    if (element === undefined) return
    if (element.tag === 'testcase') {
      if (saysFailed(element.attributes)) element.hasFailed = true
      if (element.hasFailed && element.failures === 0) element.failures = 1
    }
    if (element.tag === 'testsuite' || element.tag === 'testsuites') {
      this.#checkFailures(element)
      this.#checkTests(element)
    }
    if (element.hasFailed) this.#addFailedTest(element)
    const parent = this.#open.at(-1)
    if (parent === undefined) return
    parent.cases += element.cases
    parent.skippedCases += element.skippedCases
    parent.failures += element.failures
    parent.attempts += element.attempts
    if (element.countsTwice) parent.countsTwice = true
  }

  /** Counts a failure. One outside of test cases is one of its suite, which could not be set up. */
  #addFailure(testCase: Element | undefined, suite: Element | undefined): void {
    if (testCase === undefined) this.#problem = 'it has an error outside of test cases'
    const element = testCase ?? suite
    if (element === undefined) return
    element.hasFailed = true
    element.failures++
  }

  #addFailedTest(element: Element): void {
    const suites = [...this.#open, element].filter(isSuite).toReversed()
    const fileOf = ({ attributes }: Element) => attributes.file || attributes.filepath || undefined
    this.failed.push({
      name: element.attributes.name ?? '',
      // Codeception writes only `class`.
      classname: element.attributes.classname || element.attributes.class || undefined,
      suites: suites.flatMap(({ attributes }) => attributes.name || []),
      file: [element, ...suites].map(fileOf).find(file => file !== undefined),
    })
  }

  /** Compares what a suite says of its failures with what it contains. */
  #checkFailures({ attributes, failures, attempts, ...suite }: Element): void {
    const [stated, errors] = [readCount(attributes.failures) ?? 0, readCount(attributes.errors) ?? 0]
    const reported = suite.countsTwice ? Math.max(stated, errors) : stated + errors
    if (Number.isNaN(reported)) this.#problem ??= 'its number of failures or errors cannot be read'
    if (reported > failures + attempts)
      this.#problem ??= 'it reports more failures than it has test cases for'
    if (failures === 0 && saysFailed(attributes)) this.#problem ??= 'a suite failed, but none of its tests'
    if (!suite.succeeded && suite.failureReason !== '')
      this.#problem ??= `a suite did not succeed: ${suite.failureReason}`
    if (!suite.succeeded && failures === 0)
      this.#problem ??= 'a suite did not succeed, but none of its tests failed'
  }

  /** Compares the number of tests of the outermost element that has one. Mocha leaves out skipped tests. */
  #checkTests({ attributes, cases, skippedCases, attempts }: Element): void {
    const tests = readCount(attributes.tests)
    if (tests === undefined) return
    this.#testCounts.push(tests)
    if (this.#open.some(outer => outer.attributes.tests !== undefined)) return
    const leftOut = Math.max(0, (readCount(attributes.skipped) ?? 0) - skippedCases)
    if (tests > cases + attempts + leftOut)
      this.#remark = `it reports ${pluralize(tests, 'test')}, but has ${pluralize(cases, 'test case')}`
  }
}

/**
 * CTest says `notrun` of a test that was skipped (`SKIP_RETURN_CODE=77`), but also of one that it could not run, and
 * then fails.
 */
function readSkipped(testCase: Element, { message = '' }: Attributes): void {
  testCase.skippedCases = 1
  if (testCase.attributes.status === 'notrun' && message !== '' && !message.startsWith('SKIP_'))
    testCase.hasFailed = true
}

/** Reads a property of a suite: Ginkgo says whether it succeeded, and @web/test-runner in which browser it ran. */
function readProperty(suite: Element, { name, value = '' }: Attributes): void {
  if (name === 'SuiteSucceeded' && value === 'false') suite.succeeded = false
  if (name === 'SpecialSuiteFailureReason') suite.failureReason = (value.split('\n')[0] ?? '').slice(0, 200)
  // It counts each failure as an error, too.
  if (name === 'browser.launcher') suite.countsTwice = true
}
