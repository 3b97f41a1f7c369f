import { get, getString, type JsonObject } from '../../../json.ts'
import type { FailedTest } from './junit.ts'

/** A test that failed here, and the failing test of the service that it is, where there is one. */
export interface TestMatch {
  readonly failed: FailedTest
  readonly test: JsonObject | undefined
  readonly isQuarantined: boolean
}

/** What is known of one failed test while the service's tests go by. */
interface Candidate {
  readonly failed: FailedTest
  likeness: number
  test?: JsonObject
  isQuarantined: boolean
}

/**
 * Names are compared as a person sees them: white space and the ways to write an accent make no difference.
 */
const plain = (name: string): string => name.normalize('NFC').replace(/\s+/g, ' ').trim()

const parts = (path: string): readonly string[] =>
  path.split(/[\\/]+/).filter(part => part !== '' && part !== '.')

/** Whether two paths name one file, where either may begin further up. */
function isSameFile(one: string, other: string): boolean {
  const [longer, shorter] = [parts(one), parts(other)].sort((a, b) => b.length - a.length)
  return (
    shorter !== undefined &&
    shorter.length > 0 &&
    longer?.slice(-shorter.length).join('/') === shorter.join('/')
  )
}

const keyOf = (kind: 'class' | 'suite' | 'file' | 'alone', where: string, name: string): string =>
  JSON.stringify([kind, kind === 'file' ? parts(where).at(-1) : plain(where), plain(name)])

/**
 * Where a test stands, strongest first: its class, then its suites, then its file; alone where none is told.
 */
function keysOf(name: string, classname = '', suites: readonly string[] = [], file = ''): readonly string[] {
  const keys = [
    ...(classname === '' ? [] : [keyOf('class', classname, name)]),
    ...suites.filter(suite => suite !== '').map(suite => keyOf('suite', suite, name)),
    ...(file === '' ? [] : [keyOf('file', file, name)]),
  ]
  return keys.length === 0 ? [keyOf('alone', '', name)] : keys
}

/**
 * How surely a failed test is one of the service's: by its class above all, then its suite, then its file; 0
 * is not.
 */
function similarityOf(failed: FailedTest, test: JsonObject): number {
  const same = (one: string | undefined, other: string | undefined) =>
    one !== undefined && other !== undefined && plain(one) === plain(other)
  const [classname, parent, file] = ['classname', 'parent', 'file_path'].map(path => getString(test, path))
  const byClass = same(failed.classname, classname) ? 4 : 0
  const bySuite = failed.suites.some(suite => same(suite, parent)) ? 2 : 0
  const byFile = failed.file !== undefined && file !== undefined && isSameFile(failed.file, file) ? 1 : 0
  const alone = [classname, parent, file].every(one => (one ?? '') === '') ? 1 : 0
  return byClass + bySuite + byFile || alone
}

/**
 * Looks for failed tests among the service's as these go by, by class name and name, then suite, then file.
 * Of several that fit, the one that fits best counts; a test is quarantined only if all that fit it best are.
 * Each failed test counts once, however many files it is in.
 */
export function createMatcher(all: readonly FailedTest[]) {
  const byKey = new Map<string, Candidate[]>()
  const candidates = new Map<string, Candidate>()
  for (const failed of all) {
    const { name, classname, suites, file } = failed
    const identity = JSON.stringify([name, classname, suites, file])
    if (candidates.has(identity)) continue
    const candidate = { failed, likeness: 0, isQuarantined: false }
    candidates.set(identity, candidate)
    for (const key of new Set(keysOf(name, classname, suites, file))) {
      const standing = byKey.get(key)
      if (standing === undefined) byKey.set(key, [candidate])
      else standing.push(candidate)
    }
  }
  const consider = (candidate: Candidate, test: JsonObject) => {
    const likeness = similarityOf(candidate.failed, test)
    const isQuarantined = get(test, 'quarantined') === true
    const isBetter = likeness > candidate.likeness
    const isWorseNews =
      likeness === candidate.likeness && likeness > 0 && candidate.isQuarantined && !isQuarantined
    if (isBetter || isWorseNews) Object.assign(candidate, { likeness, test, isQuarantined })
  }
  return {
    take(test: JsonObject): void {
      const [classname, parent, file] = ['classname', 'parent', 'file_path'].map(path =>
        getString(test, path),
      )
      const keys = keysOf(
        getString(test, 'name') ?? '',
        classname,
        parent === undefined ? [] : [parent],
        file,
      )
      for (const candidate of new Set(keys.flatMap(key => byKey.get(key) ?? []))) consider(candidate, test)
    },
    matches: (): readonly TestMatch[] =>
      [...candidates.values()].map(({ failed, test, isQuarantined }) => ({ failed, test, isQuarantined })),
  }
}
