import { pluralize } from '../../domain/format.ts'
import { type StyledLine, signSpan, stateSpan } from '../../output/styled-text.ts'
import { linesView, type View } from '../../output/view.ts'
import type { CheckReport } from './doctor-check.ts'

/** The longest text that is shown beside the name of its check. */
const maxShortText = 24

const byResult = (reports: readonly CheckReport[], result: CheckReport['result']) =>
  reports.filter(report => report.result === result)

const checkNames = (reports: readonly CheckReport[]): string => reports.map(({ check }) => check).join(', ')

/** Returns the names of the checks that passed, on one line. */
const passedLines = (passed: readonly CheckReport[]): readonly StyledLine[] =>
  passed.length === 0 ? [] : [[signSpan('PASS'), ` ${checkNames(passed)}`]]

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

const problemLines =
  (state: string) =>
  ({ check, found, fix = '' }: CheckReport): readonly StyledLine[] => [
    ...(found.length > maxShortText
      ? [[stateSpan(state), `  ${check}`], `  ${found}`]
      : [[stateSpan(state), `  ${check}: ${found}`]]),
    ...fixLines(fix),
  ]

/** Returns a line for each reason why checks were skipped. */
function skippedLines(reports: readonly CheckReport[]): readonly StyledLine[] {
  const skipped = byResult(reports, 'skip')
  return [...new Set(skipped.map(({ found }) => found))].map(reason => [
    signSpan('SKIPPED'),
    ` ${checkNames(skipped.filter(({ found }) => found === reason))} ${reason}`,
  ])
}

function closingLine(reports: readonly CheckReport[]): StyledLine {
  const [failed, warnings] = [byResult(reports, 'fail').length, byResult(reports, 'warn').length]
  const warningText = warnings === 0 ? '' : `, ${pluralize(warnings, 'warning')}`
  if (failed > 0) return [signSpan('FAIL'), ` ${pluralize(failed, 'check')} failed${warningText}.`]
  if (warnings > 0) return [signSpan('WARN'), ` No check failed${warningText}.`]
  return [signSpan('PASS'), ' No problems were found.']
}

/**
 * Returns the reports as a checklist for a terminal: what passed on one line (with `verbose`, each
 * with what was found), then what was skipped, the warnings and the failures with their fixes, and a line
 * with the result.
 */
export function checklistView(reports: readonly CheckReport[], verbose: boolean): View {
  const passed = byResult(reports, 'pass')
  return linesView([
    ...(verbose
      ? passed.map(({ check, found }): StyledLine => [signSpan('PASS'), ` ${check}: ${found}`])
      : passedLines(passed)),
    ...skippedLines(reports),
    ...byResult(reports, 'warn').flatMap(problemLines('WARN')),
    ...byResult(reports, 'fail').flatMap(problemLines('FAIL')),
    closingLine(reports),
  ])
}
