import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/confirm.ts'
import { usageError } from '../../errors.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import { describeSandbox, openSandbox, portOption, sandboxOptions } from './open-sandbox.ts'
import { userShell } from './user-shell.ts'

export const sandboxShellCommand = defineCommand({
  command: 'sandbox shell',
  summary: 'Open a shell in which every mergeq command uses a new sandbox',
  propagatesExitCode: true,
  output: 'the output of the shell',
  options: { ...portOption, ...sandboxOptions },
  examples: ['mergeq sandbox shell', 'mergeq sandbox shell --scenario failure'],
  async run({ port, ...values }, context) {
    const { interrupted, runProgram, input, env, runtime } = context.host
    const { program, args } = userShell(env, runtime.platform)
    if (context.options.dryRun) {
      const preview = `Would open ${sanitizeLine(program)} against ${describeSandbox(values, port)}.`
      return printPreview('sandbox shell', preview, context)
    }
    const sandbox = await openSandbox(values, port, context)
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
