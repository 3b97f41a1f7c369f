import fc from 'fast-check'
import { isObject, type JsonObject, parseJson } from '../../src/base/json.ts'

/** Settings that the sandbox takes, and one that nobody knows. */
export const someSettings = fc.record(
  {
    mode: fc.constantFrom('single', 'parallel'),
    concurrency: fc.integer({ min: 1, max: 4_294_967_295 }),
    bisectionConcurrency: fc.integer({ min: 1, max: 50 }),
    testingTimeoutMinutes: fc.nat(1_000),
    batch: fc.boolean(),
    commentsEnabled: fc.boolean(),
    directMergeMode: fc.constantFrom('off', 'always'),
    mergeMethod: fc.constantFrom('squash', 'rebase', 'merge_commit'),
    requiredStatuses: fc.option(
      fc.uniqueArray(
        fc.stringMatching(/^[a-z :#'"-]{0,8}[a-z]$/).map(word => word.trim()),
        { minLength: 1, maxLength: 4 },
      ),
      { nil: null },
    ),
    enqueueingLabel: fc.stringMatching(/^[a-z0-9: #-]{0,10}[a-z]$/).map(word => word.trim()),
    futureThing: fc.jsonValue({ maxDepth: 3 }),
  },
  { requiredKeys: [] },
)

export const asJsonObject = (value: unknown): JsonObject => {
  const json = parseJson(JSON.stringify(value))
  return isObject(json) ? json : {}
}
