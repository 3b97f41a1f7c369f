import type { BodyOverride } from '../api/body-overrides.ts'
import { callOperation } from '../api/call.ts'
import type { Operation } from '../api/operation.ts'
import { incompleteListError, type Paginator } from '../api/pagination.ts'
import type { Params, ParamValues } from '../api/param.ts'
import { createReceipt } from '../api/receipt.ts'
import { resourceOfRequest } from '../api/request.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { type MergeqError, toMergeqError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'

export interface CallOutcome {
  /** The result; after an error, the receipt of a change or the part of a list that was read, else null. */
  readonly document: Json
  readonly failure?: MergeqError
}

export async function callService<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  overrides: readonly BodyOverride[],
): Promise<CallOutcome> {
  const { route } = operation
  const pages = await operation.pagination?.(params)
  if (pages !== undefined) {
    const requestPage = async (pageQuery: Readonly<Record<string, Json>>) =>
      (await callOperation(client, operation, params, { overrides, pageQuery })).response
    return collectRecords(pages, requestPage, client)
  }
  try {
    const { response, resource, delivery } = await callOperation(client, operation, params, { overrides })
    const document = response.document?.(response.records) ?? createReceipt(route, resource, delivery)
    return { document: document }
  } catch (error) {
    const failure = toMergeqError(error)
    const { delivery } = failure.details
    const resource = resourceOfRequest(operation, params, { overrides })
    const document = delivery === undefined ? null : createReceipt(route, resource, delivery, failure)
    return { document, failure }
  }
}

/** Requests page after page until the list ends, and returns all of them as one document. */
async function collectRecords(
  pages: Paginator,
  requestPage: (pageQuery: Readonly<Record<string, Json>>) => Promise<Parameters<Paginator['take']>[0]>,
  { logger }: ServiceClient,
): Promise<CallOutcome> {
  const found: JsonObject[] = []
  let failure: MergeqError | undefined
  try {
    for (let pageQuery = pages.nextQuery(); pageQuery !== undefined; pageQuery = pages.nextQuery()) {
      const response = await requestPage(pageQuery).catch(error => {
        if (!pages.recover(toMergeqError(error))) throw error
      })
      if (response !== undefined) for (const record of pages.take(response)) found.push(record)
    }
  } catch (error) {
    failure = toMergeqError(error)
    if (!pages.hasStarted()) return { document: null, failure }
  }
  const { records, envelope, notes, isBroken, problem } = pages.finish(failure?.message)
  const document = { [pages.content.key]: [...found, ...records], ...envelope }
  if (failure?.kind === 'interrupted') return { document, failure }
  for (const note of notes) await logger.info(note)
  return isBroken ? { document, failure: incompleteListError(failure, problem) } : { document }
}
