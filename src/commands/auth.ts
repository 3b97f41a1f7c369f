import { callOperation } from '../api/call.ts'
import { operationName } from '../api/operation.ts'
import { getMergeQueueMetrics } from '../api/operations/metrics.ts'
import type { Cli } from '../cli/cli.ts'
import type { AnyCommand } from '../cli/command.ts'
import { canPrompt } from '../cli/confirm.ts'
import { defineCommand } from '../cli/define-command.ts'
import { printPreview } from '../cli/dry-run.ts'
import { flag, type Input } from '../cli/inputs.ts'
import { parentDirectory, sectionOf, storeFile, updateStore } from '../config/store.ts'
import {
  defaultOrigin,
  emptyTokenNote,
  isTokenVariableEmpty,
  parseToken,
  type Token,
} from '../config/token.ts'
import { joinCommandLine } from '../domain/suggested-command.ts'
import { readText } from '../domain/values/text.ts'
import { isPermanent, MergeqError, toMergeqError, usageError } from '../errors.ts'
import { type StyledLine, signSpan } from '../output/styled-text.ts'
import { cellOf, columns, keyValueTable, singleRecord } from '../output/view.ts'

/** Tokens are stored by origin. Throws the error of the `baseUrl` setting. */
const readOrigin = async ({ settings }: Cli): Promise<string> =>
  new URL(await settings.require('baseUrl')).origin

/**
 * Verifies a token with a request for the metrics, which need no repository. Throws the error of the request;
 * its kind is `auth` if the service rejects the token.
 */
async function verifyToken(token: Token, context: Cli): Promise<void> {
  await callOperation({ ...context.client(), token: async () => token }, getMergeQueueMetrics, {})
}

/** Returns the request of a verification as a preview names it. */
const describeVerification = async ({ settings }: Cli): Promise<string> =>
  `GET ${await settings.require('baseUrl')}/${operationName(getMergeQueueMetrics.route)}`

/** Upper limit for a token and the white space around it, in bytes. */
const maxInputBytes = 64 * 1024

/** Refuses a token that is typed as an argument, without repeating it. */
const tokenArgument: Input<undefined> = {
  definitions: [
    { name: 'token', summary: 'Not accepted: arguments are visible to every process', hidden: true },
  ],
  read(args) {
    if (args.has('token'))
      throw usageError(
        'A token cannot be given as an argument: arguments are visible to every process on the machine.',
        'Run `mergeq auth login` and enter the token at the prompt, or pipe it: printf %s "$TOKEN" | mergeq auth login --with-token',
      )
    return undefined
  },
}

/** Says where the tokens of a service are made. */
const tokenSource = (origin: string): readonly string[] =>
  origin === defaultOrigin
    ? [
        'Copy the organization API token (v1) from the settings at https://app.trunk.io. Each organization has one.',
        'API keys that begin with trunk_v2_ do not work here. Learn more: https://docs.trunk.io/api/authentication/legacy',
      ]
    : [`To get an API token for ${origin}, ask the administrator of this service.`]

async function askForToken(origin: string, context: Cli): Promise<string> {
  const { host, logger } = context
  if (!canPrompt(context))
    throw usageError(
      'Cannot prompt for a token without a terminal, in CI or with --no-input.',
      'Pipe the token: printf %s "$TOKEN" | mergeq auth login --with-token',
    )
  for (const line of tokenSource(origin)) await logger.info(line)
  const typed = (await host.input.ask(`API token for ${origin} (not shown): `, true)) ?? ''
  if (typed.trim() === '')
    throw usageError('No token was entered; nothing was stored.', 'Run: mergeq auth login')
  return typed
}

const authLoginCommand = defineCommand({
  command: 'auth login',
  summary: 'Verify an API token and store it',
  operations: [getMergeQueueMetrics],
  output: 'nothing',
  options: {
    withToken: flag('Read the token from standard input'),
    noVerify: flag('Store the token without verifying it'),
    tokenArgument,
  },
  examples: ['mergeq auth login', 'printf %s "$TOKEN" | mergeq auth login --with-token'],
  async run({ withToken, noVerify }, context) {
    const { host, settings, secrets, logger } = context
    const origin = await readOrigin(context)
    if (context.options.dryRun) {
      const reading = withToken ? 'read a token from standard input' : 'prompt for a token'
      const verification = noVerify ? '' : `, verify it with ${await describeVerification(context)}`
      const would = `Would ${reading}${verification} and store it for ${origin} in ${storeFile(context)}.`
      return printPreview('auth login', would, context)
    }
    const input = withToken
      ? await readText(host.input.read(), 'Standard input', maxInputBytes)
      : await askForToken(origin, context)
    const token = parseToken(input, withToken ? 'standard input' : 'the prompt')
    secrets.hide(token.value)
    if (!noVerify) await verifyToken(token, context)
    await updateStore(host, document => ({
      ...document,
      tokens: { ...sectionOf(document, 'tokens'), [origin]: token.value },
    }))
    await logger.info(`Stored the token for ${origin}${noVerify ? ' without verifying it' : ''}.`)
    if (context.args.has('--base-url'))
      await logger.info(
        `Only the token was stored, not the base URL. To make this base URL the default, run: ${joinCommandLine(['config', 'set', 'base-url', await settings.require('baseUrl')])}`,
      )
    if (host.env.MERGEQ_TOKEN !== undefined && !isTokenVariableEmpty(host.env))
      await logger.warn('MERGEQ_TOKEN is set and takes precedence over the stored token.')
    return 0
  },
})

const authLogoutCommand = defineCommand({
  command: 'auth logout',
  destructive: true,
  summary: 'Remove the stored token for the base URL',
  output: 'nothing',
  examples: ['mergeq auth logout'],
  async run(_, context) {
    const { host, settings, logger } = context
    const origin = await readOrigin(context)
    const isStored = Object.hasOwn(sectionOf(await settings.store.read(), 'tokens'), origin)
    if (context.options.dryRun) {
      const preview = isStored
        ? `Would remove the token for ${origin} from ${storeFile(context)}.`
        : `Would change nothing: no token is stored for ${origin}.`
      return printPreview('auth logout', preview, context)
    }
    if (isStored)
      await updateStore(host, document => {
        const { [origin]: _, ...tokens } = sectionOf(document, 'tokens')
        return { ...document, tokens }
      })
    else if (
      settings.store.path !== undefined &&
      (await host.files.exists(parentDirectory(settings.store.path)))
    )
      // A write also removes what a killed write left behind, which may contain the token.
      await updateStore(host, document => document).catch(() => undefined)
    await logger.info(isStored ? `Removed the token for ${origin}.` : `No token is stored for ${origin}.`)
    return 0
  },
})

/** Returns the last four characters of a token, or nothing for a token of fewer than twelve characters. */
const formatTokenEnd = ({ value }: Token): string => (value.length < 12 ? '' : value.slice(-4))

const facts = columns(
  ['source', 'source'],
  ['origin', 'origin'],
  ['token ends with', 'lastCharacters'],
  ['verification', 'verification'],
)

/** Verifies a token. Throws an error of this machine, such as an interruption. */
async function checkToken(token: Token, context: Cli) {
  try {
    await verifyToken(token, context)
    return { verification: 'accepted' }
  } catch (error) {
    const failure = toMergeqError(error)
    const { kind, message, details } = failure
    if (kind === 'auth') return { verification: 'rejected', failure }
    if (isPermanent(failure)) throw failure
    const text = `The token could not be verified: ${message}`
    return { verification: 'unavailable', failure: new MergeqError('unavailable', text, details) }
  }
}

/** Returns the status of a token that was not rejected, in a sentence. */
function statusLine(
  { source, isStored }: Token,
  {
    origin,
    lastCharacters,
    verification,
  }: { readonly origin: string; readonly lastCharacters: string; readonly verification: string },
): StyledLine {
  const name = isStored === true ? 'the stored token' : `the token from ${source}`
  const token = lastCharacters === '' ? name : `${name} (it ends with ${lastCharacters})`
  return verification === 'accepted'
    ? [signSpan('PASS'), ` ${origin} accepts ${token}.`]
    : `${token.charAt(0).toUpperCase()}${token.slice(1)} is used for ${origin}; it was not verified.`
}

const authStatusCommand = defineCommand({
  command: 'auth status',
  summary: 'Show which token is used and whether the service accepts it',
  operations: [getMergeQueueMetrics],
  toleratesErrors: true,
  exitKinds: ['auth', 'unavailable'],
  output: {
    table: 'the source, origin and last characters of the token, and whether the service accepts it',
    json: '{"source","origin","lastCharacters","verification"}; verification is accepted, rejected, unavailable or skipped',
    ndjson: 'the same, on one line',
  },
  fields: { names: ['source', 'origin', 'lastCharacters', 'verification'], columns: facts },
  options: { noVerify: flag('Do not send the token to the service') },
  examples: ['mergeq auth status', 'mergeq auth status --json'],
  async run({ noVerify }, context) {
    if (context.options.dryRun) {
      const verification = noVerify ? '' : ` and verify the token with ${await describeVerification(context)}`
      return printPreview('auth status', `Would show which token is used${verification}.`, context)
    }
    const origin = await readOrigin(context)
    // Without a token, the error says the same.
    const token = await context.client().token()
    if (isTokenVariableEmpty(context.host.env)) await context.logger.warn(emptyTokenNote)
    const { verification, failure } = noVerify
      ? { verification: 'skipped' }
      : await checkToken(token, context)
    const record = { source: token.source, origin, lastCharacters: formatTokenEnd(token), verification }
    await context.printer.print({
      ...singleRecord(record),
      ...keyValueTable(
        record,
        facts.filter(fact => cellOf(fact, record) !== ''),
      ),
      screen: () => ({ heading: failure === undefined ? [statusLine(token, record)] : [] }),
    })
    if (failure !== undefined) throw failure
    return 0
  },
})

/** `auth token`: prints the token itself, the only output that is not redacted. */
const authTokenCommand = defineCommand({
  command: 'auth token',
  summary: 'Print the API token in plain text',
  exitKinds: ['auth'],
  output: 'the token, in every format',
  examples: ['mergeq auth token | pbcopy'],
  async run(_, context) {
    await context.secrets.writeUnredacted(`${(await context.client().token()).value}\n`)
    return 0
  },
})

export const authCommands: readonly AnyCommand[] = [
  authLoginCommand,
  authLogoutCommand,
  authStatusCommand,
  authTokenCommand,
]
