import type { CommandContext } from '../../cli/context.ts'
import { defineCustomCommand } from '../../cli/custom-command.ts'
import { printPreview } from '../../cli/preview.ts'
import { userShell } from '../../domain/user-shell.ts'
import { usageError } from '../../errors.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import { describeSandbox, openSandbox, portOption, sandboxOptions } from './server/start-options.ts'

const shellOf = ({ host: { env, runtime } }: CommandContext) => userShell(env, runtime.platform)

/** `sandbox shell`: opens the shell of the user against a sandbox and returns the exit code of the shell. */
export const sandboxShellCommand = defineCustomCommand({
  command: 'sandbox shell',
  summary: 'Open a shell in which every mergeq command uses a new sandbox',
  propagatesExitCode: true,
  output: 'the output of the shell',
  inputs: { ...portOption, ...sandboxOptions },
  examples: ['mergeq sandbox shell', 'mergeq sandbox shell --scenario failure'],
  dryRun({ port, ...values }, context) {
    const shell = sanitizeLine(shellOf(context).program)
    return printPreview(
      'sandbox shell',
      `Would open ${shell} against ${describeSandbox(values, port)}.`,
      context,
    )
  },
  async run({ port, ...values }, context) {
    const sandbox = await openSandbox(values, port, context)
    const { interrupted, runProgram, input } = context.host
    const { program, args } = shellOf(context)
    try {
      await context.logger.info(
        `This shell uses a sandbox at ${sandbox.baseUrl}. The queues in it are simulated. To leave the shell, type: exit`,
      )
      const { code, startError } = await runProgram(program, args, {
        env: sandbox.environment,
        until: interrupted,
        handlesInterrupt: input.terminal,
      })
      if (interrupted.aborted) throw interrupted.reason
      if (startError !== undefined)
        throw usageError(
          `The shell could not be started: ${sanitizeLine(program)}.`,
          'Set SHELL to the path of your shell, such as /bin/sh.',
        )
      await context.logger.info('The sandbox was stopped.')
      return code
    } finally {
      await sandbox.close()
    }
  },
})
