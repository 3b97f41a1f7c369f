import { getMergeQueueMetrics } from '../api/operations/metrics.ts'
import { getServiceStatus } from '../api/operations/status.ts'
import { defineCommand } from '../cli/command.ts'
import { pluralize } from '../domain/format.ts'
import { exitCodeOf } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { type StyledLine, signSpan, stateSpan } from '../output/styled-text.ts'
import { type ColumnSpec, linesView, table, type View } from '../output/view.ts'
import { type CheckReport, checks, runChecks } from './doctor/checks.ts'

const columns: readonly ColumnSpec[] = [
  ['CHECK', 'check'],
  ['RESULT', 'result', 'state'],
  ['FOUND', 'found'],
  ['FIX', 'fix'],
]

/** Returns a report as `--json` lists it; a skipped check is a warning there. */
const reportRecord = ({ check, result, found, fix }: CheckReport): JsonObject => ({
  check,
  result: result === 'skip' ? 'warn' : result,
  found,
  ...(fix === undefined ? {} : { fix }),
})

/** The longest text that is shown beside the name of its check. */
const maxShortText = 24

/** Returns the lines of a fix; a command that it ends with gets a line of its own. */
const fixLines = (fix: string): readonly string[] =>
  fix
    .split('\n')
    .flatMap(line => {
      const [, text, command] = /^(.*\brun:) (\S.*)$/i.exec(line) ?? []
      return text === undefined ? [line] : [text, `  ${command}`]
    })
    .filter(line => line !== '')
    .map(line => `  ${line}`)

const problemLines = (state: string, { check, found, fix = '' }: CheckReport): readonly StyledLine[] => [
  ...(found.length > maxShortText
    ? [[stateSpan(state), `  ${check}`], `  ${found}`]
    : [[stateSpan(state), `  ${check}: ${found}`]]),
  ...fixLines(fix),
]

const checkNames = (reports: readonly CheckReport[]): string => reports.map(({ check }) => check).join(', ')

/**
 * Returns the reports as a checklist for a terminal: what passed on one line (with `verbose`, each with what
 * was found), then what was skipped, the warnings and the failures with their fixes, and a line with the
 * result.
 */
function checklistView(reports: readonly CheckReport[], verbose: boolean): View {
  const byResult = (result: CheckReport['result']) => reports.filter(report => report.result === result)
  const passed = byResult('pass')
  const skipped = byResult('skip')
  const warned = byResult('warn')
  const failed = byResult('fail')
  const lines: StyledLine[] = []
  if (verbose) for (const { check, found } of passed) lines.push([signSpan('PASS'), ` ${check}: ${found}`])
  else if (passed.length > 0) lines.push([signSpan('PASS'), ` ${checkNames(passed)}`])
  for (const reason of new Set(skipped.map(({ found }) => found))) {
    const names = checkNames(skipped.filter(({ found }) => found === reason))
    lines.push([signSpan('SKIPPED'), ` ${names} ${reason}`])
  }
  for (const report of warned) lines.push(...problemLines('WARN', report))
  for (const report of failed) lines.push(...problemLines('FAIL', report))
  const warningText = warned.length === 0 ? '' : `, ${pluralize(warned.length, 'warning')}`
  if (failed.length > 0)
    lines.push([signSpan('FAIL'), ` ${pluralize(failed.length, 'check')} failed${warningText}.`])
  else if (warned.length > 0) lines.push([signSpan('WARN'), ` No check failed${warningText}.`])
  else lines.push([signSpan('PASS'), ' No problems were found.'])
  return linesView(lines)
}

export const doctorCommand = defineCommand({
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
  examples: ['mergeq doctor', 'mergeq doctor --json'],
  async run(_, context) {
    const { printer, options } = context
    if (options.dryRun) {
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
    const reports = await runChecks(context)
    await printer.print({
      records: reports.map(reportRecord),
      document: list => list,
      view: list => ({
        ...table(list, columns),
        terminalView: () => checklistView(reports, options.verbose),
      }),
    })
    await printer.end()
    return exitCodeOf(reports.some(({ result }) => result === 'fail') ? 'check-failed' : 'ok')
  },
})
