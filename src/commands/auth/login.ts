import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { usageError } from '../../base/errors.ts'
import { isLoopback } from '../../base/url.ts'
import { type Cli, command } from '../../command/command.ts'
import { canPrompt } from '../../command/confirm.ts'
import { printPreview } from '../../command/dry-run.ts'
import { flag, type Input } from '../../command/inputs.ts'
import { profileNames, storeFile } from '../../config/store.ts'
import { updateTokens } from '../../config/store-update.ts'
import {
  defaultOrigin,
  describeTokenOwner,
  findTokenSource,
  parseToken,
  profileWords,
} from '../../config/token.ts'
import { maxTokenFileSize } from '../../values/limits.ts'
import { joinCommandLine } from '../../values/suggested-command.ts'
import { isBlank, readWholeText } from '../../values/text.ts'
import { describeVerification, readOrigin, verifyToken } from './shared/service.ts'

/** Refuses a token that is typed as an argument, without repeating it. */
const tokenArgument: Input<undefined> = {
  definitions: [
    { name: 'token', summary: 'Not accepted: arguments are visible to every process', hidden: true },
  ],
  read(args) {
    if (args.has('token'))
      throw usageError(
        'A token cannot be given as an argument: arguments are visible to every process on the machine.',
        'Use auth login at a terminal and enter the token at the prompt.\nOr pipe it: printf %s "$TOKEN" | mergeq auth login --with-token',
      )
    return undefined
  },
}

/** The commands that a message prints name no queue. */
const anyQueue = { repo: null, targetBranch: null } as const

const tokenSource = (origin: string): readonly string[] =>
  origin === defaultOrigin
    ? [
        'Copy the organization API token (v1) from the settings at https://app.trunk.io. Each organization has one.',
        'API keys that begin with trunk_v2_ do not work here. Learn more: https://docs.trunk.io/api/authentication/legacy',
      ]
    : [`To get an API token for ${origin}, ask the administrator of this service.`]

const inProfile = ({ settings }: Cli, ...words: readonly string[]): string =>
  settings.commandLine(words, anyQueue)

async function askForToken(origin: string, cli: Cli): Promise<string> {
  const { host, logger } = cli
  if (!canPrompt(cli))
    throw usageError(
      'Cannot prompt for a token without a terminal, in CI or with --no-input.',
      `Pipe the token: printf %s "$TOKEN" | ${inProfile(cli, 'auth', 'login', '--with-token')}`,
    )
  for (const line of tokenSource(origin)) await logger.info(line)
  const typed = (await host.input.ask(`API token for ${origin} (not shown): `, true)) ?? ''
  if (isBlank(typed))
    throw usageError('No token was entered; nothing was stored.', `Run: ${inProfile(cli, 'auth', 'login')}`)
  return typed
}

/** Whether the base URL is stored, too: one typed for a new profile, if it is not that of a program on this machine. */
const isUrlStored = async (profile: string, baseUrl: string, { args, settings }: Cli): Promise<boolean> =>
  profile !== 'default' &&
  args.has('--base-url') &&
  !isLoopback(new URL(baseUrl).hostname) &&
  !(await profileNames(settings.store)).includes(profile)

export const definition = command({
  name: 'auth login',
  summary: 'Verify an API token and store it',
  alsoSends: [getMergeQueueMetrics],
  prints: 'nothing',
  settings: 'profile created',
  options: {
    withToken: flag('Read the token from standard input'),
    noVerify: flag('Store the token without verifying it'),
    tokenArgument,
  },
  examples: ['mergeq auth login', 'printf %s "$TOKEN" | mergeq auth login --with-token'],
  async run({ withToken, noVerify }, cli) {
    const { args, host, settings, secrets, logger } = cli
    const origin = await readOrigin(cli)
    const profile = await settings.require('profile')
    const owner = describeTokenOwner(origin, profile)
    const baseUrl = await settings.require('baseUrl')
    const storesUrl = await isUrlStored(profile, baseUrl, cli)
    const what = storesUrl ? 'the token and the base URL' : 'the token'
    if (cli.options.dryRun) {
      const reading = withToken ? 'read a token from standard input' : 'prompt for a token'
      const verification = noVerify ? '' : `, verify it with ${await describeVerification(cli)}`
      const stored = storesUrl ? what : 'it'
      const would = `Would ${reading}${verification} and store ${stored} for ${owner} in ${storeFile(cli)}.`
      return printPreview(would, cli)
    }
    const input = withToken
      ? await readWholeText(host.input.read(), 'Standard input', maxTokenFileSize)
      : await askForToken(origin, cli)
    const token = parseToken(input, withToken ? 'standard input' : 'the prompt')
    secrets.hide(token.value)
    if (!noVerify) await verifyToken(token, cli)
    await updateTokens(
      cli,
      profile,
      tokens => ({ ...tokens, [origin]: token.value }),
      storesUrl ? { 'base-url': baseUrl } : {},
    )
    await logger.info(`Stored ${what} for ${owner}${noVerify ? ' without verifying it' : ''}.`)
    const source = await findTokenSource(host, settings).catch(() => undefined)
    // One line more at most: what keeps the token from being used comes first.
    if (source !== undefined && source.kind !== 'store')
      await logger.warn(`${source.name} is set and takes precedence over the stored token.`)
    else if (args.has('--base-url') && !storesUrl)
      await logger.info(
        `Only the token was stored, not the base URL. To make this base URL the default, run: ${joinCommandLine(['config', 'set', 'base-url', baseUrl, ...profileWords(profile)])}`,
      )
    else if (profile !== 'default') {
      const next = storesUrl
        ? joinCommandLine(['queue', 'list', '--profile', profile])
        : inProfile(cli, 'queue', 'list')
      await logger.info(`To use it, add --profile to each command, or set MERGEQ_PROFILE: ${next}`)
    }
    return 0
  },
})
