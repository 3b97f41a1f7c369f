import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { defineCommand } from '../../cli/command.ts'
import { canPrompt, printPreview } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import { flag, type Input } from '../../cli/inputs.ts'
import { sectionOf, storeFile } from '../../config/store.ts'
import { defaultOrigin, parseToken, refuseForeignAddress } from '../../config/token.ts'
import { joinCommandLine } from '../../domain/suggested-command.ts'
import { requireUtf8 } from '../../domain/values/text.ts'
import { usageError } from '../../errors.ts'
import { describeVerification, readOrigin, verifyToken } from './service.ts'

/** Upper limit for a token and the white space around it, in bytes; longer input is refused. */
const maxInputBytes = 64 * 1024

/**
 * Refuses a token that is typed as an argument, and never repeats its value: tokens belong on standard input.
 */
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

async function readTokenInput({ host }: CommandContext): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let [text, bytesRead] = ['', 0]
  for await (const chunk of host.input.read()) {
    bytesRead += chunk.length
    if (bytesRead > maxInputBytes) throw usageError('Standard input is too long for a token.')
    text += decoder.decode(chunk, { stream: true })
  }
  return requireUtf8(text + decoder.decode(), 'Standard input')
}

/** Says where the tokens of a service are made. */
const tokenSource = (origin: string): readonly string[] =>
  origin === defaultOrigin
    ? [
        'Copy the organization API token (v1) from the settings at https://app.trunk.io. Each organization has one.',
        'API keys that begin with trunk_v2_ do not work here. Learn more: https://docs.trunk.io/api/authentication/legacy',
      ]
    : [`To get an API token for ${origin}, ask the administrator of this service.`]

async function askForToken({ options, host, logger }: CommandContext, origin: string): Promise<string> {
  if (!canPrompt({ options, host }))
    throw usageError(
      'Cannot prompt for a token without a terminal, in CI or with --no-input.',
      'Pipe the token: printf %s "$TOKEN" | mergeq auth login --with-token',
    )
  for (const line of tokenSource(origin)) await logger.info(line)
  const typed = await host.input.ask(`API token for ${origin} (not shown): `, true)
  if (typed === undefined || typed.trim() === '')
    throw usageError('No token was entered; nothing was stored.', 'Run: mergeq auth login')
  return typed
}

async function previewLogin(isPiped: boolean, isUnverified: boolean, context: CommandContext) {
  const origin = await readOrigin(context)
  const reading = isPiped ? 'read a token from standard input' : 'prompt for a token'
  const verification = isUnverified ? '' : `, verify it with ${await describeVerification(context)}`
  const file = storeFile(context)
  return printPreview(
    'auth login',
    `Would ${reading}${verification} and store it for ${origin} in ${file}.`,
    context,
  )
}

export const authLoginCommand = defineCommand({
  command: 'auth login',
  summary: 'Verify an API token and store it',
  operations: [getMergeQueueMetrics],
  output: 'nothing',
  options: {
    withToken: flag({ name: 'with-token', summary: 'Read the token from standard input' }),
    noVerify: flag({ name: 'no-verify', summary: 'Store the token without verifying it' }),
    tokenArgument,
  },
  examples: ['mergeq auth login', 'printf %s "$TOKEN" | mergeq auth login --with-token'],
  async run({ withToken, noVerify }, context) {
    if (context.options.dryRun) return previewLogin(withToken, noVerify, context)
    const origin = await readOrigin(context)
    const input = withToken ? await readTokenInput(context) : await askForToken(context, origin)
    const token = parseToken(input, withToken ? 'standard input' : 'the prompt')
    context.secrets.hide(token.value)
    refuseForeignAddress(token, await context.settings.find('baseUrl'))
    if (!noVerify) await verifyToken(token, context)
    const { updateStore } = await import('../../config/store-update.ts')
    await updateStore(context.host, document => ({
      ...document,
      tokens: { ...sectionOf(document, 'tokens'), [origin]: token.value },
    }))
    await context.logger.info(`Stored the token for ${origin}${noVerify ? ' without verifying it' : ''}.`)
    if (context.args.has('--base-url'))
      await context.logger.info(
        `Only the token was stored, not the base URL. To make this base URL the default, run: ${joinCommandLine(['config', 'set', 'base-url', await context.settings.require('baseUrl')])}`,
      )
    // Outside the profile of a Windows user, the permissions of the file do not keep other users out.
    for (const { kind, path, description } of await context.settings.store.accessProblems())
      if (kind === 'place')
        await context.logger.warn(
          `${path} ${description}. To move the token: run mergeq auth logout, set MERGEQ_CONFIG_DIR to a directory in your user profile, and run mergeq auth login.`,
        )
    if ((context.host.env.MERGEQ_TOKEN ?? '').trim() !== '')
      await context.logger.warn('MERGEQ_TOKEN is set and takes precedence over the stored token.')
    return 0
  },
})
