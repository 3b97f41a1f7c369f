import { labelsOf } from './exposition.ts'

/**
 * Whether a line of a metrics text belongs to a branch: a comment, an empty line, or a sample with the label
 * `branch="..."`. A line that is not of the format stays, so that whatever reads the text refuses it.
 */
export const isOfBranch =
  (branch: string) =>
  (line: string): boolean =>
    /^[ \t\r]*(?:#|$)/.test(line) || (labelsOf(line) ?? { branch }).branch === branch

/** The lines of a metrics text for which `keeps` holds, each with its own bytes and line end. */
export function keepLines(bytes: Uint8Array, keeps: (line: string) => boolean): Uint8Array {
  const decoder = new TextDecoder()
  const kept = new Uint8Array(bytes.length)
  let length = 0
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start)
    const line = bytes.subarray(start, end < 0 ? bytes.length : end + 1)
    if (keeps(decoder.decode(line).replace(/\r?\n$/, ''))) {
      kept.set(line, length)
      length += line.length
    }
    start += line.length
  }
  return kept.subarray(0, length)
}
