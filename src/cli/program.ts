import { allCommands } from '../commands/index.ts'
import type { ParsedArgs } from '../config/args.ts'
import { isContinuousIntegration } from '../config/continuous-integration.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import { isMergeqError, toMergeqError } from '../errors.ts'
import type { Host, Output } from '../host/host.ts'
import { bold, shouldColor } from '../output/color.ts'
import { createLogger } from '../output/logger.ts'
import { createRedactor } from '../output/redactor.ts'
import { forTerminal } from '../output/sanitize.ts'
import { escapeWorkflowCommands, isJson } from '../output/workflow-commands.ts'
import type { CommandRunner } from './command.ts'
import { parseCommandLine } from './command-parser.ts'
import type { SecretOutput } from './context.ts'
import { globalOptions, wantsJsonErrors } from './global-options.ts'
import type { HelpRequest } from './help/render-help.ts'

/** Runs one command line and returns its exit code. Every failure ends here, told once. */
export async function runProgram(outside: Host): Promise<number> {
  const { host, secrets, flush } = withRedaction(outside)
  const args = new Map<string, string[]>()
  try {
    const parsed = parseCommandLine(host, args)
    if ('leaf' in parsed) {
      const code = await parsed.leaf.run(args, host, secrets, runnerIn(host))
      await flush()
      return code
    }
    await host.out.write('text' in parsed ? parsed.text : await answerTo(parsed.asked, args, host))
    return 0
  } catch (error) {
    await flush().catch(() => undefined)
    const { aborted, reason } = host.interrupted
    const failure = toMergeqError(
      aborted && !(isMergeqError(error) && error.kind === 'interrupted') ? reason : error,
    )
    const json = wantsJsonErrors(args, host.env.MERGEQ_OUTPUT)
    await createLogger(host.err, { quiet: false, verbose: false, json }).error(failure)
    return failure.exit
  }
}

/** What the reference tells: help, a topic or a completion script, as text or, where that was typed, as data. */
async function answerTo(asked: HelpRequest, args: ParsedArgs, { env, out }: Host): Promise<string> {
  const { renderHelp } = await import('./help/render-help.ts')
  const [format = args.has('--json') ? 'json' : 'table'] = args.get('--output') ?? []
  const typed = args.get('--color')?.[0]
  const color = typed === 'always' || typed === 'never' ? typed : 'auto'
  const isBold = shouldColor({ color, env, terminal: out.terminal })
  return renderHelp(
    asked,
    { leaves: allCommands, globalWords: globalOptions, settings: Object.values(settingDefinitions) },
    {
      width: Math.min(out.columns, 100),
      format: format.toLowerCase(),
      pretty: out.terminal,
      heading: text => (isBold ? bold(text) : text),
    },
  )
}

/**
 * The world with an eye on all that is written: no token; on a terminal nothing that acts but our own sequences; in a CI
 * job nothing that acts on its runner. `flush` writes what was kept back because a token may have begun in it.
 */
function withRedaction(outside: Host): {
  readonly host: Host
  readonly secrets: SecretOutput
  readonly flush: () => Promise<void>
} {
  const { env, input } = outside
  const redactor = createRedactor()
  for (const token of [env.MERGEQ_TOKEN, env.TRUNK_API_TOKEN]) redactor.hide(token?.trim() ?? '')
  const inCi = isContinuousIntegration(env)
  const cleaned = (text: string, terminal: boolean): string => {
    const redacted = redactor.redact(terminal ? forTerminal(text) : text)
    return inCi ? escapeWorkflowCommands(redacted, isJson(text)) : redacted
  }
  const guarded = (output: Output) => {
    const pieces = redactor.createStream()
    const rest = async () => {
      const last = pieces.flush()
      if (last.length > 0) await output.write(last)
    }
    const written = redirected(output, async text => {
      const { terminal } = output
      // What this program sends to a terminal is whole; bytes elsewhere may come in pieces of any size.
      if (typeof text !== 'string' && !terminal) {
        const ready = pieces.push(text)
        if (ready.length > 0) await output.write(ready)
        return
      }
      const last = pieces.flush()
      if (last.length > 0) await output.write(last)
      await output.write(
        typeof text === 'string'
          ? cleaned(text, terminal)
          : redactor.redact(forTerminal(new TextDecoder().decode(text))),
      )
    })
    return { written, rest }
  }
  const [out, err] = [guarded(outside.out), guarded(outside.err)]
  return {
    host: {
      ...outside,
      input: {
        get terminal() {
          return input.terminal
        },
        read: () => input.read(),
        ask: (question, hidden) => input.ask(cleaned(question, true), hidden),
        keys: press => input.keys(press),
      },
      out: out.written,
      err: err.written,
    },
    secrets: {
      hide: redactor.hide,
      redact: redactor.redact,
      redactBytes: redactor.redactBytes,
      reveal: text => outside.out.write(text),
    },
    async flush() {
      await out.rest()
      await err.rest()
    },
  }
}

/** Runs further command lines in this process, in a world that is like this one but for what is said. */
const runnerIn =
  (host: Host): CommandRunner =>
  (argv, env, { terminal, out, err }) =>
    runProgram({
      ...host,
      argv,
      env,
      out: { ...redirected(host.out, out), terminal },
      err: redirected(host.err, err),
    })

/** The same output, written to elsewhere; whether it is a terminal is asked only when it matters. */
const redirected = (output: Output, write: Output['write']): Output => ({
  get terminal() {
    return output.terminal
  },
  get columns() {
    return output.columns
  },
  get rows() {
    return output.rows
  },
  get gone() {
    return output.gone ?? false
  },
  get canRedraw() {
    return output.canRedraw ?? false
  },
  write,
})
