import { callOperation } from '../api/call.ts'
import { operationName } from '../api/operation.ts'
import { getMergeQueueMetrics } from '../api/operations/metrics.ts'
import { defineCommand } from '../cli/command.ts'
import { type CommandContext, canPrompt } from '../cli/context.ts'
import { flag, type Input } from '../cli/inputs.ts'
import { printPreview } from '../cli/preview.ts'
import { sectionOf, storeFile } from '../config/store.ts'
import {
  emptyTokenNote,
  findToken,
  isTokenVariableEmpty,
  parseToken,
  refuseForeignAddress,
  type Token,
} from '../config/token.ts'
import { usageError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { keyValueTable } from '../output/view.ts'

/** More than any token and its white space: what is longer is refused unread. */
const mostInput = 64 * 1024

/** A token as an argument is refused: its place is standard input. The value is never repeated. */
const noArgument: Input<undefined> = {
  definitions: [
    { syntax: '[token]', summary: 'Never given here: an argument is visible to every process', hidden: true },
  ],
  read(args) {
    if (args.has('token'))
      throw usageError(
        'A token is not taken as an argument, which every process on the machine can see.',
        'Type it at the prompt of `mergeq auth login`, or pipe it: printf %s "$TOKEN" | mergeq auth login --with-token',
      )
    return undefined
  },
}

/** The origin that the base address belongs to. */
const originOf = async ({ settings }: CommandContext): Promise<string> =>
  new URL(await settings.require('baseUrl')).origin

async function readInput({ host }: CommandContext): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let [text, read] = ['', 0]
  for await (const piece of host.input.read()) {
    read += piece.length
    if (read > mostInput) throw usageError('standard input is too long to be a token.')
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

async function askForToken({ options, host }: CommandContext, origin: string): Promise<string> {
  if (!canPrompt({ options, host }))
    throw usageError(
      '`mergeq auth login` asks for the token, and nobody can answer here.',
      'Pipe it in with --with-token.',
    )
  const typed = await host.input.ask(`API token for ${origin} (not shown): `, true)
  if (typed === undefined || typed.trim() === '') throw usageError('No token was typed; nothing was stored.')
  return typed
}

/** Asks the service whether it takes the token: metrics need no repository. */
const verify = (token: Token, context: CommandContext) =>
  callOperation({ ...context, token: async () => token }, getMergeQueueMetrics, {})

/** What a login would do: which token it takes, whether the service is asked, and where the token is stored. */
async function previewLogin(
  origin: string,
  isPiped: boolean,
  isUnverified: boolean,
  context: CommandContext,
) {
  const from = isPiped ? 'read a token from standard input' : 'ask for a token'
  const verified = isUnverified
    ? ''
    : `, verify it with GET ${await context.settings.require('baseUrl')}/${operationName(getMergeQueueMetrics.route)}`
  const file = storeFile(context)
  return printPreview(
    'auth login',
    `Would ${from}${verified} and store it for ${origin} in ${file}.`,
    context,
  )
}

const login = defineCommand({
  command: 'auth login',
  summary: 'Store a token for the base address, after the service has taken it',
  operations: [getMergeQueueMetrics],
  output: 'nothing',
  inputs: {
    withToken: flag('--with-token', 'Read the token from standard input'),
    noVerify: flag('--no-verify', 'Store it without asking the service'),
    noArgument,
  },
  examples: ['mergeq auth login', 'printf %s "$TOKEN" | mergeq auth login --with-token'],
  async run({ withToken, noVerify }, context) {
    const origin = await originOf(context)
    if (context.options.dryRun) return previewLogin(origin, withToken, noVerify, context)
    const args = withToken ? await readInput(context) : await askForToken(context, origin)
    const token = parseToken(args, withToken ? 'standard input' : 'what was typed')
    context.secrets.hide(token.value)
    refuseForeignAddress(token, await context.settings.find('baseUrl'))
    if (!noVerify) await verify(token, context)
    const { updateStore } = await import('../config/store-update.ts')
    await updateStore(context.host, document => ({
      ...document,
      tokens: { ...sectionOf(document, 'tokens'), [origin]: token.value },
    }))
    await context.logger.info(`Stored a token for ${origin}${noVerify ? ', unverified' : ''}.`)
    if (context.args.has('--base-url'))
      await context.logger.info(
        'The base address itself was not: `mergeq config set base-url <url>` makes it the usual one.',
      )
    if (isSetElsewhere(context))
      await context.logger.warn('MERGEQ_TOKEN is set and goes first: the stored token is not used here.')
    return 0
  },
})

const isSetElsewhere = ({ host }: CommandContext): boolean => (host.env.MERGEQ_TOKEN ?? '').trim() !== ''

const logout = defineCommand({
  command: 'auth logout',
  summary: 'Remove the stored token of the base address',
  output: 'nothing',
  inputs: {},
  examples: ['mergeq auth logout'],
  async run(_, context) {
    const origin = await originOf(context)
    const stored = Object.hasOwn(sectionOf(await context.settings.store.read(), 'tokens'), origin)
    if (context.options.dryRun)
      return printPreview(
        'auth logout',
        stored
          ? `Would remove the token for ${origin} from ${storeFile(context)}.`
          : `Would change nothing: no token is stored for ${origin}.`,
        context,
      )
    if (!stored) {
      const { removeTemporaryFiles } = await import('../config/store-update.ts')
      await removeTemporaryFiles(context.host).catch(() => undefined)
      await context.logger.info(`Nothing was stored for ${origin}.`)
      return 0
    }
    const { updateStore } = await import('../config/store-update.ts')
    await updateStore(context.host, document => {
      const { [origin]: _, ...tokens } = sectionOf(document, 'tokens')
      return { ...document, tokens }
    })
    await context.logger.info(`Removed the token for ${origin}.`)
    return 0
  },
})

/** At most the last four characters, and none of a token so short that they would give it away. */
const endOf = ({ value }: Token): string => (value.length < 12 ? '' : value.slice(-4))

const status = defineCommand({
  command: 'auth status',
  summary: 'Show which token would be sent, where it comes from, and where it would go',
  exitKinds: ['auth'],
  output: {
    table: 'source, origin, and the last characters',
    json: '{"source","origin","lastCharacters"}',
    ndjson: 'the same on one line',
  },
  inputs: {},
  examples: ['mergeq auth status', 'mergeq auth status --json'],
  async run(_, context) {
    const origin = await originOf(context)
    const { env } = context.host
    if (isTokenVariableEmpty(env)) await context.logger.warn(emptyTokenNote)
    const token = await findToken(env, await context.settings.require('baseUrl'), context.settings.store)
    refuseForeignAddress(token, await context.settings.find('baseUrl'))
    const record: JsonObject = { source: token.source, origin, lastCharacters: endOf(token) }
    await context.printer.print({
      records: [record],
      document: () => record,
      shape: () =>
        keyValueTable(record, [
          ['source', 'source'],
          ['goes to', 'origin'],
          ['ends with', 'lastCharacters'],
        ]),
    })
    await context.printer.end()
    return 0
  },
})

const reveal = defineCommand({
  command: 'auth token',
  summary: 'Print the token itself: it will be visible where this is printed',
  exitKinds: ['auth'],
  output: 'the token and a newline, in every format',
  inputs: {},
  examples: ['mergeq auth token | pbcopy'],
  async run(_, context) {
    await context.secrets.reveal(`${(await context.token()).value}\n`)
    return 0
  },
})

export const authCommands = [login, logout, status, reveal]
