import type { JsonObject } from '../base/json.ts'
import type { Dialect } from './dialects.ts'
import { finalStates, type Queue } from './engine/queue.ts'

/** The sandbox's own: it keeps all that it played (docs/reference/service.md, "listMergeQueueTestingResults"). */
export function listTestingResults(
  { runs, transitions }: Queue,
  since: number,
  until: number,
  { formatTime }: Dialect,
): readonly JsonObject[] {
  const finished = [...runs.values()].flatMap(({ endedAt, ...run }) =>
    endedAt === undefined || endedAt < since || endedAt > until
      ? []
      : run.tested.map(number => ({ ...run, number, endedAt })),
  )
  finished.sort((one, other) => other.endedAt - one.endedAt || other.number - one.number)
  return finished.map(({ id, number, kind, startedAt, endedAt, status, tested }) => {
    const end = transitions.find(
      ({ number: other, at, to }) => other === number && at >= endedAt && finalStates.includes(to),
    )
    const hasLeft = end?.at === endedAt && end.to !== 'MERGED'
    const isSplit = status === 'failed' && tested.length > 1
    const bisection = isSplit ? 'entered_bisection' : kind === 'bisection' ? 'in_bisection' : undefined
    const outcomes = {
      succeeded: 'passed',
      failed: 'failed',
      cancelled: hasLeft ? 'cancelled' : 'interrupted',
      in_progress: null,
    }
    return {
      prNumber: number,
      endedAt: formatTime(endedAt),
      testingDurationMs: Math.round((endedAt - startedAt) / 1_000) * 1_000,
      outcome: outcomes[status],
      ...(end !== undefined && { cycleConclusion: end.to.toLowerCase() }),
      ...(bisection !== undefined && { bisection }),
      testRunId: id,
    }
  })
}
