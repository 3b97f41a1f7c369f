import { get, getArray, getString, type Json, type JsonObject } from '../json.ts'

/**
 * Returns the checks of a test run (docs/reference/service.md, "getMergeQueueTestingDetails"): all check
 * runs, then the newest status of each context. Each has `kind`, `name`, `state` and `url`; a value that the
 * run lacks is undefined.
 */
export function readChecks(run: Json): readonly JsonObject[] {
  const checkRuns = getArray(run, 'checkSuites')
    .flatMap(suite => getArray(suite, 'checkRuns'))
    .map(check => ({
      kind: 'check',
      name: get(check, 'name'),
      state: get(check, 'conclusion') ?? get(check, 'status'),
      url: get(check, 'url'),
    }))
  const newestByContext = new Map(
    getArray(run, 'statusChecks')
      .toReversed()
      .map(status => [getString(status, 'context'), status]),
  )
  const statuses = [...newestByContext.values()].toReversed().map(status => ({
    kind: 'status',
    name: get(status, 'context'),
    state: get(status, 'state'),
    url: get(status, 'url'),
  }))
  return [...checkRuns, ...statuses]
}
