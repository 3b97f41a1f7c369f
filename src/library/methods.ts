import type { BodyOverride } from '../api/added-fields.ts'
import { callOperation } from '../api/call.ts'
import { incompleteListError, type ListEnd, rangeEnd, readList } from '../api/list.ts'
import { isList, type List } from '../api/list-operation.ts'
import { isChange, type Operation } from '../api/operation.ts'
import type { Params, ParamValues } from '../api/params.ts'
import { completeCommit, findTargetsCommit } from '../api/reads/head-commit.ts'
import { createReceipt } from '../api/receipts.ts'
import { type Caller, exclusiveError, valueFromSettings } from '../api/resolve.ts'
import { encodeTargets } from '../api/target-list.ts'
import { toMergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { notGivenError } from '../config/settings.ts'
import { type PullRequest, pullRequestKey } from '../values/pull-request.ts'
import {
  type CallClient,
  type CallOutcome,
  type ClientContext,
  createCallClient,
  findPullRequest,
} from './call-client.ts'
import { checkSet, type GivenSettings, readCallOptions, settingsIn } from './options.ts'

/** A call whose options are read, and its client. */
export type OpenCall = Awaited<ReturnType<typeof openCall>>

/** Checks the options of a call and opens its client, which the caller closes. */
async function openCall(operation: Operation, name: string, options: unknown, context: ClientContext) {
  const { signal, ...values } = readCallOptions(name, options, operation)
  const given = { ...context.settings, ...settingsIn(values) }
  const overrides = (values.set ?? []) as readonly BodyOverride[]
  checkSet(name, overrides, operation.params, { ...given, ...values })
  const client = await createCallClient(given, signal, context, { changes: isChange(operation) })
  try {
    const { nameOf } = client
    const { settings, ...read } = await readGiven(operation, values, given, client)
    const caller = { settings, nameOf, prefix: `${name}: ` }
    const added = { route: operation.route, fields: overrides }
    const resolved = await resolveValues(operation, read.values, overrides, caller)
    const now = await rangeEnd(client, operation, resolved)
    const list = isList(operation) ? operation.list(resolved, now, nameOf) : undefined
    return { operation, values: resolved, client: { ...client, added }, list }
  } catch (error) {
    await client.close()
    throw error
  }
}

/** Calls an operation: `work` sends what it takes. */
export async function call(
  operation: Operation,
  name: string,
  options: unknown,
  context: ClientContext,
  work: (opened: OpenCall) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  const opened = await openCall(operation, name, options, context)
  const { clock } = context.host
  try {
    const from = clock.now()
    const outcome = await work(opened)
    if (operation.change?.isSubmission === true && outcome.failure === undefined)
      opened.client.memory.submissions.set(pullRequestKey(opened.values as PullRequest), {
        from,
        to: clock.now(),
      })
    return outcome
  } finally {
    await opened.client.close()
  }
}

/** Yields the records of a list; requests a page when the records before it were taken. */
export async function* iterate(operation: Operation, name: string, options: unknown, context: ClientContext) {
  const opened = await openCall(operation, name, options, context)
  try {
    const { list } = opened
    if (list === undefined) return
    for await (const { records, end } of readList(opened.client, list)) {
      yield* records
      if (end !== undefined) await checkEnd(end, opened.client)
    }
  } finally {
    await opened.client.close()
  }
}

type Values = Readonly<Record<string, unknown>>

/** Returns what a call gives of a request, and the settings of the repository that its pull request names. */
async function readGiven(
  { params, change }: Operation,
  { pr, targets, ...values }: Values,
  given: GivenSettings,
  client: CallClient,
) {
  const own = Object.entries(values).filter(([name]) => !Object.hasOwn(given, name))
  const result = new Map<string, unknown>(own)
  if (targets !== undefined) result.set('targets', encodeTargets(targets as 'ALL' | readonly string[]))
  if (params.run !== undefined && values.run === undefined && pr === undefined) {
    // The test run that the CI job runs on.
    if (!client.discover) throw notGivenError('run')
    result.set('run', params.run.type.check(await client.settings.require('testRun')))
  }
  const needsPullRequest =
    params.pr !== undefined && (params.pr.required || params.head !== undefined) && values.head === undefined
  if (pr === undefined && !needsPullRequest) return { values: result, settings: client.settings }
  const { number, settings } = await findPullRequest(
    pr === undefined ? undefined : String(pr),
    given,
    client,
    change === undefined || change.actsOnGuess === true,
  )
  result.set('pr', number)
  if (params.sha !== undefined)
    result.set('sha', await readCommit(values.sha, number, { ...client, settings }))
  return { values: result, settings }
}

/** Returns the commit that targets belong to: the one that the caller gives, or else the head of the pull request. */
async function readCommit(sha: unknown, pr: number, client: CallClient): Promise<string | false> {
  const { settings } = client
  if (sha === false) return false
  if (sha !== undefined) return completeCommit(String(sha), 'sha', settings)
  if (!client.discover) throw notGivenError('sha')
  const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
  return findTargetsCommit({ repo, targetBranch, pr }, client)
}

/** Sends the request of an operation, or the requests of a list. */
export async function sendCall(opened: OpenCall): Promise<CallOutcome> {
  const { client, operation, values } = opened
  if (opened.list !== undefined) return collectRecords(opened, opened.list)
  try {
    const { response, params, delivery, wasQueued } = await callOperation(client, operation, values)
    const document = response.document?.(response.records)
    return { document: document ?? createReceipt(operation, params, delivery, undefined, wasQueued) }
  } catch (error) {
    const failure = toMergeqError(error)
    const { delivery } = failure.details
    const document = delivery === undefined ? null : createReceipt(operation, values, delivery, failure)
    return { document, failure }
  }
}

/** Reads a whole list as one document. */
async function collectRecords(opened: OpenCall, list: List): Promise<CallOutcome> {
  const found: JsonObject[] = []
  let document: JsonObject | null = null
  try {
    for await (const { records, end } of readList(opened.client, list)) {
      for (const record of records) found.push(record)
      if (end === undefined) continue
      document = { [list.operation.pages?.key ?? '']: found, ...end.envelope }
      await checkEnd(end, opened.client)
    }
    return { document }
  } catch (error) {
    return { document, failure: toMergeqError(error) }
  }
}

/** Reports what is to be said about a list. Throws the error of a list that could not be read completely. */
async function checkEnd(end: ListEnd, { logger }: CallClient): Promise<void> {
  if (end.failure?.kind === 'interrupted') throw end.failure
  for (const note of end.notes) await logger.info(note)
  if (end.isBroken) throw incompleteListError(end)
}

/**
 * Returns the values of the params of an operation: those that the caller gives, and for others those of the settings.
 * Throws a usage error for values that are missing or exclude each other.
 */
async function resolveValues<P extends Params>(
  { params, exclusive = [], check }: Operation<P>,
  given: ReadonlyMap<string, unknown>,
  overrides: readonly BodyOverride[],
  caller: Caller,
): Promise<ParamValues<P>> {
  const { nameOf, prefix } = caller
  const values = new Map<string, unknown>()
  for (const [name, param] of Object.entries(params))
    values.set(name, given.has(name) ? given.get(name) : await valueFromSettings(name, param, caller))
  const isGiven = (name: string) => values.get(name) !== undefined && values.get(name) !== false
  const pair = exclusive.find(names => names.every(isGiven))
  if (pair !== undefined) throw exclusiveError(pair.map(nameOf), prefix)
  const resolved = Object.fromEntries(values) as ParamValues<P>
  check?.(resolved, overrides.length > 0, nameOf)
  return resolved
}
