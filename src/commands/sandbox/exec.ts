import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { Input } from '../../cli/inputs.ts'
import { type MergeqError, usageError } from '../../errors.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import type { ScenarioReport } from '../../sandbox/sandbox.ts'
import { describeSandbox, openSandbox, portOption, sandboxOptions } from './open-sandbox.ts'

/** The command to run, with its arguments. */
const commandLine: Input<readonly string[]> = {
  definitions: [
    {
      name: 'command',
      required: true,
      variadic: true,
      program: true,
      summary: 'Command to run, with its own options and arguments',
    },
  ],
  read: args => args.get('command') ?? [],
}

/**
 * Logs how many pull requests reached each end, and which results of the scenario the command never read.
 * Logs nothing when no pull request was submitted and no scenario was named.
 */
async function logReport(
  { submitted, unseen, ...counts }: ScenarioReport,
  scenario: string,
  { args, logger }: CommandContext,
): Promise<void> {
  if (submitted === 0 && !args.has('--scenario')) return
  const { merged, failed, cancelled, held, queued } = counts
  await logger.info(
    `mergeq: sandbox: ${merged} merged, ${failed} failed, ${cancelled} cancelled, ${held} held in PENDING_FAILURE, ${queued} still queued.`,
  )
  if (unseen.length > 0)
    await logger.info(
      `mergeq: sandbox: the command did not see these outcomes of scenario ${scenario}: ${unseen.join(', ')}.`,
    )
}

/** What a system error says about a program; ENOENT is a program that was not found. */
const startErrors: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  ENAMETOOLONG: 'its name is too long',
  E2BIG: 'its arguments are too long',
  ENOEXEC: 'it is not a program',
  EFTYPE: 'it is not a program',
}

function startFailure(program: string, startError: string): MergeqError {
  if (startError === 'ENOENT')
    return usageError(`Command not found: ${program}.`, 'Check the command name and your PATH.')
  return usageError(
    `The command cannot be started: ${program} (${startErrors[startError] ?? startError}).`,
    'Check the command and the permissions of its file.',
  )
}

export const sandboxExecCommand = defineCommand({
  command: 'sandbox exec',
  summary: 'Run a command in a new sandbox and return its exit code',
  propagatesExitCode: true,
  output: 'the output of the command',
  options: { ...portOption, ...sandboxOptions, commandLine },
  examples: ["mergeq sandbox exec -- sh -c 'mergeq pr submit 7 && mergeq pr wait 7 --interval 1s'"],
  async run({ port, commandLine: words, ...values }, context) {
    if (context.options.dryRun) {
      const preview = `Would run ${words.map(sanitizeLine).join(' ')} against ${describeSandbox(values, port)}.`
      return printPreview('sandbox exec', preview, context)
    }
    const [program = '', ...args] = words
    const sandbox = await openSandbox(values, port, context)
    const { interrupted, runProgram } = context.host
    try {
      const { code, startError } = await runProgram(program, args, {
        env: sandbox.environment,
        until: interrupted,
      })
      if (interrupted.aborted) throw interrupted.reason
      if (startError !== undefined) throw startFailure(sanitizeLine(program), startError)
      await logReport(sandbox.report(), values.scenario, context)
      return code
    } finally {
      await sandbox.close()
    }
  },
})
