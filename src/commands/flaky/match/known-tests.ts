import { get, getString, type JsonObject } from '../../../json.ts'
import type { FailedTest } from './junit.ts'

export interface TestMatch {
  readonly failed: FailedTest
  readonly test: JsonObject | undefined
  /** Whether every test of the service that matches equally well is quarantined. */
  readonly isQuarantined: boolean
}

interface Candidate {
  readonly failed: FailedTest
  similarity: number
  test?: JsonObject
  isQuarantined: boolean
}

/** Normalizes white space and accents, so that names that look equal are equal. */
const normalizeText = (name: string): string => name.normalize('NFC').replace(/\s+/g, ' ').trim()

const splitPath = (path: string): readonly string[] =>
  path
    .normalize('NFC')
    .split(/[\\/]+/)
    .filter(part => part !== '' && part !== '.')

/** Whether two paths name the same file; either path may start at a higher folder. */
function isSameFile(path: string, otherPath: string): boolean {
  const [longer, shorter] = [splitPath(path), splitPath(otherPath)].sort((a, b) => b.length - a.length)
  return (
    shorter !== undefined &&
    shorter.length > 0 &&
    longer?.slice(-shorter.length).join('/') === shorter.join('/')
  )
}

const createKey = (kind: 'class' | 'suite' | 'file' | 'alone', container: string, name: string): string =>
  JSON.stringify([
    kind,
    kind === 'file' ? splitPath(container).at(-1) : normalizeText(container),
    normalizeText(name),
  ])

/** Returns the index keys of a test: for its class, suites and file, or for its name if all are missing. */
function createKeys(
  name: string,
  classname = '',
  suites: readonly string[] = [],
  file = '',
): readonly string[] {
  const keys = [
    ...(classname === '' ? [] : [createKey('class', classname, name)]),
    ...suites.filter(suite => suite !== '').map(suite => createKey('suite', suite, name)),
    ...(file === '' ? [] : [createKey('file', file, name)]),
  ]
  return keys.length === 0 ? [createKey('alone', '', name)] : keys
}

/** Returns the similarity of two tests: class 4, suite 2 and file 1, summed up; 0 if nothing matches. */
function similarityOf(failed: FailedTest, test: JsonObject): number {
  const isSameText = (a: string | undefined, b: string | undefined) =>
    a !== undefined && b !== undefined && normalizeText(a) === normalizeText(b)
  const [classname, parent, file] = ['classname', 'parent', 'file_path'].map(path => getString(test, path))
  const byClass = isSameText(failed.classname, classname) ? 4 : 0
  const bySuite = failed.suites.some(suite => isSameText(suite, parent)) ? 2 : 0
  const byFile = failed.file !== undefined && file !== undefined && isSameFile(failed.file, file) ? 1 : 0
  const alone = [classname, parent, file].every(text => (text ?? '') === '') ? 1 : 0
  return byClass + bySuite + byFile || alone
}

/**
 * Creates a matcher that compares failed tests with tests of the service by name and class, suite or file.
 * The most similar test counts; a failed test is quarantined only if all equally similar tests are. A failed
 * test that occurs in several files counts once.
 */
export function createMatcher(failedTests: readonly FailedTest[]) {
  const byKey = new Map<string, Candidate[]>()
  const candidates = new Map<string, Candidate>()
  for (const failed of failedTests) {
    const { name, classname, suites, file } = failed
    const identity = JSON.stringify([name, classname, suites, file])
    if (candidates.has(identity)) continue
    const candidate = { failed, similarity: 0, isQuarantined: false }
    candidates.set(identity, candidate)
    for (const key of new Set(createKeys(name, classname, suites, file))) {
      const sameKey = byKey.get(key)
      if (sameKey === undefined) byKey.set(key, [candidate])
      else sameKey.push(candidate)
    }
  }
  const consider = (candidate: Candidate, test: JsonObject) => {
    const similarity = similarityOf(candidate.failed, test)
    const isQuarantined = get(test, 'quarantined') === true
    const isBetter = similarity > candidate.similarity
    const endsQuarantine =
      similarity === candidate.similarity && similarity > 0 && candidate.isQuarantined && !isQuarantined
    if (isBetter || endsQuarantine) Object.assign(candidate, { similarity, test, isQuarantined })
  }
  return {
    /** Compares a test of the service with the failed tests. */
    take(test: JsonObject): void {
      const [classname, parent, file] = ['classname', 'parent', 'file_path'].map(path =>
        getString(test, path),
      )
      const keys = createKeys(
        getString(test, 'name') ?? '',
        classname,
        parent === undefined ? [] : [parent],
        file,
      )
      for (const candidate of new Set(keys.flatMap(key => byKey.get(key) ?? []))) consider(candidate, test)
    },
    /** Returns the failed tests with their matches, in the order of the files. */
    matches: (): readonly TestMatch[] =>
      [...candidates.values()].map(({ failed, test, isQuarantined }) => ({ failed, test, isQuarantined })),
  }
}
