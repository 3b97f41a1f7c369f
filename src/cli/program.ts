import type { Runner } from './command.ts'
import { leaves } from '../commands/index.ts'
import type { Given } from './inputs.ts'
import { asFailure, isFailure } from '../errors.ts'
import type { Asked } from './help/render-help.ts'
import type { Secrets } from './context.ts'
import { isCiJob } from '../config/continuous-integration.ts'
import { globalWords, wantsJsonErrors } from './global-options.ts'
import { settingTable } from '../config/setting-definitions.ts'
import { parse } from './command-parser.ts'
import { bold, isColored } from '../output/color.ts'
import { openRedactor } from '../output/redactor.ts'
import { harmless, isJson } from '../output/workflow-commands.ts'
import { forTerminal } from '../output/sanitize.ts'
import { openVoice } from '../output/logger.ts'
import type { Output, World } from '../host/host.ts'

/** Runs one command line and returns its exit code. Every failure ends here, told once. */
export async function program(outside: World): Promise<number> {
  const { world, secrets, flush } = guard(outside)
  const given = new Map<string, string[]>()
  try {
    const parsed = parse(world, given)
    if ('leaf' in parsed) {
      const code = await parsed.leaf.act(given, world, secrets, runnerIn(world))
      await flush()
      return code
    }
    await world.out.write('text' in parsed ? parsed.text : await answerTo(parsed.asked, given, world))
    return 0
  } catch (error) {
    await flush().catch(() => undefined)
    const { aborted, reason } = world.interrupted
    const failure = asFailure(aborted && !(isFailure(error) && error.kind === 'interrupted') ? reason : error)
    const json = wantsJsonErrors(given, world.env.MERGEQ_OUTPUT)
    await openVoice(world.err, { quiet: false, verbose: false, json }).fail(failure)
    return failure.exit
  }
}

/** What the reference tells: help, a topic or a completion script, as text or, where that was typed, as data. */
async function answerTo(asked: Asked, given: Given, { env, out }: World): Promise<string> {
  const { tell } = await import('./help/render-help.ts')
  const [format = given.has('--json') ? 'json' : 'table'] = given.get('--output') ?? []
  const typed = given.get('--color')?.[0]
  const color = typed === 'always' || typed === 'never' ? typed : 'auto'
  const isBold = isColored({ color, env, terminal: out.terminal })
  return tell(
    asked,
    { leaves, globalWords, settings: Object.values(settingTable) },
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
function guard(outside: World): {
  readonly world: World
  readonly secrets: Secrets
  readonly flush: () => Promise<void>
} {
  const { env, input } = outside
  const redactor = openRedactor()
  for (const token of [env.MERGEQ_TOKEN, env.TRUNK_API_TOKEN]) redactor.hide(token?.trim() ?? '')
  const inCi = isCiJob(env)
  const cleaned = (text: string, terminal: boolean): string => {
    const redacted = redactor.redact(terminal ? forTerminal(text) : text)
    return inCi ? harmless(redacted, isJson(text)) : redacted
  }
  const guarded = (output: Output) => {
    const pieces = redactor.pieces()
    const rest = async () => {
      const last = pieces.rest()
      if (last.length > 0) await output.write(last)
    }
    const written = redirected(output, async text => {
      const { terminal } = output
      // What this program sends to a terminal is whole; bytes elsewhere may come in pieces of any size.
      if (typeof text !== 'string' && !terminal) {
        const ready = pieces.take(text)
        if (ready.length > 0) await output.write(ready)
        return
      }
      const last = pieces.rest()
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
    world: {
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
  (world: World): Runner =>
  (argv, env, { terminal, out, err }) =>
    program({
      ...world,
      argv,
      env,
      out: { ...redirected(world.out, out), terminal },
      err: redirected(world.err, err),
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
