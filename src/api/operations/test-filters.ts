import { get, getArray, getString, type JsonObject } from '../../json.ts'
import type { RecordFilter } from '../list-reader.ts'

export interface TestFilters {
  readonly owner?: string | undefined
  readonly quarantined?: boolean | undefined
  readonly minRate?: number | undefined
  readonly name?: RegExp | undefined
  readonly path?: RegExp | undefined
}

/** A number in a record of a test; -1 where it is missing. */
export const numberIn = (test: JsonObject, path: string): number => {
  const value = get(test, path)
  return typeof value === 'number' ? value : -1
}

/**
 * Returns the conditions that were given, each with the name of its option.
 *
 * @param filePath the member of a record that has the path of the file
 */
export function createTestFilters(
  { owner, quarantined, minRate, name, path }: TestFilters,
  filePath: 'file_path' | 'file' = 'file_path',
): readonly RecordFilter[] {
  const filters: RecordFilter[] = []
  const when = <T>(flag: string, value: T | undefined, keeps: (test: JsonObject, value: T) => boolean) => {
    if (value !== undefined) filters.push({ flag, keeps: test => keeps(test, value) })
  }
  when('--owner', owner, (test, owner) => getArray(test, 'codeowners').includes(owner))
  when(
    quarantined === false ? '--no-quarantined' : '--quarantined',
    quarantined,
    (test, quarantined) => get(test, 'quarantined') === quarantined,
  )
  when('--min-failure-rate', minRate, (test, minRate) => numberIn(test, 'failure_rate_last_7d') >= minRate)
  when('--name', name, (test, name) => name.test(getString(test, 'name') ?? ''))
  when('--path', path, (test, path) => path.test(getString(test, filePath) ?? ''))
  return filters
}
