import type { ParsedArgs } from '../config/args.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import { isJsonFormat } from '../domain/output-formats.ts'
import { isMergeqError, toMergeqError } from '../errors.ts'
import type { Host, Output } from '../host/host.ts'
import { createRedactor } from '../output/redactor.ts'
import { forTerminal, sanitizeLines } from '../output/sanitize.ts'
import { bold, hasUnicode, shouldColor, toAscii } from '../output/styled-text.ts'
import { escapeWorkflowCommands, isJson } from '../output/workflow-commands.ts'
import type { CommandRunner } from './command.ts'
import type { SecretOutput } from './context.ts'
import { globalOptions, wantsJsonErrors } from './global-options.ts'
import { findHelpRequest } from './help/help-request.ts'
import type { HelpRequest } from './help/render-help.ts'
import { type CommandGroup, loadCommands, type RegisteredCommand } from './registered-command.ts'
import { findTypedCommand } from './typed-command.ts'

/**
 * Runs the command line of `unfilteredHost.argv` and returns its exit code. Never rejects: every error is
 * reported once on standard error, as text or as JSON, and becomes an exit code.
 *
 * @param groups all groups of commands; only those that the command line names are loaded
 */
export async function runProgram(unfilteredHost: Host, groups: readonly CommandGroup[]): Promise<number> {
  const { host, secrets, flush } = withRedaction(unfilteredHost)
  const [hiddenCommand, ...words] = host.argv
  if (hiddenCommand === '__complete') {
    const { printCompletions } = await import('./completion/print-completions.ts')
    const commands = await loadCommands(groups.filter(isNamedIn(words)))
    return printCompletions(words, groups, commands, host, secrets)
  }
  const args = new Map<string, string[]>()
  try {
    const commands = await loadCommands(groups.filter(isNamedIn(host.argv)))
    const help = findHelpRequest(host.argv, groups, commands, globalOptions)
    for (const [name, value] of help?.options ?? []) args.set(name, [value])
    const parsed =
      help === undefined ? await parse(host, groups, commands, args) : { helpRequest: help.request }
    if ('command' in parsed) {
      const exitCode = await parsed.command.run(args, host, secrets, createCommandRunner(host, groups))
      await flush()
      return exitCode
    }
    await host.out.write(
      'text' in parsed
        ? parsed.text
        : await readDocumentation(parsed.helpRequest, groups, commands, args, host),
    )
    return 0
  } catch (error) {
    await flush().catch(() => undefined)
    if (host.env.MERGEQ_DEBUG === '1')
      await host.err.write(`${sanitizeLines(stackTraceOf(error))}\n`).catch(() => undefined)
    const { aborted, reason } = host.interrupted
    const failure = toMergeqError(
      aborted && !(isMergeqError(error) && error.kind === 'interrupted') ? reason : error,
    )
    const json = wantsJsonErrors(args, host.env.MERGEQ_OUTPUT)
    const color = shouldColor({ color: colorMode(args), env: host.env, terminal: host.err.terminal })
    const { createLogger } = await import('../output/logger.ts')
    await createLogger(host.err, { quiet: false, verbose: false, json, color }).error(failure)
    return failure.exit
  }
}

/**
 * Words that name no command, without options among them, need no parser, which would be a third of the time.
 */
async function parse(
  host: Host,
  groups: readonly CommandGroup[],
  commands: readonly RegisteredCommand[],
  args: Map<string, string[]>,
) {
  const { argv } = host
  if (!argv.some(word => word.startsWith('-')) && findTypedCommand(argv, commands).command === undefined) {
    const { unknownCommandError } = await import('./corrections/usage-error.ts')
    const failure = unknownCommandError(argv, { groups, commands })
    if (failure !== undefined) throw failure
  }
  const { parseCommandLine } = await import('./command-parser.ts')
  return parseCommandLine(host, groups, commands, args)
}

const stackTraceOf = (error: unknown): string =>
  error instanceof Error && error.stack !== undefined ? error.stack : String(error)

/** Returns the test whether a command line has the name of a group; `help 'pr get'` has the name of `pr`. */
const isNamedIn = (argv: readonly string[]) => {
  const words = new Set(argv.flatMap(word => word.split(' ')))
  return ({ name }: CommandGroup): boolean => words.has(name)
}

/**
 * Returns help, a topic or a completion script, as text or in the requested JSON format.
 *
 * @param typed the commands of the groups that the command line names
 */
async function readDocumentation(
  request: HelpRequest,
  groups: readonly CommandGroup[],
  typed: readonly RegisteredCommand[],
  args: ParsedArgs,
  { env, out }: Host,
): Promise<string> {
  const [format = args.has('--json') ? 'json' : 'table'] = args.get('--output') ?? []
  const isData = isJsonFormat(format.toLowerCase())
  const needsAll = request.kind === 'completion' || (isData && request.args.length === 0)
  const commands = needsAll ? await loadCommands(groups) : typed
  const isBold = shouldColor({ color: colorMode(args), env, terminal: out.terminal })
  const { renderHelp } = await import('./help/render-help.ts')
  return renderHelp(
    request,
    { groups, commands, globalOptions, settings: Object.values(settingDefinitions) },
    {
      width: Math.min(out.columns, 100),
      format: format.toLowerCase(),
      pretty: out.terminal,
      heading: text => (isBold ? bold(text) : text),
    },
  )
}

function colorMode(args: ParsedArgs): 'auto' | 'always' | 'never' {
  const [mode] = args.get('--color') ?? []
  return mode === 'always' || mode === 'never' ? mode : 'auto'
}

interface RedactedHost {
  readonly host: Host
  readonly secrets: SecretOutput
  /** Writes the bytes that are held back because a token may begin in them. */
  flush(): Promise<void>
}

/**
 * Returns a host that removes from all output: tokens; on a terminal, control sequences other than our own,
 * and signs that its locale does not have; in a CI job, the commands of the CI runner
 * (docs/reference/cli.md, "Workflow commands").
 */
function withRedaction(unfilteredHost: Host): RedactedHost {
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
  const filterOutput = (output: Output) => {
    const pieces = redactor.createStream()
    const flush = async () => {
      const heldBack = pieces.flush()
      if (heldBack.length > 0) await output.write(heldBack)
    }
    const filtered = redirectOutput(output, async text => {
      const { terminal } = output
      // Bytes for a terminal are complete texts. Other bytes may be split anywhere, even inside a token.
      if (typeof text !== 'string' && !terminal) {
        const ready = pieces.push(text)
        if (ready.length > 0) await output.write(ready)
        return
      }
      // A text must be written before the first `await`: ora watches the streams of the process and redraws
      // the spinner after every write outside its own calls.
      const heldBack = pieces.flush()
      if (heldBack.length > 0) await output.write(heldBack)
      await output.write(
        typeof text === 'string'
          ? filterText(text, terminal)
          : redactor.redact(forTerminal(new TextDecoder().decode(text))),
      )
    })
    return { filtered, flush }
  }
  const [out, err] = [filterOutput(unfilteredHost.out), filterOutput(unfilteredHost.err)]
  return {
    host: {
      ...unfilteredHost,
      input: {
        get terminal() {
          return input.terminal
        },
        read: () => input.read(),
        ask: (question, hidden) => input.ask(filterText(question, true), hidden),
      },
      out: out.filtered,
      err: err.filtered,
    },
    secrets: {
      hide: redactor.hide,
      redact: redactor.redact,
      redactBytes: redactor.redactBytes,
      writeUnredacted: text => unfilteredHost.out.write(text),
    },
    async flush() {
      await out.flush()
      await err.flush()
    },
  }
}

const createCommandRunner =
  (host: Host, groups: readonly CommandGroup[]): CommandRunner =>
  (argv, env, { terminal, out, err }) =>
    runProgram(
      {
        ...host,
        argv,
        env,
        out: { ...redirectOutput(host.out, out), terminal },
        err: redirectOutput(host.err, err),
      },
      groups,
    )

/** Returns an output that writes with `write` and reads its other properties from `output` on each use. */
const redirectOutput = (output: Output, write: Output['write']): Output => ({
  get terminal() {
    return output.terminal
  },
  get columns() {
    return output.columns
  },
  get rows() {
    return output.rows
  },
  get isClosed() {
    return output.isClosed ?? false
  },
  get canRedraw() {
    return output.canRedraw ?? false
  },
  hasLinks: async () => (await output.hasLinks?.()) ?? false,
  write,
})
