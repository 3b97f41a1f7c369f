import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/preview.ts'
import { stringifyJson } from '../../json-text.ts'
import { describeSandbox, openSandbox, portOption, sandboxOptions } from './server/start-options.ts'

/** `sandbox start`: serves a sandbox until a signal ends the process. */
export const sandboxStartCommand = defineCommand({
  command: 'sandbox start',
  summary: 'Start a sandbox on this machine and run it until interrupted',
  output: 'one JSON line when the sandbox is ready: {"baseUrl","token"}',
  inputs: { ...portOption, ...sandboxOptions },
  examples: [
    'mergeq sandbox start --port 8080 --scenario failure',
    'mergeq sandbox start --scenario mine.json',
  ],
  dryRun: ({ port, ...values }, context) =>
    printPreview('sandbox start', `Would serve ${describeSandbox(values, port)}.`, context),
  async run({ port, ...values }, context) {
    const sandbox = await openSandbox(values, port, context)
    const { interrupted, out } = context.host
    try {
      await out.write(`${stringifyJson({ baseUrl: sandbox.baseUrl, token: sandbox.token })}\n`)
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
