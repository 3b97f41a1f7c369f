import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { Input } from '../../cli/inputs.ts'
import { printPreview } from '../../cli/preview.ts'
import { defaultScenario } from '../../domain/scenario-names.ts'
import { usageError } from '../../errors.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import type { ScenarioReport } from '../../sandbox/scenario-report.ts'
import { open, playFields, portField, sandboxText } from './start-options.ts'

const commandLine: Input<readonly string[]> = {
  definitions: [{ syntax: '<command...>', summary: 'The command to run, after --' }],
  read: args => args.get('command') ?? [],
}

/** Says how a rehearsal went, in a line or two; nothing where no queue was rehearsed. */
async function report(
  { submitted, unseen, ...counts }: ScenarioReport,
  scenario: string | undefined,
  { logger }: CommandContext,
): Promise<void> {
  if (submitted === 0 && scenario === undefined) return
  const { merged, failed, cancelled, held, queued } = counts
  await logger.info(
    `mergeq: in the sandbox: ${merged} merged, ${failed} failed, ${cancelled} cancelled, ${held} held on the way, ${queued} still queued.`,
  )
  if (unseen.length > 0)
    await logger.info(
      `mergeq: your script never saw ${unseen.join(', or ')}, which the scenario ${scenario ?? defaultScenario} has.`,
    )
}

export const sandboxExecCommand = defineCommand({
  command: 'sandbox exec',
  summary: 'Run a command against a sandbox of its own, and pass its exit code on',
  propagatesExitCode: true,
  output: 'what the command prints',
  inputs: { ...portField, ...playFields, commandLine },
  examples: ["mergeq sandbox exec -- sh -c 'mergeq pr submit 7 && mergeq pr wait 7 --interval 1s'"],
  async run({ port, commandLine: [program = '', ...args], ...values }, context) {
    if (context.options.dryRun) {
      const would = `Would run ${[program, ...args].map(sanitizeLine).join(' ')} against ${sandboxText(values, port)}.`
      return printPreview('sandbox exec', would, context)
    }
    const sandbox = await open(values, port, context)
    const { interrupted, spawn } = context.host
    try {
      const { code } = await spawn(program, args, {
        env: sandbox.environment,
        output: 'inherit',
        until: interrupted,
      })
      if (interrupted.aborted) throw interrupted.reason
      if (code === 127)
        throw usageError(`the command ${sanitizeLine(program)} could not be found.`, 'Is it on the PATH?')
      await report(sandbox.report(), values.scenario, context)
      return code
    } finally {
      await sandbox.close()
    }
  },
})
