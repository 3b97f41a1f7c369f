import { get, getString, type JsonObject } from '../../../base/json.ts'
import type { FailedTest } from './junit-document.ts'

/** A failed test, and the test of the service that is most similar to it. */
export interface TestMatch {
  readonly failed: FailedTest
  test: JsonObject | undefined
  similarity: number
  /** Whether every test of the service that matches equally well is quarantined. */
  isQuarantined: boolean
  /** Whether the test of the service failed in the range. */
  isInWindow: boolean
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

/** Whether one of the suites is a suite; undefined if a side has none. */
function isSameSuite(suites: readonly string[], suite: string | undefined): boolean | undefined {
  const results = suites.map(one => isSameText(one, suite)).filter(result => result !== undefined)
  return results.length === 0 ? undefined : results.includes(true)
}

/** Whether two paths name the same file; either may start at a higher folder. Undefined if one is missing. */
function isSameFile(path: string | undefined, otherPath: string | undefined): boolean | undefined {
  const [longer = [], shorter = []] = [splitPath(path), splitPath(otherPath)].sort(
    (a, b) => b.length - a.length,
  )
  if (shorter.length === 0) return undefined
  return longer.slice(-shorter.length).join('/') === shorter.join('/')
}

/**
 * Returns in how many of class, suite and file two tests of the same name agree; 0 if they are not the same test,
 * because one of these differs, or because too little is known. Many test runners have one suite for all tests, so a
 * suite is enough only where neither side has more.
 */
function similarityOf(failed: FailedTest, test: JsonObject): number {
  const [classname, parent, file] = ['classname', 'parent', 'file_path'].map(path => getString(test, path))
  const sameClass = isSameText(failed.classname, classname)
  const sameSuite = isSameSuite(failed.suites, parent)
  const sameFile = isSameFile(failed.file, file)
  const results = [sameClass, sameSuite, sameFile]
  if (results.includes(false)) return 0
  if (sameClass === true || sameFile === true) return results.filter(result => result === true).length
  if ([failed.classname, classname, failed.file, file].some(text => normalizeText(text) !== '')) return 0
  // Tests of which only the name is known are the same.
  const hasSuite = [...failed.suites, parent].some(text => normalizeText(text) !== '')
  return sameSuite === true || !hasSuite ? 1 : 0
}

/**
 * Creates a matcher that compares failed tests with tests of the service by name and class, suite and file.
 * The most similar test counts; a failed test is quarantined only if all equally similar tests are. A failed
 * test that occurs in several files counts once.
 */
export function createMatcher(failedTests: readonly FailedTest[]) {
  const matches = new Map<string, TestMatch>()
  for (const failed of failedTests)
    matches.set(JSON.stringify(failed), {
      failed,
      test: undefined,
      similarity: 0,
      isQuarantined: false,
      isInWindow: true,
    })
  const byName = new Map<string, TestMatch[]>()
  for (const match of matches.values()) {
    const name = normalizeText(match.failed.name)
    const named = byName.get(name) ?? []
    named.push(match)
    byName.set(name, named)
  }
  return {
    /**
     * Compares a test of the service with the failed tests. A test that did not fail in the range counts only
     * where no other is similar.
     */
    take(test: JsonObject, isInWindow = true): void {
      const isQuarantined = get(test, 'quarantined') === true
      for (const match of byName.get(normalizeText(getString(test, 'name'))) ?? []) {
        if (!isInWindow && match.isInWindow && match.test !== undefined) continue
        const similarity = similarityOf(match.failed, test)
        const isBetter = similarity > match.similarity
        const endsQuarantine =
          similarity === match.similarity && similarity > 0 && match.isQuarantined && !isQuarantined
        if (isBetter || endsQuarantine) Object.assign(match, { test, similarity, isQuarantined, isInWindow })
      }
    },
    /** The failed tests with their matches, in the order of the files. */
    matches: (): readonly TestMatch[] => [...matches.values()],
  }
}
