import { type Infer, list, oneOf, ownRecord, usual } from '../api/operations/fields.ts'
import { getMergeQueueMetrics, getServiceStatus } from '../api/operations/metrics.ts'
import { getQueue } from '../api/operations/queues.ts'
import { failingTestsPage } from '../api/operations/tests.ts'
import { exitCodeOf, isMergeqError } from '../base/errors.ts'
import { memoize } from '../base/scheduling.ts'
import { type Cli, command } from '../command/command.ts'
import { factLines, type StyledLine, signSpan, stateSpan } from '../output/styled-text.ts'
import { columns } from '../output/view.ts'
import { pluralize } from '../values/format.ts'
import { type Check, checks, probeService, readOutage, type Session, type Verdict } from './doctor/checks.ts'

interface Report extends Verdict {
  readonly check: string
}

/** Runs a check. Throws only the error of a signal, and errors of mergeq itself. */
async function runCheck(check: Check, session: Session): Promise<Verdict> {
  try {
    return await check.run(session)
  } catch (error) {
    if (!isMergeqError(error) || error.kind === 'interrupted') throw error
    return { result: 'fail', found: error.message, fix: error.details.hint ?? '' }
  }
}

async function runChecks(cli: Cli): Promise<readonly Report[]> {
  const session: Session = {
    ...cli,
    probe: memoize(() => probeService(cli)),
    outage: memoize(() => readOutage(cli.client())),
  }
  const reports: Report[] = []
  for (const check of checks) {
    const unmet = reports.find(
      ({ check: name, result, isUsable }) =>
        check.needs?.includes(name) && (result === 'fail' || result === 'skip') && isUsable !== true,
    )
    const outcome =
      unmet === undefined
        ? await runCheck(check, session)
        : {
            result: 'skip' as const,
            found: unmet.result === 'skip' ? unmet.found : `skipped: the ${unmet.check} check failed`,
          }
    reports.push({ check: check.check, ...outcome })
  }
  return reports
}

const checkColumns = columns('check', ['result', { format: 'state' }], 'found', 'fix')

/** What `--json` calls the results of checks: `skip` found nothing out. */
const listedResults = { pass: 'pass', warn: 'warn', fail: 'fail', skip: 'warn', none: 'pass' } as const

const checkRecord = ownRecord({
  check: 'string',
  result: oneOf('pass', 'warn', 'fail'),
  found: 'string',
  fix: usual('string'),
})

const reportRecord = ({ check, result, found, fix }: Report): Infer<typeof checkRecord> => ({
  check,
  result: listedResults[result],
  found,
  ...(fix === undefined ? {} : { fix }),
})

const maxShortText = 24

function problemLines(state: string, { check, found, fix = '' }: Report): readonly StyledLine[] {
  const head = stateSpan(state)
  const problem: readonly StyledLine[] =
    found.length > maxShortText ? [[head, `  ${check}`], `  ${found}`] : [[head, `  ${check}: ${found}`]]
  // A command that a line ends with gets a line of its own.
  const fixLines = fix.replace(/^(.*\brun:) (?=\S)/gim, '$1\n  ').split('\n')
  return [...problem, ...fixLines.filter(line => line !== '').map(line => `  ${line}`)]
}

const checkNames = (reports: readonly Report[]): string => reports.map(({ check }) => check).join(', ')

/** What a person is shown of the setup: the settings, and the token among them. */
const shownSettings = [
  ['base URL', 'baseUrl'],
  ['profile', 'profile'],
  ['token', undefined],
  ['repository', 'repo'],
  ['target branch', 'targetBranch'],
  ['user', 'user'],
] as const

/** Returns what was found of the setup, each with its source; what a check finds fault with is left to it. */
async function findSetup(
  reports: readonly Report[],
  { settings }: Cli,
): Promise<ReadonlyMap<string, string>> {
  const setup = new Map<string, string>()
  for (const [name, setting] of shownSettings) {
    const report = reports.find(({ check }) => check === name)
    if (report !== undefined && report.result !== 'pass') continue
    const found = setting === undefined ? undefined : await settings.find(setting).catch(() => undefined)
    const text = found === undefined ? report?.found : `${found.value} (${found.origin})`
    if (text !== undefined) setup.set(name, text)
  }
  return setup
}

/** Returns the reports as a checklist: the setup, what passed, what is absent or skipped, problems, the result. */
function checklist(
  reports: readonly Report[],
  setup: ReadonlyMap<string, string>,
  verbose: boolean,
): readonly StyledLine[] {
  const byResult = (result: Verdict['result']) => reports.filter(report => report.result === result)
  const passed = byResult('pass')
  const skipped = byResult('skip')
  const warned = byResult('warn')
  const failed = byResult('fail')
  const lines: StyledLine[] = []
  // At least the check of the CI job passes.
  if (verbose) for (const { check, found } of passed) lines.push([signSpan('PASS'), ` ${check}: ${found}`])
  else {
    lines.push(...factLines([...setup]))
    lines.push([signSpan('PASS'), ` ${checkNames(passed.filter(({ check }) => !setup.has(check)))}`])
  }
  const absent = byResult('none')
  if (absent.length > 0) lines.push([signSpan('SKIPPED'), ` ${checkNames(absent)}: none`])
  for (const reason of new Set(skipped.map(({ found }) => found))) {
    const names = checkNames(skipped.filter(({ found }) => found === reason))
    lines.push([signSpan('SKIPPED'), ` ${names} ${reason}`])
  }
  for (const report of warned) lines.push(...problemLines('WARN', report))
  for (const [index, report] of failed.entries()) {
    const isRepeated = report.fix === failed[index + 1]?.fix
    lines.push(...problemLines('FAIL', isRepeated ? { ...report, fix: '' } : report))
  }
  const warningText = warned.length === 0 ? '' : `, ${pluralize(warned.length, 'warning')}`
  if (failed.length > 0)
    lines.push([signSpan('FAIL'), ` ${pluralize(failed.length, 'check')} failed${warningText}.`])
  else if (warned.length > 0) lines.push([signSpan('WARN'), ` No check failed${warningText}.`])
  else lines.push([signSpan('PASS'), ' No problems were found.'])
  return lines
}

export const definition = command({
  name: 'doctor',
  summary: 'Check the setup and suggest fixes',
  alsoSends: [getMergeQueueMetrics, getServiceStatus, failingTestsPage, getQueue],
  toleratesErrors: true,
  settings: 'optional',
  exits: ['check-failed'],
  prints: {
    table: 'a checklist; on a pipe, one row per check',
    ndjson: 'one check per line',
    documents: [list(checkRecord)],
    columns: checkColumns,
  },
  examples: ['mergeq doctor', 'mergeq doctor --json'],
  async run(_, cli) {
    const { printer, options } = cli
    if (options.dryRun) {
      const names = checks.map(({ check }) => ({ check }))
      await printer.print({ records: names, columns: columns('check') })
      return 0
    }
    const reports = await runChecks(cli)
    const setup = cli.results === 'screen' ? await findSetup(reports, cli) : new Map<string, string>()
    await printer.print({
      records: reports.map(reportRecord),
      columns: checkColumns,
      screen: () => ({ heading: checklist(reports, setup, options.verbose) }),
    })
    return exitCodeOf(reports.some(({ result }) => result === 'fail') ? 'check-failed' : 'ok')
  },
})
