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

/** Failed attempts that Surefire and Gradle tried again. */
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

/** Returns how many an attribute says; undefined if it says nothing, NaN for what may be read as another count: `1.000`. */
function readCount(text = ''): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^\d+(?:\.0)?$/.test(trimmed) ? Number(trimmed) : Number.NaN
}

/** An element with what it says of its tests, and what it contains. */
class Element {
  readonly tag: string
  readonly attributes: Attributes
  /** How many suites of the document began before it. */
  readonly number: number
  cases = 0
  skippedCases = 0
  failures = 0
  /** Failures that are none, but may be counted as failures and as tests: failed attempts, and those that are expected. */
  excused = 0
  /** Whether the test tool expects a failure, and whether it counts it. */
  expectedFailure: 'counted' | 'not counted' | undefined
  /** Whether its counts of failures and of errors count the same tests. */
  countsTwice = false
  /** The minor version of Go of its suites, the lowest of several; undefined where they say none, 0 for an unknown one. */
  goVersion: number | undefined
  /** How many errors the suites in it say that they have. */
  suiteErrors = 0
  /** The names of its failed tests, if it is a suite of Go. */
  readonly failedNames = new Set<string>()
  /** Whether Ginkgo says that the suite failed, and why, if not because of its tests. */
  succeeded = true
  failureReason = ''

  constructor(tag: string, attributes: Attributes, number: number) {
    this.tag = tag
    this.attributes = attributes
    this.number = number
    this.cases = tag === 'testcase' ? 1 : 0
    this.countsTwice = tag === 'testsuite' && /^(TestCafe Tests:|Mocha Tests$)/.test(attributes.name ?? '')
  }

  add(inner: Element): void {
    this.cases += inner.cases
    this.skippedCases += inner.skippedCases
    this.failures += inner.failures
    this.excused += inner.excused
    if (inner.countsTwice) this.countsTwice = true
    if (!isSuite(inner)) return
    this.suiteErrors += readCount(inner.attributes.errors) ?? 0
    if (inner.goVersion !== undefined)
      this.goVersion = Math.min(inner.goVersion, this.goVersion ?? inner.goVersion)
  }
}

const isSuite = ({ tag }: Element): boolean => tag === 'testsuite'

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

  get failedTests(): number {
    return this.#failed.size
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
    const testCase = this.#open.findLast(outer => outer.tag === 'testcase')
    const suite = this.#open.findLast(isSuite)
    if (tag === 'failure' || tag === 'error') this.#addFailure(testCase, suite)
    if (tag === 'property' && testCase === undefined && suite !== undefined) readProperty(suite, attributes)
    if (testCase !== undefined) {
      // Codeception counts a warning with the failures; PHPUnit 9 has a count of its own for warnings.
      if (tag === 'warning' && suite?.attributes.warnings === undefined) testCase.failures++
      if (attemptTags.includes(tag)) testCase.excused++
      if (tag === 'skipped') readSkipped(testCase, attributes)
    }
    this.#open.push(new Element(tag, attributes, this.#suites))
    if (tag === 'testcase') this.#cases++
    if (tag === 'testsuite') this.#suites++
  }

  end(): void {
    const element = this.#open.pop()
    if (element === undefined) return
    if (element.tag === 'testcase') this.#endTestCase(element)
    if (element.tag === 'testsuite' || element.tag === 'testsuites') {
      this.#checkFailures(element)
      this.#checkTests(element)
      this.#checkSubtests(element)
    }
    this.#open.at(-1)?.add(element)
  }

  /** Counts a failure. One outside of test cases is one of its suite, which could not be set up. */
  #addFailure(testCase: Element | undefined, suite: Element | undefined): void {
    const element = testCase ?? suite
    if (element !== undefined) element.failures++
    if (testCase !== undefined) return
    this.#problem = 'it has an error outside of test cases'
    if (suite !== undefined) this.#addFailedTest(suite)
  }

  /** Decides whether a test failed. One that passed may be a later attempt of one that failed. */
  #endTestCase(testCase: Element): void {
    const { attributes, expectedFailure, failures, skippedCases } = testCase
    if (expectedFailure !== undefined) testCase.failures = 0
    if (expectedFailure === 'counted') testCase.excused += failures
    if (saysFailed(attributes)) testCase.failures = Math.max(testCase.failures, 1)
    if (testCase.failures > 0) this.#addFailedTest(testCase)
    else if (this.#failed.size > 0) {
      const { status = '', result = '' } = attributes
      const passedLater = skippedCases === 0 && passedWord.test(status) && passedWord.test(result)
      const [key] = this.#identify(testCase)
      const failed = this.#failed.get(key)
      // Tests without a name are not known to be the same.
      if (failed !== undefined && failed.name !== '') this.#failed.set(key, { ...failed, passedLater })
    }
  }

  #addFailedTest(element: Element): void {
    const [key, test] = this.#identify(element)
    this.#failed.set(key, test)
    const suite = this.#open.findLast(isSuite)
    if (suite?.goVersion !== undefined) suite.failedNames.add(test.name)
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
    return [JSON.stringify([suites.at(-1)?.number, test.classname, test.name, test.file]), test]
  }

  /** Compares what a suite says of its failures with what it contains. */
  #checkFailures(element: Element): void {
    const { attributes, failures, excused, goVersion, suiteErrors, succeeded, failureReason } = element
    const stated = readCount(attributes.failures) ?? 0
    let errors = readCount(attributes.errors) ?? 0
    if (element.tag === 'testsuites' && goVersion !== undefined && errors > suiteErrors) {
      // gotestsum counts each line on standard error as an error, in the root element only.
      const counted = `it counts ${pluralize(errors - suiteErrors, 'error')} outside of its packages: gotestsum counts the lines on standard error`
      if (goVersion >= goWithBuildErrors) this.#remarks.push(counted)
      else
        this.#problem ??= `${counted}, and before Go 1.${goWithBuildErrors} a package that does not build shows up only there`
      errors = suiteErrors
    }
    const reported = countsSame(element, stated, errors) ? Math.max(stated, errors) : stated + errors
    if (Number.isNaN(reported)) this.#problem ??= 'its number of failures or errors cannot be read'
    if (reported > failures + excused) this.#problem ??= 'it reports more failures than it has test cases for'
    if (failures === 0 && saysFailed(attributes)) this.#problem ??= 'a suite failed, but none of its tests'
    if (!succeeded && failureReason !== '') this.#problem ??= `a suite did not succeed: ${failureReason}`
    if (!succeeded && failures === 0)
      this.#problem ??= 'a suite did not succeed, but none of its tests failed'
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
    const parents = [...failedNames].flatMap(parent => {
      const subtests = [...failedNames].filter(name => name.startsWith(`${parent}/`))
      return subtests.length === 0 ? [] : [`${parent} (${joinTruncated(subtests)})`]
    })
    if (parents.length > 0)
      this.#remarks.push(`tests with failed subtests are failures, too: ${joinTruncated(parents)}`)
  }
}

/** Whether an element says that it has more tests than test cases, without those that are known to be left out. */
function lacksTests({ attributes, cases, skippedCases, excused }: Element): boolean {
  const leftOut = Math.max(0, (readCount(attributes.skipped) ?? 0) - skippedCases)
  return (readCount(attributes.tests) ?? 0) > cases + excused + leftOut
}

/**
 * Whether the failures and the errors that an element counts are the same tests: its test tool is known for that, or
 * it has no other test cases. Elsewhere errors may have no test case, such as those that Karma counts.
 */
function countsSame(element: Element, failures: number, errors: number): boolean {
  if (element.countsTwice) return true
  const isEachFailed = element.failures === element.cases && !lacksTests(element)
  return isEachFailed && failures === errors && failures === element.failures
}

/** CTest says `notrun` of a test that was skipped (`SKIP_RETURN_CODE=77`), but also of one that it could not run. */
function readSkipped(testCase: Element, { message = '', type }: Attributes): void {
  testCase.skippedCases = 1
  if (message === mayFailMessage) testCase.expectedFailure = 'not counted'
  // node:test writes a test that is still to be done so.
  if (type === 'todo') testCase.expectedFailure = 'counted'
  if (testCase.attributes.status === 'notrun' && message !== '' && !message.startsWith('SKIP_'))
    testCase.failures++
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
