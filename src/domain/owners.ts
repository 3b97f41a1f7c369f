import { getArray, type JsonObject } from '../base/json.ts'

/** Identifies an owner: GitHub does not distinguish the case of users and teams. */
const ownerKey = (owner: string): string => owner.toLowerCase()

export const ownersOf = (test: JsonObject): readonly string[] =>
  getArray(test, 'codeowners').filter(owner => typeof owner === 'string')

/** Whether an owner, in any case, is one of these. */
export const isOneOf = (owner: string, owners: Iterable<string>): boolean =>
  [...owners].some(other => ownerKey(other) === ownerKey(owner))

/** Returns the tests of each owner, in the order in which the owners come. A test without owners is that of `nobody`. */
export function testsByOwner(
  tests: readonly JsonObject[],
  nobody?: string,
): ReadonlyMap<string, readonly JsonObject[]> {
  const sections = new Map<string, { readonly owner: string; readonly tests: JsonObject[] }>()
  for (const test of tests) {
    const owners = ownersOf(test)
    const named = owners.length === 0 && nobody !== undefined ? [nobody] : owners
    for (const [key, owner] of new Map(named.map(owner => [ownerKey(owner), owner]))) {
      const section = sections.get(key) ?? { owner, tests: [] }
      section.tests.push(test)
      sections.set(key, section)
    }
  }
  return new Map([...sections.values()].map(({ owner, tests }) => [owner, tests]))
}
