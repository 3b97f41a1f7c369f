import { get, getNumber, type Json, type JsonObject } from '../base/json.ts'
import { formatRate } from '../values/format.ts'

export interface RateFormat {
  /** Takes a test of the list, also one that is not shown. */
  see(test: JsonObject): void
  /** Returns the rate of a test: percent, or the number of the service. */
  format(test: JsonObject | undefined, path: string): Json | undefined
}

/**
 * Creates the format of the failure rates of one list. Their unit is not documented: they are shares, shown as percent,
 * only where no rate of the whole list is above 1.
 */
export function createRateFormat(tests: readonly JsonObject[] = []): RateFormat {
  let areShares = true
  const see = (test: JsonObject) => {
    for (const path of ['failure_rate_last_7d', 'failure_rate_last_24h'])
      if ((getNumber(test, path) ?? 0) > 1) areShares = false
  }
  for (const test of tests) see(test)
  return {
    see,
    format(test, path) {
      const rate = get(test, path)
      return typeof rate === 'number' && Number.isFinite(rate) && areShares ? formatRate(rate) : rate
    },
  }
}
