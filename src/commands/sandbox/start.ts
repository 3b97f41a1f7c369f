import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/confirm.ts'
import { stringifyJson } from '../../json.ts'
import { describeSandbox, openSandbox, portOption, sandboxOptions } from './open-sandbox.ts'
import { detectShell, formatVariable, type ShellKind } from './user-shell.ts'

/** Returns the base URL, the lines that set the variables in a shell, and how the sandbox stops. */
function instructions(
  baseUrl: string,
  variables: Readonly<Record<string, string>>,
  shell: ShellKind,
): string {
  const lines = Object.entries(variables).map(([name, value]) => formatVariable(shell, name, value))
  return [
    `The sandbox is ready at ${baseUrl}.`,
    'In another terminal, paste these lines to use the sandbox:',
    '',
    ...lines,
    '',
    'To stop the sandbox, press Ctrl-C or close this terminal.',
    '',
  ].join('\n')
}

export const sandboxStartCommand = defineCommand({
  command: 'sandbox start',
  summary: 'Start a sandbox on this machine and run it until interrupted',
  output: {
    table: 'on a terminal, the lines to paste in another terminal; on a pipe, the JSON line',
    json: 'one line when the sandbox is ready: {"baseUrl","token"}',
    ndjson: 'the same',
  },
  options: { ...portOption, ...sandboxOptions },
  examples: [
    'mergeq sandbox start --port 8080 --scenario failure',
    'mergeq sandbox start --scenario mine.json',
  ],
  async run({ port, ...values }, context) {
    if (context.options.dryRun)
      return printPreview('sandbox start', `Would serve ${describeSandbox(values, port)}.`, context)
    const sandbox = await openSandbox(values, port, context)
    const { env, interrupted, out, runtime } = context.host
    try {
      const { baseUrl, token, variables } = sandbox
      const isForPerson = out.terminal && context.presentation !== 'json'
      await out.write(
        isForPerson
          ? instructions(baseUrl, variables, detectShell(env, runtime.platform))
          : `${stringifyJson({ baseUrl, token })}\n`,
      )
      await new Promise((_, reject) => {
        if (interrupted.aborted) reject(interrupted.reason)
        interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true })
      })
      return 0
    } finally {
      await sandbox.close()
    }
  },
})
