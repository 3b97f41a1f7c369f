import { type MergeqError, toMergeqError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { callOperation } from './call.ts'
import { getServiceStatus } from './operations/status.ts'
import { type ServiceClient, withMaxRetries } from './service-client.ts'

/**
 * What the service says about its health. `operational`: no problem. `outage`: a problem, which `text`
 * describes in the words of the service. `unknown`: the service has no status or could not be asked, because
 * of `failure`.
 */
export type ServiceStatus =
  | { readonly kind: 'operational' }
  | { readonly kind: 'outage'; readonly text: string }
  | { readonly kind: 'unknown'; readonly failure: MergeqError }

/** The time limit for the status, in milliseconds: it is only additional information. */
const statusTimeout = 3_000

/** Words for a service without problems; the values that the service uses are not known. */
const operationalWords =
  /^(?:all systems operational|available|healthy|none|normal|ok|okay|online|operational|pass|running|up)?\.?$/i

/** Sends one request without a token, for at most 3 seconds. Throws only the error of a signal. */
export async function readServiceStatus(client: ServiceClient): Promise<ServiceStatus> {
  const limits = { ...withMaxRetries(client, 0), timeout: () => statusTimeout }
  try {
    const { response } = await callOperation(client, getServiceStatus, {}, { limits })
    const text = describeStatus(response.records[0] ?? {})
    return operationalWords.test(text) ? { kind: 'operational' } : { kind: 'outage', text }
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind === 'interrupted') throw failure
    return { kind: 'unknown', failure }
  }
}

function describeStatus(document: JsonObject): string {
  const texts = ['status', 'status.description', 'status.indicator', 'state', 'message']
  return texts.map(path => getString(document, path)?.trim()).find(text => text !== undefined) ?? ''
}
