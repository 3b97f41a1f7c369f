import type { JsonObject } from '../base/json.ts'
import type { Dialect } from './dialects.ts'
import { finalStates, type Queue, type SandboxTestRun } from './engine/queue.ts'

interface Stretch {
  readonly number: number
  readonly endedAt: number
  readonly record: JsonObject
}

/**
 * Returns the finished test runs, newest first: a row for each pull request and run. The sandbox's own: it keeps all that
 * it played (docs/reference/service.md, "listMergeQueueTestingResults").
 */
export function listTestingResults(
  queue: Queue,
  since: number,
  until: number,
  { formatTime }: Dialect,
): readonly JsonObject[] {
  const stretches = [...queue.runs.values()].flatMap(run =>
    run.tested.flatMap(number => stretchOf(queue, number, run, formatTime) ?? []),
  )
  return stretches
    .filter(({ endedAt }) => endedAt >= since && endedAt <= until)
    .sort((one, other) => other.endedAt - one.endedAt || other.number - one.number)
    .map(({ record }) => record)
}

function stretchOf(
  { transitions }: Queue,
  number: number,
  run: SandboxTestRun,
  formatTime: Dialect['formatTime'],
): Stretch | undefined {
  const { id, kind, startedAt, endedAt, status, tested } = run
  if (endedAt === undefined) return undefined
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
    in_progress: undefined,
  }
  return {
    number,
    endedAt,
    record: {
      prNumber: number,
      endedAt: formatTime(endedAt),
      testingDurationMs: Math.round((endedAt - startedAt) / 1_000) * 1_000,
      outcome: outcomes[status] ?? null,
      ...(end !== undefined && { cycleConclusion: end.to.toLowerCase() }),
      ...(bisection !== undefined && { bisection }),
      testRunId: id,
    },
  }
}
