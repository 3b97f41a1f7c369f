import { usageError } from '../../base/errors.ts'
import { command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import type { Environment } from '../../host/host.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import { shellQuote } from '../../values/suggested-command.ts'
import { describeSandbox, serverOptions, useSandbox } from './shared/open-sandbox.ts'
import { detectShell, userModules } from './shared/shell-kind.ts'

/** `SHELL`, and on Windows the PowerShell from which the process was started, or cmd. */
export function userShell(env: Environment, platform: string) {
  const { ComSpec = '', PSModulePath = '', SHELL = '' } = env
  if (platform !== 'win32') return { program: SHELL === '' ? '/bin/sh' : SHELL, args: [] }
  if (detectShell({ PSModulePath }, platform) === 'cmd')
    return { program: ComSpec === '' ? 'cmd.exe' : ComSpec, args: [] }
  const isWindowsPowerShell = userModules.exec(PSModulePath)?.[1]?.toLowerCase() === 'windowspowershell'
  return { program: isWindowsPowerShell ? 'powershell.exe' : 'pwsh.exe', args: ['-NoLogo'] }
}

/** Returns the variables that put `(sandbox)` before the prompt of a shell, as far as its own files leave them. */
function promptVariables(
  program: string,
  { PROMPT = '$P$G', PROMPT_COMMAND = '', PS1 = '$ ' }: Environment,
): Environment {
  // The files that bash reads when it starts set PS1: it is changed before the first prompt.
  if (/bash(?:\.exe)?$/i.test(program))
    return { PROMPT_COMMAND: `PS1="(sandbox) $PS1"; PROMPT_COMMAND=${shellQuote(PROMPT_COMMAND)}` }
  return /cmd(?:\.exe)?$/i.test(program) ? { PROMPT: `(sandbox) ${PROMPT}` } : { PS1: `(sandbox) ${PS1}` }
}

/** What the queue of a new shell has: one is tested, and two are behind it. */
const heldPullRequests = [4, 5, 6]

export const definition = command({
  name: 'sandbox shell',
  summary: 'Open a shell in which every mergeq command uses a new sandbox',
  propagatesExitCode: true,
  settings: 'optional',
  prints: 'the output of the shell',
  options: serverOptions,
  examples: ['mergeq sandbox shell', 'mergeq sandbox shell --scenario failure'],
  async run(values, cli) {
    const { interrupted, runProgram, input, env, runtime } = cli.host
    const { program, args } = userShell(env, runtime.platform)
    if (cli.options.dryRun) {
      const preview = `Would open ${sanitizeLine(program)} against ${describeSandbox(values)}.`
      return printPreview(preview, cli)
    }
    return useSandbox({ ...values, held: heldPullRequests }, cli.host, async sandbox => {
      await cli.logger.info(
        `This shell uses a sandbox of mergeq ${runtime.version} at ${sandbox.baseUrl}. The queues in it are simulated.`,
      )
      await cli.logger.info(
        'Three pull requests are in the queue, and wait for your first command that submits or waits. Any other number works, too.',
      )
      await cli.logger.info('For a start, type: mergeq queue get')
      await cli.logger.info('Then type: mergeq pr submit 7 --wait')
      await cli.logger.info('To leave the shell, type: exit')
      const { code, startError } = await runProgram(program, args, {
        env: { ...sandbox.environment, ...promptVariables(program, env), MERGEQ_SANDBOX_SHELL: '1' },
        until: interrupted,
        handlesInterrupt: input.terminal,
      })
      if (interrupted.aborted) throw interrupted.reason
      if (startError !== undefined)
        throw usageError(
          `The shell could not be started: ${sanitizeLine(program)}.`,
          'Set SHELL to the path of your shell, such as /bin/sh.',
        )
      await cli.logger.info('The sandbox was stopped.')
      return code
    })
  },
})
