import { param } from '../api/operation.ts'
import * as operations from '../api/operations/metrics.ts'
import { labelsOf } from '../domain/metrics/exposition.ts'
import { text } from '../domain/values/types.ts'
import { defineMethod } from './method.ts'

const utf8 = new TextDecoder()

/**
 * Returns a test whether a line of a metrics text concerns a branch: true for samples with the label
 * `branch="..."`, comments and empty lines, and for invalid lines, so that the parser of the text reports
 * them.
 */
const isOfBranch =
  (branch: string) =>
  (line: string): boolean =>
    /^[ \t\r]*(?:#|$)/.test(line) || (labelsOf(line) ?? { branch }).branch === branch

/** Returns the lines of a text for which `keep` returns true, each with its bytes and line end unchanged. */
function keepLines(bytes: Uint8Array, keep: (line: string) => boolean): Uint8Array {
  const result = new Uint8Array(bytes.length)
  let length = 0
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start)
    const line = bytes.subarray(start, end < 0 ? bytes.length : end + 1)
    if (keep(utf8.decode(line).replace(/\r?\n$/, ''))) {
      result.set(line, length)
      length += line.length
    }
    start += line.length
  }
  return result.subarray(0, length)
}

export const getMergeQueueMetrics = defineMethod(operations.getMergeQueueMetrics, {
  params: {
    ...operations.getMergeQueueMetrics.params,
    branch: param(text('branch'), 'Show the samples of this branch only', {
      setting: 'targetBranch',
      settingFrom: 'option',
    }),
  },
  adaptResponse(response, { branch }) {
    if (branch === undefined) return response
    const bytes = keepLines(response.bytes, isOfBranch(branch))
    return operations.decodeMetrics(utf8.decode(bytes), bytes)
  },
})
