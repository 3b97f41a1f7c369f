import { usageError } from '../base/errors.ts'
import type { Host, ProgramOptions } from '../host/host.ts'
import { sanitizeLine } from '../output/sanitize.ts'

/** Runs a program without a shell and returns its exit code; throws if it cannot be started, and at a signal. */
export async function runUserProgram(
  { interrupted, runProgram }: Pick<Host, 'interrupted' | 'runProgram'>,
  [program = '', ...args]: readonly string[],
  options: Omit<ProgramOptions, 'until'>,
): Promise<number> {
  const { code, startError } = await runProgram(program, args, { ...options, until: interrupted })
  if (interrupted.aborted) throw interrupted.reason
  if (startError === 'ENOENT')
    throw usageError(`Command not found: ${sanitizeLine(program)}.`, 'Check the command name and your PATH.')
  if (startError !== undefined)
    throw usageError(
      `The command cannot be started: ${sanitizeLine(program)} (${startError}).`,
      'Check the command and the permissions of its file.',
    )
  return code
}
