import { command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import type { Input } from '../../command/inputs.ts'
import { runUserProgram } from '../../command/user-program.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import { describeSandbox, serverOptions, useSandbox } from './shared/open-sandbox.ts'

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

export const definition = command({
  name: 'sandbox exec',
  summary: 'Run a command in a new sandbox and return its exit code',
  propagatesExitCode: true,
  settings: 'optional',
  prints: 'the output of the command',
  options: { ...serverOptions, commandLine },
  examples: ["mergeq sandbox exec -- sh -c 'mergeq pr submit 7 && mergeq pr wait 7'"],
  async run({ commandLine: words, ...values }, cli) {
    const { host, options } = cli
    if (options.dryRun) {
      const preview = `Would run ${words.map(sanitizeLine).join(' ')} against ${describeSandbox(values)}.`
      return printPreview(preview, cli)
    }
    return useSandbox(values, host, sandbox => runUserProgram(host, words, { env: sandbox.environment }))
  },
})
