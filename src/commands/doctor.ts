import { getMergeQueueMetrics } from '../api/operations/metrics.ts'
import { getServiceStatus } from '../api/operations/status.ts'
import { readServiceStatus } from '../api/read-service-status.ts'
import type { CommandContext } from '../cli/context.ts'
import { defineCustomCommand } from '../cli/custom-command.ts'
import { memoize } from '../domain/memoize.ts'
import { exitCodeOf } from '../errors.ts'
import { type ColumnSpec, table } from '../output/view.ts'
import { checklistView } from './doctor/checklist-view.ts'
import { reportRecord, runChecks } from './doctor/doctor-check.ts'
import { directoryChecks, setupChecks } from './doctor/machine-checks.ts'
import { serviceChecks } from './doctor/service-checks.ts'
import { probeService } from './doctor/service-probe.ts'

const checks = [...setupChecks, ...serviceChecks, ...directoryChecks]

const columns: readonly ColumnSpec[] = [
  ['CHECK', 'check'],
  ['RESULT', 'result', 'state'],
  ['FOUND', 'found'],
  ['FIX', 'fix'],
]

async function listChecks({ printer }: CommandContext): Promise<number> {
  await printer.print({
    records: checks.map(({ check, description }) => ({ check, looksAt: description })),
    document: list => list,
    view: list =>
      table(list, [
        ['CHECK', 'check', 'id'],
        ['DESCRIPTION', 'looksAt', 'prose'],
      ]),
  })
  await printer.end()
  return 0
}

/** `doctor`: checks the setup and suggests fixes; exits with `check-failed` if a check fails. */
export const doctorCommand = defineCustomCommand({
  command: 'doctor',
  summary: 'Check the setup and suggest fixes',
  operations: [getMergeQueueMetrics, getServiceStatus],
  toleratesErrors: true,
  exitKinds: ['check-failed'],
  output: {
    table: 'a checklist; on a pipe, one row per check',
    json: '[{"check","result","found","fix"}]',
    ndjson: 'one check per line',
  },
  // --dry-run lists the checks with what each looks at.
  fields: {
    names: ['check', 'result', 'found', 'fix', 'looksAt'],
    columns: [...columns, ['DESCRIPTION', 'looksAt']],
  },
  inputs: {},
  examples: ['mergeq doctor', 'mergeq doctor --json'],
  dryRun: (_, context) => listChecks(context),
  async run(_, context) {
    const reports = await runChecks(checks, {
      context,
      probe: memoize(() => probeService(context)),
      status: memoize(() => readServiceStatus(context.client())),
    })
    await context.printer.print({
      records: reports.map(reportRecord),
      document: list => list,
      view: list => ({
        ...table(list, columns),
        terminalView: () => checklistView(reports, context.options.verbose),
      }),
    })
    await context.printer.end()
    return exitCodeOf(reports.some(({ result }) => result === 'fail') ? 'check-failed' : 'ok')
  },
})
