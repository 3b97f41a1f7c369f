import { get, getArray, getString, type Json, type JsonObject } from '../json.ts'

/**
 * The checks of a test run's record: check runs, then the newest status of each context (service-observed.md section
 * 2.5). A field that the record lacks is undefined.
 */
export function checksOf(run: Json): readonly JsonObject[] {
  const checks = getArray(run, 'checkSuites')
    .flatMap(suite => getArray(suite, 'checkRuns'))
    .map(check => ({
      kind: 'check',
      name: get(check, 'name'),
      state: get(check, 'conclusion') ?? get(check, 'status'),
      url: get(check, 'url'),
    }))
  const newest = new Map(
    getArray(run, 'statusChecks')
      .toReversed()
      .map(status => [getString(status, 'context'), status]),
  )
  const statuses = [...newest.values()].toReversed().map(status => ({
    kind: 'status',
    name: get(status, 'context'),
    state: get(status, 'state'),
    url: get(status, 'url'),
  }))
  return [...checks, ...statuses]
}
