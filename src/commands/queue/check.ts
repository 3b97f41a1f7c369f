import { flag, on } from '../../cli/inputs.ts'
import { type Check, checkDepth, checkPaused, checkStalled } from '../../domain/queue-health.ts'
import { read } from '../../api/operations/queues.ts'
import { duration, integer, largestInteger, nameOf } from '../../domain/values/parsers.ts'
import { Failure, usage } from '../../errors.ts'
import { exchange } from '../../api/call.ts'
import { readRuns } from '../../cli/invocation.ts'
import { rehearse } from '../../cli/run-operation.ts'
import { table } from '../../output/view.ts'
import { command } from '../../cli/command.ts'

/** `queue check`: a gate on how a queue is. */
export const check = command({
  command: 'queue check',
  summary: 'Check how a queue is: 0 if all conditions hold, 21 if one does not',
  on: read,
  ends: ['check-failed'],
  prints: {
    table: 'a row for each condition',
    json: '{"ok","repo","targetBranch","checks"}',
    ndjson: 'one condition a line',
  },
  fields: {
    maxDepth: flag('--max-depth <n>', 'It lists at most so many pull requests', integer(0, largestInteger)),
    stalled: flag(
      '--stalled <duration>',
      'Of the pull requests that it lists, one changed its state in that time; or it lists none',
      duration,
    ),
    notPaused: on('--not-paused', 'It is not PAUSED'),
  },
  examples: [
    'mergeq queue check --not-paused --stalled 2h',
    'mergeq queue check --max-depth 20 --json | jq .ok',
  ],
  async run({ maxDepth, stalled, notPaused }, desk) {
    if (maxDepth === undefined && stalled === undefined && !notPaused)
      throw usage('There is nothing to check.', 'Name a condition: --max-depth, --stalled or --not-paused.')
    if (stalled === 0) throw usage('--stalled: 0 would never hold.', 'For example --stalled 2h.')
    const runs = await readRuns(read, desk)
    const [run] = runs
    if (desk.options.dryRun || run === undefined) return rehearse(read, runs, desk)
    const { reply, date } = await exchange(read, run, desk)
    const [queue = {}] = reply.records
    const checks: readonly Check[] = [
      ...(maxDepth === undefined ? [] : [checkDepth(queue, maxDepth)]),
      ...(stalled === undefined ? [] : [checkStalled(queue, stalled, date ?? desk.world.clock.now())]),
      ...(notPaused ? [checkPaused(queue)] : []),
    ]
    const failed = checks.filter(({ ok }) => !ok)
    const { repo, targetBranch } = run.values
    await desk.printer.print({
      records: checks.map(one => ({ ...one })),
      document: found => ({
        ok: failed.length === 0,
        repo: nameOf(repo),
        targetBranch,
        checks: found,
      }),
      shape: found =>
        table(found, [
          ['CHECK', 'check'],
          ['OK', 'ok'],
          ['REASON', 'reason', 'prose'],
        ]),
    })
    await desk.printer.end()
    if (failed.length === 0) return 0
    throw new Failure(
      'check-failed',
      `queue check: the queue of ${targetBranch} in ${nameOf(repo)}: ${failed.map(({ reason }) => reason).join('; ')}.`,
      { hint: 'See what is in it: mergeq queue get' },
    )
  },
})
