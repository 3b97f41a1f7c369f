import type { Context, Given } from './inputs.ts'
import { usage } from '../errors.ts'
import { isLoopback } from '../config/base-url.ts'
import { isCiJob } from '../config/continuous-integration.ts'
import { type Options, readOptions } from './global-options.ts'
import { type Purpose, type Settings, settle } from '../config/config.ts'
import { findToken, refuseForeignAddress, type Token } from '../config/token.ts'
import type { Line } from '../http/client.ts'
import { isColored } from '../output/color.ts'
import { openPrinter, type Printer, type Style } from '../output/printer.ts'
import { during } from '../output/progress.ts'
import { openVoice, type Voice } from '../output/logger.ts'
import type { World } from '../host/host.ts'

/** What one command works with while it runs. */
export interface Desk {
  readonly world: World
  readonly given: Given
  readonly settings: Settings
  readonly options: Options
  readonly voice: Voice
  readonly printer: Printer
  /** How far long work has come, for whoever waits. */
  readonly progress?: string
  /** What bounds each request besides the options; asked anew whenever a request begins. */
  readonly limits?: RequestLimits
  /**
   * Shows on a terminal, outside CI and unless -q was typed, what is being waited for until the work is done; of work
   * side by side, what began first.
   */
  during: Context['during']
  /** The token for the base address; found when it is first asked for, and hidden in all output from then on. */
  token(): Promise<Token>
  readonly secrets: Secrets
  /** The line to the service, opened when it is first needed: loading it is most of what a request costs. */
  line(): Promise<Line>
  /** Says once that the answers come from a sandbox (CLI.md section 4.14). */
  saySandbox(): Promise<void>
  /** Warns of something once in a run, however often it happens. */
  sayOnce(text: string): Promise<void>
  close(): Promise<void>
}

/** Limits that depend on the moment: they are functions, so that copying a context does not freeze them. */
export interface RequestLimits {
  /** Milliseconds that an attempt may take if it begins now; `usual` is its limit otherwise. */
  timeout(usual: number): number
  /** How often a request may be repeated if it begins now, at most `usual`; `timeout` is the limit of its attempts. */
  retries?(usual: number, timeout: number): number
}

/** What every command says once when its answers come from a sandbox. */
export const sandboxNote = 'mergeq: this is a sandbox; nothing here is real.'

/** What must not be seen, and the one way around that. */
export interface Secrets {
  /** Hides a text in everything that is written from now on. */
  hide(secret: string): void
  /** A text without what is hidden: for one that is to be cut, which must not leave a part of it. */
  redact(text: string): string
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Writes to standard output without hiding anything: for `auth token` alone. */
  reveal(text: string): Promise<void>
}

/** Sets a desk for one command. */
export async function openDesk(
  given: Given,
  world: World,
  secrets: Secrets,
  purpose: Omit<Purpose, 'say'>,
): Promise<Desk> {
  const settings = settle(given, world, { ...purpose, say: text => voice.note(text) })
  const options = await readOptions(given, settings)
  const { color, format } = options
  const voice = openVoice(world.err, { ...options, json: format === 'json' || format === 'ndjson' })
  const trouble = settings.store.trouble()
  if (trouble !== undefined) await voice.warn(`${trouble.message} Going on without them.`)
  let token: Promise<Token> | undefined
  let line: Promise<Line> | undefined
  let saidSandbox = false
  const said = new Set<string>()
  let isShowing = false
  return {
    world,
    given,
    settings,
    options,
    voice,
    printer: openPrinter(
      { write: world.out.write, pause: () => takeTurn(world) },
      styleOf({ options, world }),
    ),
    async during(text, work) {
      const { terminal, canRedraw = false } = world.err
      const isShown =
        terminal && canRedraw && !options.quiet && !isCiJob(world.env) && world.env.TERM !== 'dumb'
      if (isShowing || !isShown) return work()
      isShowing = true
      try {
        return await during(world.err, isColored({ color, env: world.env, terminal }), text, work)
      } finally {
        isShowing = false
      }
    },
    secrets,
    token() {
      token ??= settings.need('baseUrl').then(async baseUrl => {
        const found = await findToken(world.env, baseUrl, settings.store)
        secrets.hide(found.value)
        refuseForeignAddress(found, await settings.find('baseUrl'))
        return found
      })
      return token
    },
    line() {
      line ??= connect(settings, options, voice, world)
      return line
    },
    async saySandbox() {
      if (saidSandbox) return
      saidSandbox = true
      await voice.note(sandboxNote)
    },
    async sayOnce(text) {
      if (said.has(text)) return
      said.add(text)
      await voice.warn(text)
    },
    async close() {
      // A line that could not be opened was told when it was asked for.
      await line?.then(
        opened => opened.close(),
        () => undefined,
      )
    },
  }
}

/** Lets the event loop turn once, so that a signal is heard; rejects with its failure when one came. */
export async function takeTurn({ interrupted }: Pick<World, 'interrupted'>): Promise<void> {
  await new Promise(setImmediate)
  interrupted.throwIfAborted()
}

/** How answers look here. */
const styleOf = ({ options, world: { out, env, clock } }: Pick<Desk, 'options' | 'world'>): Style => ({
  ...options,
  terminal: out.terminal,
  columns: out.columns,
  color: isColored({ color: options.color, env, terminal: out.terminal }),
  now: clock.now(),
})

/** Whether a person is there to answer: never without a terminal, in CI, or with --no-input (CLI.md section 4.11). */
export const canAsk = ({ options, world }: Pick<Desk, 'options' | 'world'>): boolean =>
  world.input.terminal && !options.noInput && !isCiJob(world.env)

/** The same desk without its answer: for a step of something that gives another one. */
export const silently = (desk: Desk): Desk => ({
  ...desk,
  printer: openPrinter({ write: async () => undefined }, styleOf(desk)),
})

/** How often requests may be repeated in one run (WIRE.md section 3). */
const budget = 10

async function connect(settings: Settings, { timeout }: Options, voice: Voice, world: World): Promise<Line> {
  const caFile = await settings.read('caFile')
  const authorities = caFile === undefined ? [] : await readAuthorities(caFile, world)
  const { openLine } = await import('../http/client.ts')
  if (world.env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    await voice.warn('NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing here: certificates are checked.')
  const limit = timeout ?? Number.POSITIVE_INFINITY
  return openLine({ ...world, budget, limit, authorities, isLoopback, tell: text => voice.note(text) })
}

/** The authorities of --ca-file, and those of NODE_EXTRA_CA_CERTS, which an authority of our own would displace. */
async function readAuthorities(caFile: string, { env, files }: World): Promise<readonly string[]> {
  const own = await files.read(caFile).catch((error: Error) => {
    throw usage(
      `--ca-file: ${caFile} cannot be read: ${error.message}.`,
      'Name a file of certificates in PEM.',
    )
  })
  if (own === undefined)
    throw usage(`--ca-file: there is no file ${caFile}.`, 'Name a file of certificates in PEM.')
  const others = await files.read(env.NODE_EXTRA_CA_CERTS || '/dev/null').catch(() => undefined)
  return others === undefined || others === '' ? [own] : [own, others]
}
