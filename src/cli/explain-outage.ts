import { readServiceStatus } from '../api/read-service-status.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import { extendError, type MergeqError, withPeriod } from '../errors.ts'
import type { CommandContext } from './context.ts'

type OutageContext = Pick<CommandContext, 'client' | 'settings' | 'options'>

/** The sentence about an outage for each context, so that the service is asked once. */
const sentences = new WeakMap<object, Promise<string | undefined>>()

async function readOutage({ client, settings, options }: OutageContext): Promise<string | undefined> {
  const { baseUrl } = settingDefinitions
  if (options.retries === 0 || (await settings.read('baseUrl')) !== baseUrl.default) return undefined
  const status = await readServiceStatus(client())
  return status.kind === 'outage' ? `The service reports an outage: ${withPeriod(status.text)}` : undefined
}

/**
 * Returns an error of kind `unavailable` with what the service itself says about an outage; without a report,
 * the same error (docs/reference/network.md, "Status of the service").
 */
export async function explainOutage(failure: MergeqError, context: OutageContext): Promise<MergeqError> {
  const sentence = sentences.get(context) ?? readOutage(context)
  sentences.set(context, sentence)
  const outage = await sentence
  return outage === undefined ? failure : extendError(failure, {}, `${withPeriod(failure.message)} ${outage}`)
}
