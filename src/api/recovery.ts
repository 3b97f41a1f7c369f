import {
  extendError,
  failureOrThrow,
  isNotFound,
  MergeqError,
  toMergeqError,
  withPeriod,
} from '../base/errors.ts'
import { getNumber, getString, type JsonObject } from '../base/json.ts'
import { isOtherCommit } from '../values/commit.ts'
import { joinList } from '../values/format.ts'
import { changeNotMade } from './error-response.ts'
import { type Operation, operationName, type ReadBack, type WriteRecovery } from './operation.ts'
import {
  hasSentBatching,
  hasSentPriority,
  isSubmitted,
  type RecoveryResult,
  recoveryRules,
} from './recovery-rules.ts'
import { buildRequest, type Request, sentObject } from './request.ts'
import type { Resource } from './resource.ts'
import type { DecodedResponse } from './response.ts'
import { type Exchange, exchange } from './send.ts'
import type { Advice, RequestLimits, ServiceClient } from './service-client.ts'
import { sentSeconds } from './service-clock.ts'

interface UnconfirmedWrite {
  readonly client: ServiceClient
  readonly request: Request
  readonly recovery: WriteRecovery
  readonly failure: MergeqError
  readonly limits: RequestLimits
  /** The head commit that the pull request must still have before a replay. */
  readonly head?: string | undefined
}

/**
 * The pauses before the readings, in milliseconds. A change can show late, so only three readings prove that it
 * was not applied; the last two are for a result that fewer than `minSightings` readings showed.
 */
const readBackPauses = [0, 2_000, 4_000, 4_000, 4_000]
const usualReadings = 3

/** How many readings must show a result that may be older than the change: reads may lag behind. */
const minSightings = 3

/** The longest time from failure to replay, in milliseconds: a later replay might undo a newer change. */
const maxReplayDelay = 60_000

/**
 * Finds out the outcome of a change that got no response (docs/reference/network.md, "Write recovery"): reads
 * what the body names, and sends the same bytes at most once more. Returns `confirmed-by-read`, or
 * `confirmed` if the replay got a response. Throws an error that says what is known.
 */
export async function recoverWrite(sent: UnconfirmedWrite): Promise<Recovered> {
  try {
    if (sent.failure.kind === 'interrupted') throw sent.failure
    return await recover(sent)
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind !== 'interrupted') throw failure
    const { client, request } = sent
    const unclear = extendError(failure, { sentState: 'ambiguous' })
    throw interruptedChangeError(unclear, request.called, [request.resource], client.advice)
  }
}

/**
 * The failure when a signal ends requests of one operation that were sent and got no response: its message
 * names the operation and the resource of each request, its hint the commands that show their state
 * (docs/reference/cli.md, "Guarantees"). The exit code is that of the signal.
 */
export function interruptedChangeError(
  failure: MergeqError,
  { route, change }: Pick<Operation, 'route' | 'change'>,
  resources: readonly Resource[],
  advice: Advice,
): MergeqError {
  const names = resources.flatMap(({ pr, targetBranch }) => {
    if (pr !== undefined) return `#${pr}`
    return targetBranch === undefined ? [] : `the queue for ${targetBranch}`
  })
  const commands = advice.toInspect(resources)
  const isSingle = resources.length === 1
  const of = change?.noun === undefined ? 'for' : 'of'
  const what = `The ${change?.noun ?? 'request'}${isSingle ? '' : 's'}${names.length === 0 ? '' : ` ${of} ${joinList(names)}`}`
  const state = isSingle ? 'was in progress' : 'were in progress'
  const separator = commands.length > 1 ? '\n' : ' '
  const list = commands.length === 0 ? '.' : `:${separator}${commands.join('\n')}`
  return extendError(
    failure,
    {
      operation: operationName(route),
      delivery: 'unknown',
      hint: `Check the current state before trying again${list}`,
    },
    `${withPeriod(failure.message)} ${what} ${state} and may have been applied.`,
  )
}

interface Recovered {
  readonly response: DecodedResponse
  readonly delivery: 'confirmed' | 'confirmed-by-read'
  /** Whether a submission was refused because the pull request was queued so already. */
  readonly wasQueued?: boolean
}

async function recover(sent: UnconfirmedWrite): Promise<Recovered> {
  const { client, recovery, failure } = sent
  const { clock } = client.host
  const isReadable = recovery.readBack !== undefined
  // If the response was over the size limit, the change may be read back, but must not be sent again.
  const mayReplay = recovery.replay !== 'never' && failure.details.isResponseTooLarge !== true
  const needsReading = recovery.replay !== 'without-reading' || !mayReplay
  if (client.maxRetries === 0 || (needsReading && !isReadable)) throw unknownOutcome(sent, failure)
  if (!isReadable) {
    await inform(`${withPeriod(failure.message)} Retrying once.`, sent)
    return replay(sent)
  }
  const failedAt = clock.monotonic()
  await inform(`${withPeriod(failure.message)} Checking whether the change was applied.`, sent)
  const outcome = await readBack(sent)
  if (outcome === 'done') return confirmed
  if (typeof outcome === 'object') throw refused(sent, outcome.refused)
  // A replay would wait for the end of a pause, too.
  const pause = (await client.httpClient()).pauseLeft()
  const isLate = clock.monotonic() + pause - failedAt > maxReplayDelay || client.time?.left() === 0
  if (isUnclear(outcome) || !mayReplay || isLate) throw unknownOutcome(sent, failure, outcome)
  if (sent.head !== undefined) await requireHead(sent, sent.head)
  await inform('The change was not applied. Retrying once.', sent)
  return replay(sent)
}

/**
 * Throws an error if the head of a pull request moved since its change was sent, or if the remote does not say it: the
 * record of a pull request that is not submitted does not follow its head.
 */
async function requireHead(sent: UnconfirmedWrite, expected: string): Promise<void> {
  const { client, request, failure } = sent
  const { repo, pr } = request.resource
  if (repo === undefined || pr === undefined) return
  const checkout = await client.settings.openCheckout()
  const found = (await checkout?.findHead({ repo, pr })) ?? { problem: 'the checkout is not read' }
  if ('problem' in found) {
    const message = `${withPeriod(failure.message)} The head of #${pr} is unknown: ${found.problem}.`
    throw unknownOutcome(sent, { message, details: failure.details })
  }
  if (!isOtherCommit(found.commit, expected)) return
  const [given, other] = [expected.slice(0, 7), found.commit.slice(0, 7)]
  throw new MergeqError(
    'stale',
    `${changeNotMade(request)}: its head moved, expected ${given}, found ${other}.`,
    { operation: request.operation, delivery: 'not-applied', head: found.commit },
  )
}

/** Only verbose mode names the operation. */
const inform = (text: string, { client, request }: UnconfirmedWrite) =>
  client.logger.info(client.options.verbose ? `${request.operation}: ${text}` : text)

/** Sends the same bytes once more. If that fails as well, the service is read again where it can be. */
async function replay(sent: UnconfirmedWrite): Promise<Recovered> {
  const { client, request } = sent
  try {
    const { response } = await exchange(client, request, { limits: { ...sent.limits, maxRetries: 0 } })
    return { response, delivery: 'confirmed' }
  } catch (error) {
    const second = failureOrThrow(error)
    // The response to the replay says nothing about the first request, so the service is read again.
    const outcome = sent.recovery.readBack ? await readBack(sent) : 'unclear'
    if (outcome === 'done') return confirmed
    if (isUnclear(outcome) || leavesOutcomeOpen(sent, second)) throw unknownOutcome(sent, second, outcome)
    if (typeof outcome === 'object') throw refused(sent, outcome.refused)
    const isLost = second.details.sentState === 'ambiguous'
    const sentence = isLost ? changeNotMade(request) : undefined
    throw new MergeqError(
      isLost ? 'unavailable' : second.kind,
      sentence === undefined ? second.message : `${sentence} (${second.message.replace(/\.$/, '')}).`,
      {
        ...second.details,
        // The change was sent twice: nobody may send it once more.
        sentState: 'ambiguous',
        delivery: 'not-applied',
        ...(isLost ? { hint: 'It is safe to try again.' } : {}),
      },
    )
  }
}

const confirmed = {
  response: { records: [], bytes: new Uint8Array() },
  delivery: 'confirmed-by-read',
} as const

/**
 * Whether the first request may have been applied, and the replay refused for that reason or because the token
 * expired in between.
 */
const leavesOutcomeOpen = (
  { recovery: { alreadyAppliedStatus } }: UnconfirmedWrite,
  { kind, details }: MergeqError,
): boolean =>
  kind === 'auth' || (alreadyAppliedStatus !== undefined && details.status === alreadyAppliedStatus)

/** `seen` is unclear, but a reading showed what the change is for. */
type ReadBackOutcome = 'done' | 'not-applied' | 'unclear' | 'seen' | { readonly refused: string }

const isUnclear = (outcome: ReadBackOutcome): boolean => outcome === 'unclear' || outcome === 'seen'

/**
 * Reads up to three times, until the change shows. Readings that fail say nothing. A result that may be older
 * than the change needs three readings in a row; for that, there are up to two further readings.
 */
async function readBack(sent: UnconfirmedWrite): Promise<ReadBackOutcome> {
  const { host, time } = sent.client
  let isNotApplied = true
  let isSeen = false
  /** What the last reading showed, if it settles the outcome, and how many readings in a row showed it. */
  let end: 'done' | { readonly refused: string } | undefined
  let sightings = 0
  for (const [index, pause] of readBackPauses.entries()) {
    if (index >= usualReadings && end === undefined) break
    // What was sent shortly before the time limit is read once (docs/reference/network.md, "Time limits").
    if (pause > 0 && pause >= (time?.left() ?? Number.POSITIVE_INFINITY)) return isSeen ? 'seen' : 'unclear'
    if (pause > 0) await host.clock.sleep(pause, host.interrupted)
    const verdict = await readOnce(sent)
    if (verdict === 'done' || (typeof verdict === 'object' && verdict.isDated)) return verdict
    isNotApplied &&= verdict === 'not-applied'
    // A reading that failed says nothing.
    if (verdict === undefined) continue
    isSeen ||= verdict === 'seems-done'
    const next = verdict === 'seems-done' ? 'done' : typeof verdict === 'object' ? verdict : undefined
    sightings = typeof next === typeof end ? sightings + 1 : 1
    end = next
    if (end !== undefined && sightings >= minSightings) return end
  }
  if (isNotApplied) return 'not-applied'
  return isSeen ? 'seen' : 'unclear'
}

const refused = (sent: UnconfirmedWrite, why: string): MergeqError =>
  new MergeqError('refused', `${why}.`, {
    operation: sent.request.operation,
    delivery: 'not-applied',
    hint: inspectHint(sent),
  })

/** Reads what shows a change. One retry: a reading that fails by chance must not hide what others say. */
async function read(
  { client, request: { resource }, limits }: UnconfirmedWrite,
  { operation }: ReadBack,
): Promise<Exchange> {
  const maxRetries = Math.min(client.maxRetries, 1)
  const request = await buildRequest(client, operation, { ...resource })
  return exchange(client, request, { limits: { ...limits, maxRetries } })
}

async function readOnce(sent: UnconfirmedWrite): Promise<RecoveryResult | undefined> {
  const { readBack: back } = sent.recovery
  if (back === undefined) return undefined
  const { clock } = sent.client.host
  const askedAt = clock.now()
  const { sentAt } = sent.failure.details
  const sentTime = sentAt === undefined ? undefined : { from: sentAt, to: sentAt }
  const judge = (record: JsonObject | undefined, date: number | undefined): RecoveryResult => {
    const seconds = sentSeconds(sentTime, { askedAt, at: clock.now(), date })
    return recoveryRules[back.rule]({ record, sent: sentObject(sent.request), ...seconds })
  }
  try {
    const { response, date } = await read(sent, back)
    return judge(response.records[0], date)
  } catch (error) {
    const failure = failureOrThrow(error)
    // A further reading would exceed the limit as well.
    if (failure.details.isResponseTooLarge === true) throw unknownOutcome(sent, failure)
    return isNotFound(failure) ? judge(undefined, undefined) : undefined
  }
}

function unknownOutcome(
  sent: UnconfirmedWrite,
  { message, details }: Pick<MergeqError, 'message' | 'details'>,
  outcome?: ReadBackOutcome,
): MergeqError {
  return new MergeqError(
    'unknown-outcome',
    `${withPeriod(message)} It is unknown whether the change was applied.`,
    {
      ...details,
      operation: sent.request.operation,
      delivery: 'unknown',
      ...(outcome === 'seen' && { mayBeVisible: true }),
      hint: sent.recovery.readBack
        ? inspectHint(sent)
        : 'The outcome cannot be verified. Try again only if it is safe to apply the change twice.',
    },
  )
}

/** Says how to see what a change did. */
function inspectHint({ client, request }: UnconfirmedWrite): string {
  const commands = client.advice.toInspect([request.resource])
  return commands.length === 0
    ? 'Check the current state.'
    : `To check the current state, run: ${commands.join('\n')}`
}

/**
 * Reads, after the service refused the first sending of a submission with 409, whether the pull request is in the queue
 * already (docs/reference/network.md, "What is read back"), and returns its record. Throws an error if it is, but not as
 * it was submitted, and the refusal if it is not in the queue, or if that cannot be read.
 */
export async function requireQueued(write: UnconfirmedWrite): Promise<Recovered> {
  const { client, request, recovery, failure: refusal } = write
  const readBack = client.maxRetries === 0 ? undefined : recovery.readBack
  const found =
    readBack &&
    (await read(write, readBack).catch(error => {
      failureOrThrow(error)
      return undefined
    }))
  const record = found?.response.records[0]
  if (record === undefined || !isSubmitted(record)) throw refusal
  const sent = sentObject(request)
  const hasPriority = hasSentPriority(record, sent)
  if (hasPriority && hasSentBatching(record, sent))
    return { ...confirmed, response: { ...confirmed.response, records: [record] }, wasQueued: true }
  const batching = record.noBatch === true ? 'noBatch' : 'batching'
  const priority = getString(record, 'priorityName') ?? getNumber(record, 'priorityValue') ?? 'unknown'
  const [inspect] = client.advice.toInspect([request.resource])
  throw extendError(
    refusal,
    inspect === undefined ? {} : { hint: `Nothing was changed. To see how it is queued, run: ${inspect}` },
    `#${request.resource.pr} is queued already with ${hasPriority ? batching : `priority ${priority}`}; the service refuses to change it.`,
  )
}
