import { pullRequestStates, queueStates } from '../domain/states.ts'
import type { MergeqError } from '../errors.ts'
import { isObject, parseJson } from '../json.ts'
import type { BodyOverride } from './body-overrides.ts'
import type { Operation } from './operation.ts'
import { bodyText, type Request } from './request.ts'
import type { ServiceClient } from './service-client.ts'

/** The clients whose service accepted a state in lower case after it had refused the same state. */
const clientsWithLowerCase = new WeakSet<ServiceClient>()

/**
 * Undefined if the request has no known state in upper case (docs/reference/service.md, "Case of states").
 */
export function lowerCaseStates(
  { stateFields = [] }: Pick<Operation, 'stateFields'>,
  { body }: Pick<Request, 'body'>,
): readonly BodyOverride[] | undefined {
  if (stateFields.length === 0 || body === undefined) return undefined
  const document = parseJson(bodyText(body))
  const found = stateFields.flatMap(name => {
    const state = isObject(document) ? document[name] : undefined
    const isKnown =
      typeof state === 'string' && [...pullRequestStates, ...queueStates].some(known => known === state)
    return isKnown ? [{ path: [name], value: state.toLowerCase() }] : []
  })
  return found.length === 0 ? undefined : found
}

export const needsLowerCase = (client: ServiceClient): boolean => clientsWithLowerCase.has(client)

export const rememberLowerCase = (client: ServiceClient): void => {
  clientsWithLowerCase.add(client)
}

/**
 * Returns the error to report after a request was refused with 400 in both cases: the first error, unless it
 * is the only one that is about the state.
 */
export function refusalOf(first: MergeqError, second: MergeqError): MergeqError {
  if (second.details.status !== 400) return second
  const isAboutState = ({ details }: MergeqError) => /\bstate\b/i.test(details.serviceMessage ?? '')
  return isAboutState(first) && !isAboutState(second) ? second : first
}
