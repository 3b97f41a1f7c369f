import { get, getString, type JsonObject } from '../../../base/json.ts'
import type { FailedTest } from './junit-document.ts'

export interface TestMatch {
  readonly failed: FailedTest
  /** The most similar test of the service so far. */
  test?: JsonObject
  similarity: number
  /** Whether every test of the service that matches equally well is quarantined. */
  isQuarantined: boolean
  isInWindow: boolean
  /** The class of a test of the service that has the same name, file and suite, but another class. */
  otherClass?: string | undefined
}

/** Normalizes white space and accents, so that names that look equal are equal. */
const normalizeText = (name = ''): string => name.normalize('NFC').replace(/\s+/g, ' ').trim()

const splitPath = (path = ''): readonly string[] =>
  path
    .normalize('NFC')
    .split(/[\\/]+/)
    .filter(part => part !== '' && part !== '.')

/** Whether two texts are the same; undefined if one of them is missing. */
function isSameText(text: string | undefined, otherText: string | undefined): boolean | undefined {
  const [one, other] = [normalizeText(text), normalizeText(otherText)]
  return one === '' || other === '' ? undefined : one === other
}

/**
 * Whether two paths name the same file: they are equal, or the shorter one is the end of the other. Undefined if one is
 * missing, and for a name without a folder that is the end of a longer path: many folders may have such a file.
 */
function isSameFile(path: string | undefined, otherPath: string | undefined): boolean | undefined {
  const [longer = [], shorter = []] = [splitPath(path), splitPath(otherPath)].sort(
    (a, b) => b.length - a.length,
  )
  if (shorter.length === 0) return undefined
  if (longer.slice(-shorter.length).join('/') !== shorter.join('/')) return false
  return shorter.length === longer.length || shorter.length > 1 ? true : undefined
}

const compare = (failed: FailedTest, test: JsonObject) => ({
  sameClass: isSameText(failed.classname, getString(test, 'classname')),
  sameSuite: isSameText(failed.suite, getString(test, 'parent')),
  sameFile: isSameFile(failed.file, getString(test, 'file_path')),
})

const isText = (text: string | undefined): boolean => normalizeText(text) !== ''

/**
 * Returns in how many of class, suite and file two tests of the same name agree; 0 if they are not the same test,
 * because one of these differs, or because too little is known. Many test runners have one suite for all tests, so a
 * suite is enough only where neither side has more; node:test has one class for all tests, so a class is enough only
 * with a suite or where neither side has one.
 */
function similarityOf(
  failed: FailedTest,
  test: JsonObject,
  { sameClass, sameSuite, sameFile }: ReturnType<typeof compare>,
): number {
  const results = [sameClass, sameSuite, sameFile]
  if (results.includes(false)) return 0
  const hasSuite = isText(failed.suite) || isText(getString(test, 'parent'))
  const isSameSuite = sameSuite === true || !hasSuite
  if (sameFile === true || (sameClass === true && isSameSuite))
    return results.filter(result => result === true).length
  const others = [failed.classname, getString(test, 'classname'), failed.file, getString(test, 'file_path')]
  if (others.some(isText)) return 0
  // Tests of which only the name is known are the same.
  return isSameSuite ? 1 : 0
}

/** Returns each failed test once. One that is in several reports passed in the end only if it did in each. */
export function mergeTests(failedTests: readonly FailedTest[]): readonly FailedTest[] {
  const merged = new Map<string, FailedTest>()
  for (const failed of failedTests) {
    const key = JSON.stringify({ ...failed, passedLater: undefined })
    const passedLater = failed.passedLater && merged.get(key)?.passedLater !== false
    merged.set(key, { ...failed, passedLater })
  }
  return [...merged.values()]
}

/** The most similar test counts; a failed test is quarantined only if all equally similar tests are. */
export function createMatcher(failedTests: readonly FailedTest[]) {
  const matches = failedTests.map(
    (failed): TestMatch => ({ failed, similarity: 0, isQuarantined: false, isInWindow: true }),
  )
  const byName = new Map<string, TestMatch[]>()
  for (const match of matches) {
    const name = normalizeText(match.failed.name)
    byName.set(name, [...(byName.get(name) ?? []), match])
  }
  return {
    /** A test that did not fail in the range counts only where no other is similar. */
    take(test: JsonObject, isInWindow = true): void {
      const isQuarantined = get(test, 'quarantined') === true
      for (const match of byName.get(normalizeText(getString(test, 'name'))) ?? []) {
        if (!isInWindow && match.isInWindow && match.test !== undefined) continue
        const compared = compare(match.failed, test)
        const { sameClass, sameSuite, sameFile } = compared
        if (sameClass === false && sameSuite === true && sameFile === true)
          match.otherClass = getString(test, 'classname')
        const similarity = similarityOf(match.failed, test, compared)
        const isBetter = similarity > match.similarity
        const endsQuarantine =
          similarity === match.similarity && similarity > 0 && match.isQuarantined && !isQuarantined
        if (isBetter || endsQuarantine) Object.assign(match, { test, similarity, isQuarantined, isInWindow })
      }
    },
    matches,
  }
}
