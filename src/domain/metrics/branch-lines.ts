import { labelsOf } from './exposition.ts'

/**
 * Returns a test whether a line of a metrics text concerns a branch: true for samples with the label
 * `branch="..."`, comments and empty lines, and for invalid lines, so that the parser of the text reports
 * them.
 */
export const isOfBranch =
  (branch: string) =>
  (line: string): boolean =>
    /^[ \t\r]*(?:#|$)/.test(line) || (labelsOf(line) ?? { branch }).branch === branch

export function keepLines(bytes: Uint8Array, keep: (line: string) => boolean): Uint8Array {
  const decoder = new TextDecoder()
  const result = new Uint8Array(bytes.length)
  let length = 0
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start)
    const line = bytes.subarray(start, end < 0 ? bytes.length : end + 1)
    if (keep(decoder.decode(line).replace(/\r?\n$/, ''))) {
      result.set(line, length)
      length += line.length
    }
    start += line.length
  }
  return result.subarray(0, length)
}
