import { isMergeqError, toMergeqError } from '../base/errors.ts'
import type { CommandGroup, CommandRunner } from '../command/command.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import type { ParsedArgs } from '../config/settings.ts'
import type { Host, InputLimit, Output } from '../host/host.ts'
import { findFormat, printsData } from '../output/output-formats.ts'
import { createRedactor } from '../output/redactor.ts'
import { escapeWorkflowCommands, forTerminal, isJson } from '../output/sanitize.ts'
import { hasUnicode, shouldColor, textStyles, toAscii } from '../output/styled-text.ts'
import { flagFormat, type ParsedCommandLine, parseCommandLine } from './parse.ts'

/** Runs a command line and returns its exit code. Never rejects: every error is reported and becomes an exit code. */
export async function runMergeq(unfilteredHost: Host, groups: readonly CommandGroup[]): Promise<number> {
  const { host, secrets } = withRedaction(unfilteredHost)
  const [hiddenCommand, ...words] = host.argv
  if (hiddenCommand === '__complete') {
    const { printCompletions } = await import('./complete.ts')
    return printCompletions(words, groups, host, secrets)
  }
  let args: ParsedArgs = new Map()
  let run: ParsedCommandLine | undefined
  const hasColor = ({ terminal }: Output) => shouldColor({ color: colorMode(args), env: host.env, terminal })
  try {
    let exitCode: number | undefined
    const reading = await parseCommandLine(host.argv, groups, async line => {
      run = line
      args = line.args
      const { runCommand } = await import('./run.ts')
      const runCommandLine = createCommandRunner(host, groups)
      exitCode = await runCommand(line.command, args, { host, secrets, runCommandLine })
    })
    if (exitCode !== undefined) return exitCode
    args = reading.args
    const { asksFor } = reading
    if (asksFor === 'error') {
      const { createUsageError } = await import('./correct.ts')
      throw await createUsageError(host.argv, reading, groups)
    }
    if (asksFor === 'version') {
      await host.out.write(`${host.runtime.version}\n`)
      return 0
    }
    const { renderHelp } = await import('./help.ts')
    const text = await renderHelp(reading, groups, {
      out: host.out,
      format: findFormat(flagFormat(args)),
      hasColor: hasColor(host.out),
      isShort: asksFor === 'short help',
      version: host.runtime.version,
    })
    await host.out.write(text)
    return 0
  } catch (error) {
    const { aborted, reason } = host.interrupted
    let failure = toMergeqError(
      aborted && !(isMergeqError(error) && error.kind === 'interrupted') ? reason : error,
    )
    if (failure.kind === 'usage' && run !== undefined) {
      const { withMeantValues } = await import('./correct.ts')
      failure = await withMeantValues(failure, host.argv, run, groups)
    }
    // The settings are not read for this, so that errors in the settings can be reported too.
    const json = printsData(findFormat(flagFormat(args) ?? host.env.MERGEQ_OUTPUT?.toLowerCase()))
    const { createLogger } = await import('../output/logger.ts')
    const stack = host.env.MERGEQ_DEBUG === '1'
    const verbose = args.has('--verbose')
    const options = { quiet: false, verbose, json, stack, color: hasColor(host.err), styles: textStyles }
    await createLogger(host.err, options).error(failure)
    return failure.exit
  }
}

function colorMode(args: ParsedArgs): 'auto' | 'always' | 'never' {
  const [mode] = args.get('--color') ?? []
  return mode === 'always' || mode === 'never' ? mode : 'auto'
}

/**
 * Returns a host that removes from all output: tokens; on a terminal, control sequences other than our own,
 * and signs that its locale does not have; in a CI job, the commands of the CI runner
 * (docs/reference/cli.md, "Workflow commands").
 */
function withRedaction(unfilteredHost: Host) {
  const { env, input } = unfilteredHost
  const redactor = createRedactor()
  for (const token of [env.MERGEQ_TOKEN, env.TRUNK_API_TOKEN]) redactor.hide(token?.trim() ?? '')
  const inCi = isContinuousIntegration(env)
  const isAscii = !hasUnicode(env, unfilteredHost.runtime.platform)
  const filterText = (text: string, terminal: boolean): string => {
    const safeText = terminal ? forTerminal(text) : text
    const redacted = redactor.redact(terminal && isAscii && !isJson(text) ? toAscii(safeText) : safeText)
    return inCi ? escapeWorkflowCommands(redacted, isJson(text)) : redacted
  }
  const filterOutput = (output: Output) =>
    redirectOutput(output, text => {
      if (typeof text === 'string') return output.write(filterText(text, output.terminal))
      // Bytes are the body of a response, which is redacted as a whole when it is read.
      return output.write(
        output.terminal
          ? redactor.redact(forTerminal(new TextDecoder().decode(text)))
          : redactor.redactBytes(text),
      )
    })
  return {
    host: {
      ...unfilteredHost,
      input: Object.assign(Object.create(input), {
        ask: (question: string, ...how: [hidden?: boolean, limit?: InputLimit]) =>
          input.ask(filterText(question, true), ...how),
      }),
      out: filterOutput(unfilteredHost.out),
      err: filterOutput(unfilteredHost.err),
    },
    secrets: { ...redactor, writeUnredacted: (text: string) => unfilteredHost.out.write(text) },
  }
}

const createCommandRunner =
  (host: Host, groups: readonly CommandGroup[]): CommandRunner =>
  (argv, env, { out, err }) =>
    runMergeq(
      { ...host, argv, env, out: redirectOutput(host.out, out), err: redirectOutput(host.err, err) },
      groups,
    )

/** Returns an output that writes with `write`; its other properties are those of `output` at each use. */
const redirectOutput = (output: Output, write: Output['write']): Output =>
  Object.assign(Object.create(output), { write })
