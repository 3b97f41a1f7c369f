import { type Infer, outline, ownRecord } from '../../api/operations/fields.ts'
import { stringifyJson } from '../../base/json.ts'
import { command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import { describeSandbox, serverOptions, useSandbox } from './shared/open-sandbox.ts'
import { detectShell, formatVariable } from './shared/shell-kind.ts'

const readyRecord = ownRecord({ baseUrl: 'string', token: 'string' })

export const definition = command({
  name: 'sandbox start',
  summary: 'Start a sandbox on this machine and run it until interrupted',
  settings: 'optional',
  prints: {
    table: 'on a terminal, the lines to paste in another terminal; on a pipe, the JSON line',
    json: `one line when the sandbox is ready: ${outline(readyRecord)}`,
    ndjson: 'the same',
    documents: [readyRecord],
  },
  options: serverOptions,
  examples: ['mergeq sandbox start --port 8080 --scenario failure'],
  async run(values, cli) {
    if (cli.options.dryRun) return printPreview(`Would serve ${describeSandbox(values)}.`, cli)
    const { env, interrupted, out, runtime } = cli.host
    return useSandbox(values, cli.host, async ({ baseUrl, token, variables }) => {
      const ready: Infer<typeof readyRecord> = { baseUrl, token }
      const shell = detectShell(env, runtime.platform)
      const isForPerson = out.terminal && cli.results !== 'json'
      const lines = isForPerson
        ? [
            `The sandbox of mergeq ${runtime.version} is ready at ${baseUrl}.`,
            'In another terminal, paste these lines to use the sandbox:',
            '',
            // Without the last one, every command says that it uses a sandbox.
            ...Object.entries({ ...variables, MERGEQ_SANDBOX_SHELL: '1' }).map(([name, value]) =>
              formatVariable(shell, name, value),
            ),
            '',
            'To stop the sandbox, press Ctrl-C or close this terminal.',
          ]
        : [stringifyJson(ready)]
      await out.write(lines.map(line => `${line}\n`).join(''))
      return new Promise((_, reject) => {
        if (interrupted.aborted) reject(interrupted.reason)
        interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true })
      })
    })
  },
})
