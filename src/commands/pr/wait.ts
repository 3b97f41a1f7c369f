import { poll } from '../../api/operations/pull-requests.ts'
import { read } from '../../api/operations/queues.ts'
import { kindOfOutcome } from '../../domain/wait.ts'
import { readRuns } from '../../cli/invocation.ts'
import { rehearse } from '../../cli/run-operation.ts'
import { command } from '../../cli/command.ts'
import { printsResults, waitFields } from './wait/options.ts'
import { termsOf } from './wait/time-limits.ts'
import { waitForAll } from './wait/wait-for-all.ts'

/** `pr wait`: polls until each pull request has settled. */
export const wait = command({
  command: 'pr wait',
  summary: 'Wait until pull requests have merged, failed or been cancelled',
  on: poll,
  fields: waitFields,
  asks: [read],
  ends: Object.values(kindOfOutcome),
  prints: printsResults,
  examples: [
    'mergeq pr wait 123 --timeout 30m',
    'mergeq pr wait 123 --until tests-passed --match-head HEAD',
    'mergeq pr wait 123 124 125 -o ndjson',
  ],
  async run(flags, desk) {
    const runs = await readRuns(poll, desk)
    const terms = termsOf(flags, runs.length, desk)
    if (desk.options.dryRun) {
      const [first, ...others] = runs
      if (first === undefined) return 0
      return others.length === 0
        ? rehearse(poll, [first], desk)
        : rehearse(read, [{ values: first.values, sets: [] }], desk)
    }
    return waitForAll(
      runs.map(run => ({ run })),
      terms,
      desk,
    )
  },
})
