import type { ServiceStatus } from '../../api/read-service-status.ts'
import type { CommandContext } from '../../cli/context.ts'
import { toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { ServiceProbe } from './service-probe.ts'

export interface CheckOutcome {
  readonly result: 'pass' | 'warn' | 'fail' | 'skip'
  /** What the check found or, for a skipped check, why it did not run. */
  readonly found: string
  /** What to do about a problem; a command to copy is at the end of its line. */
  readonly fix?: string
  /** Whether checks that need this one can run although it failed or was skipped. */
  readonly isUsable?: boolean
}

export interface CheckSession {
  readonly context: CommandContext
  /** Reads the metrics once, however many checks ask for it. */
  probe(): Promise<ServiceProbe>
  /** Reads the status of the service once, without a token. */
  status(): Promise<ServiceStatus>
}

export interface Check {
  /** The name, such as `base URL`. */
  readonly check: string
  /** What the check looks at, for people. */
  readonly description: string
  /** The names of earlier checks without which this check is skipped. */
  readonly needs?: readonly string[]
  run(session: CheckSession): CheckOutcome | Promise<CheckOutcome>
}

export interface CheckReport extends CheckOutcome {
  readonly check: string
}

/** The outcome of a check that found no problem. */
export const pass = (found: string): CheckOutcome => ({ result: 'pass', found })

/** The outcome of a check that found a problem that stops only some commands, or none. */
export const warn = (found: string, fix: string): CheckOutcome => ({ result: 'warn', found, fix })

/** The outcome of a check that found nothing out; checks that need it can run. */
export const skip = (reason: string): CheckOutcome => ({
  result: 'skip',
  found: `skipped: ${reason}`,
  isUsable: true,
})

/** The outcome of a check that found an error: its message, and its hint as the fix. */
export function errorOutcome(result: 'warn' | 'fail', error: unknown): CheckOutcome {
  const { message, details } = toMergeqError(error)
  return { result, found: message, fix: details.hint ?? '' }
}

/** Runs checks in their order. A check whose needs are not met is skipped. */
export async function runChecks(
  checks: readonly Check[],
  session: CheckSession,
): Promise<readonly CheckReport[]> {
  const reports: CheckReport[] = []
  for (const { check, needs = [], run } of checks) {
    const missing = reports.find(
      ({ check, result, isUsable }) =>
        needs.includes(check) && (result === 'fail' || result === 'skip') && isUsable !== true,
    )
    const outcome: CheckOutcome =
      missing === undefined
        ? await run(session)
        : missing.result === 'skip'
          ? { result: 'skip', found: missing.found }
          : { result: 'skip', found: `skipped: the ${missing.check} check failed` }
    reports.push({ check, ...outcome })
  }
  return reports
}

/** Returns a report as `--json` lists it; a skipped check is a warning there. */
export const reportRecord = ({ check, result, found, fix }: CheckReport): JsonObject => ({
  check,
  result: result === 'skip' ? 'warn' : result,
  found,
  ...(fix === undefined ? {} : { fix }),
})
