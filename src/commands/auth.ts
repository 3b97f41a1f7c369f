import { operationOf } from '../api/operation.ts'
import { type Field, on } from '../cli/inputs.ts'
import { metrics } from '../api/operations/metrics.ts'
import { usage } from '../errors.ts'
import { canAsk, type Desk } from '../cli/context.ts'
import { exchange } from '../api/call.ts'
import { printPreview } from '../cli/preview.ts'
import { partOf, storeFile } from '../config/store.ts'
import {
  findToken,
  isEmptyInEnvironment,
  refuseForeignAddress,
  type Token,
  tokenFrom,
  whyEmpty,
} from '../config/token.ts'
import { type JsonObject } from '../json.ts'
import { sheet } from '../output/view.ts'
import { command } from '../cli/command.ts'

/** More than any token and its white space: what is longer is refused unread. */
const mostInput = 64 * 1024

/** A token as an argument is refused: its place is standard input. The value is never repeated. */
const noArgument: Field<undefined> = {
  words: [
    { spell: '[token]', summary: 'Never given here: an argument is visible to every process', hidden: true },
  ],
  read(given) {
    if (given.has('token'))
      throw usage(
        'A token is not taken as an argument, which every process on the machine can see.',
        'Type it at the prompt of `mergeq auth login`, or pipe it: printf %s "$TOKEN" | mergeq auth login --with-token',
      )
    return undefined
  },
}

/** The origin that the base address belongs to. */
const originOf = async ({ settings }: Desk): Promise<string> => new URL(await settings.need('baseUrl')).origin

async function readInput({ world }: Desk): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let [text, read] = ['', 0]
  for await (const piece of world.input.read()) {
    read += piece.length
    if (read > mostInput) throw usage('standard input is too long to be a token.')
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

async function askForToken({ options, world }: Desk, origin: string): Promise<string> {
  if (!canAsk({ options, world }))
    throw usage(
      '`mergeq auth login` asks for the token, and nobody can answer here.',
      'Pipe it in with --with-token.',
    )
  const typed = await world.input.ask(`API token for ${origin} (not shown): `, true)
  if (typed === undefined || typed.trim() === '') throw usage('No token was typed; nothing was stored.')
  return typed
}

/** Asks the service whether it takes the token: metrics need no repository. */
const verify = (token: Token, desk: Desk) =>
  exchange(
    metrics,
    { values: { repo: undefined, branch: undefined }, sets: [] },
    { ...desk, token: async () => token },
  )

/** What a login would do: which token it takes, whether the service is asked, and where the token is stored. */
async function previewLogin(origin: string, isPiped: boolean, isUnverified: boolean, desk: Desk) {
  const from = isPiped ? 'read a token from standard input' : 'ask for a token'
  const verified = isUnverified
    ? ''
    : `, verify it with GET ${await desk.settings.need('baseUrl')}/${operationOf(metrics.route)}`
  const file = storeFile(desk)
  return printPreview('auth login', `Would ${from}${verified} and store it for ${origin} in ${file}.`, desk)
}

const login = command({
  command: 'auth login',
  summary: 'Store a token for the base address, after the service has taken it',
  asks: [metrics],
  prints: 'nothing',
  fields: {
    withToken: on('--with-token', 'Read the token from standard input'),
    noVerify: on('--no-verify', 'Store it without asking the service'),
    noArgument,
  },
  examples: ['mergeq auth login', 'printf %s "$TOKEN" | mergeq auth login --with-token'],
  async run({ withToken, noVerify }, desk) {
    const origin = await originOf(desk)
    if (desk.options.dryRun) return previewLogin(origin, withToken, noVerify, desk)
    const given = withToken ? await readInput(desk) : await askForToken(desk, origin)
    const token = tokenFrom(given, withToken ? 'standard input' : 'what was typed')
    desk.secrets.hide(token.value)
    refuseForeignAddress(token, await desk.settings.find('baseUrl'))
    if (!noVerify) await verify(token, desk)
    const { changeStore } = await import('../config/store-update.ts')
    await changeStore(desk.world, document => ({
      ...document,
      tokens: { ...partOf(document, 'tokens'), [origin]: token.value },
    }))
    await desk.voice.note(`Stored a token for ${origin}${noVerify ? ', unverified' : ''}.`)
    if (desk.given.has('--base-url'))
      await desk.voice.note(
        'The base address itself was not: `mergeq config set base-url <url>` makes it the usual one.',
      )
    if (isSetElsewhere(desk))
      await desk.voice.warn('MERGEQ_TOKEN is set and goes first: the stored token is not used here.')
    return 0
  },
})

const isSetElsewhere = ({ world }: Desk): boolean => (world.env.MERGEQ_TOKEN ?? '').trim() !== ''

const logout = command({
  command: 'auth logout',
  summary: 'Remove the stored token of the base address',
  prints: 'nothing',
  fields: {},
  examples: ['mergeq auth logout'],
  async run(_, desk) {
    const origin = await originOf(desk)
    const stored = Object.hasOwn(partOf(await desk.settings.store.read(), 'tokens'), origin)
    if (desk.options.dryRun)
      return printPreview(
        'auth logout',
        stored
          ? `Would remove the token for ${origin} from ${storeFile(desk)}.`
          : `Would change nothing: no token is stored for ${origin}.`,
        desk,
      )
    if (!stored) {
      const { sweep } = await import('../config/store-update.ts')
      await sweep(desk.world).catch(() => undefined)
      await desk.voice.note(`Nothing was stored for ${origin}.`)
      return 0
    }
    const { changeStore } = await import('../config/store-update.ts')
    await changeStore(desk.world, document => {
      const { [origin]: _, ...tokens } = partOf(document, 'tokens')
      return { ...document, tokens }
    })
    await desk.voice.note(`Removed the token for ${origin}.`)
    return 0
  },
})

/** At most the last four characters, and none of a token so short that they would give it away. */
const endOf = ({ value }: Token): string => (value.length < 12 ? '' : value.slice(-4))

const status = command({
  command: 'auth status',
  summary: 'Show which token would be sent, where it comes from, and where it would go',
  ends: ['auth'],
  prints: {
    table: 'source, origin, and the last characters',
    json: '{"source","origin","lastCharacters"}',
    ndjson: 'the same on one line',
  },
  fields: {},
  examples: ['mergeq auth status', 'mergeq auth status --json'],
  async run(_, desk) {
    const origin = await originOf(desk)
    const { env } = desk.world
    if (isEmptyInEnvironment(env)) await desk.voice.warn(whyEmpty)
    const token = await findToken(env, await desk.settings.need('baseUrl'), desk.settings.store)
    refuseForeignAddress(token, await desk.settings.find('baseUrl'))
    const record: JsonObject = { source: token.source, origin, lastCharacters: endOf(token) }
    await desk.printer.print({
      records: [record],
      document: () => record,
      shape: () =>
        sheet(record, [
          ['source', 'source'],
          ['goes to', 'origin'],
          ['ends with', 'lastCharacters'],
        ]),
    })
    await desk.printer.end()
    return 0
  },
})

const reveal = command({
  command: 'auth token',
  summary: 'Print the token itself: it will be visible where this is printed',
  ends: ['auth'],
  prints: 'the token and a newline, in every format',
  fields: {},
  examples: ['mergeq auth token | pbcopy'],
  async run(_, desk) {
    await desk.secrets.reveal(`${(await desk.token()).value}\n`)
    return 0
  },
})

export const authCommands = [login, logout, status, reveal]
