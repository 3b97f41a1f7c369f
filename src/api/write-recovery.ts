import type { CommandContext } from '../cli/context.ts'
import { repositoryName } from '../domain/values/repository.ts'
import { MergeqError, toMergeqError, withPeriod } from '../errors.ts'
import { isObject } from '../json.ts'
import { parseJson } from '../json-text.ts'
import type { DecodedResponse } from './decode.ts'
import type { Operation, RecoveryResult, WriteObservation, WriteRecovery } from './operation.ts'
import type { Delivery } from './receipt.ts'
import { bodyText, type Request } from './request.ts'

/** A change that was sent and got no clear answer. */
export interface UnansweredWrite {
  readonly recovery: WriteRecovery
  readonly request: Request
  /** When it was sent first, by our clock. */
  readonly sentAt: number
  readonly failure: MergeqError
  /** Sends the same bytes once more, without repeats. */
  replay(): Promise<DecodedResponse>
  /** Reads once what the change would show in; `date` is the moment of the answer by the service's clock. */
  readBack(back: Operation): Promise<{ readonly reply: DecodedResponse; readonly date: number | undefined }>
}

/** Milliseconds before each reading: a change can show late, so one that does not show must be seen three times. */
const readBackPauses = [0, 2_000, 4_000]

/** Milliseconds before each further reading, where an end showed that was not seen often enough. */
const furtherPauses = [4_000, 4_000]

/** How often an end must be seen that may be older than the change: a reading may come from a replica that is behind. */
const minSightings = 3

/** A replay comes within so many milliseconds of the failure, or not at all: an old change must not undo a newer one. */
const maxReplayDelay = 60_000

/**
 * Settles a change that got no clear answer (WIRE.md section 2): reads back what its body names, sends the same bytes at
 * most once more, and ends in `confirmed-by-read`, in `confirmed` by the replay's own answer, or in a failure that says
 * what is known.
 */
export async function recoverWrite(
  sent: UnansweredWrite,
  context: CommandContext,
): Promise<{ readonly reply: DecodedResponse; readonly delivery: Delivery }> {
  const { recovery, request, failure } = sent
  const { clock } = context.host
  const { retries } = context.options
  const isReadable = canRead(sent)
  // An answer over its limit is not asked for again: the change may be read back, but is not sent once more.
  const isOverLimit = failure.details.overLimit === true
  if (retries === 0 || (!isReadable && (isOverLimit || recovery.replay !== 'unread')))
    throw unknownOutcome(sent, failure)
  const failedAt = clock.now()
  await context.logger.info(
    `${withPeriod(failure.message)} ${isReadable ? 'Reading back.' : 'Sending it once more.'}`,
  )
  const first = isReadable ? await readBack(sent, context) : 'not-applied'
  if (first === 'done') return confirmed
  if (typeof first === 'object') throw refused(sent, first.refused)
  if (
    isOverLimit ||
    first !== 'not-applied' ||
    recovery.replay === 'never' ||
    clock.now() - failedAt > maxReplayDelay
  )
    throw unknownOutcome(sent, failure)
  if (isReadable) await context.logger.info(`${request.operation} was not applied: sending it once more.`)
  try {
    return { reply: await sent.replay(), delivery: 'confirmed' }
  } catch (error) {
    const second = toMergeqError(error)
    if (second.kind === 'interrupted') throw second
    // Whatever the replay was told says nothing of the first sending: what can be read now decides.
    const then = isReadable ? await readBack(sent, context) : 'unclear'
    if (then === 'done') return confirmed
    if (then === 'unclear' || isExplained(sent, second)) throw unknownOutcome(sent, second)
    if (typeof then === 'object') throw refused(sent, then.refused)
    throw new MergeqError(
      second.details.sentState === 'ambiguous' ? 'unavailable' : second.kind,
      second.message,
      {
        ...second.details,
        delivery: 'not-applied',
      },
    )
  }
}

const confirmed = { reply: { records: [], bytes: new Uint8Array() }, delivery: 'confirmed-by-read' } as const

/** Whether there is something to read back, and the body says what. */
const canRead = ({ recovery: { readBack: back }, request: { concerns } }: UnansweredWrite): boolean =>
  back !== undefined &&
  Object.entries(back.inputs).every(
    ([name, { required }]) => required !== true || Object.entries(concerns).some(([key]) => key === name),
  )

/** Whether the first sending may be why the replay was refused, or the token was refused meanwhile. */
const isExplained = ({ recovery: { repeated } }: UnansweredWrite, { kind, details }: MergeqError): boolean =>
  kind === 'auth' || (repeated !== undefined && details.status === repeated)

/** What the readings say together. */
type Outcome = 'done' | 'not-applied' | 'unclear' | { readonly refused: string }

/**
 * Reads until the change shows, at most three times; a reading that fails says nothing. An end that may be older than
 * the change settles it once it was seen three times and nothing else since: it is read for a little longer.
 */
async function readBack(sent: UnansweredWrite, context: CommandContext): Promise<Outcome> {
  const { clock, interrupted } = context.host
  const verdicts: (RecoveryResult | undefined)[] = []
  const all = [...readBackPauses, ...furtherPauses]
  for (const [index, pause] of all.entries()) {
    if (pause > 0) await clock.sleep(pause, interrupted)
    const verdict = await readOnce(sent, context)
    if (verdict === 'done' || (typeof verdict === 'object' && verdict.isDated)) return verdict
    verdicts.push(verdict)
    const { end, sightings } = lastEnd(verdicts)
    if (end !== undefined && sightings >= minSightings) return end
    const missing = end === undefined ? all.length : minSightings - sightings
    if (index + 1 >= readBackPauses.length && index + 1 + missing > all.length) break
  }
  return verdicts.every(verdict => verdict === 'not-applied') ? 'not-applied' : 'unclear'
}

/** The end that the last readings show, and how many of them in a row; those that failed are left out. */
function lastEnd(verdicts: readonly (RecoveryResult | undefined)[]): {
  readonly end?: Exclude<Outcome, 'not-applied' | 'unclear'>
  readonly sightings: number
} {
  const read = verdicts.filter(verdict => verdict !== undefined)
  const last = read.at(-1)
  const isEnd = last === 'seems-done' || typeof last === 'object'
  if (!isEnd) return { sightings: 0 }
  const before = read.findLastIndex(
    verdict => typeof verdict !== typeof last || (typeof last === 'string' && verdict !== last),
  )
  return { end: last === 'seems-done' ? 'done' : last, sightings: read.length - 1 - before }
}

/** The failure when the readings say why the change can no longer be made. */
const refused = (sent: UnansweredWrite, why: string): MergeqError => {
  const { operation } = sent.request
  return new MergeqError('refused', `${operation}: ${why}.`, {
    operation,
    delivery: 'not-applied',
    hint: `This tells how it stands: ${inspectCommandOf(sent) ?? sent.recovery.inspectCommand}`,
  })
}

/** What one reading says; undefined where it failed. */
async function readOnce(sent: UnansweredWrite, context: CommandContext): Promise<RecoveryResult | undefined> {
  const { recovery, request, sentAt, readBack: look } = sent
  const { readBack: back } = recovery
  if (back === undefined) return undefined
  const { clock } = context.host
  const body = parseJson(request.body === undefined ? '{}' : bodyText(request.body))
  const asked = clock.now()
  /** The answer was made between the asking and now: so much may the service's clock differ from ours. */
  const judge = (record: WriteObservation['record'], date: number | undefined): RecoveryResult =>
    recovery.inspect({
      record,
      sent: isObject(body) ? body : {},
      sentFrom:
        date === undefined ? Number.NEGATIVE_INFINITY : Math.floor((sentAt + date - clock.now()) / 1_000),
      sentTo:
        date === undefined ? Number.POSITIVE_INFINITY : Math.floor((sentAt + date + 999 - asked) / 1_000),
    })
  try {
    const { reply, date } = await look(back)
    return judge(reply.records[0], date)
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind === 'interrupted') throw failure
    // Another reading would cost as much and say as little.
    if (failure.details.overLimit === true) throw unknownOutcome(sent, failure)
    const { status, isWebPage } = failure.details
    return status === 404 && isWebPage !== true ? judge(undefined, undefined) : undefined
  }
}

/** The failure when it is not known whether a change was applied: it names the command that tells. */
function unknownOutcome(sent: UnansweredWrite, { message, details }: MergeqError): MergeqError {
  const tells = inspectCommandOf(sent)
  return new MergeqError(
    'unknown-outcome',
    `${withPeriod(message)} It is not known whether the change was applied.`,
    {
      ...details,
      operation: sent.request.operation,
      delivery: 'unknown',
      hint: tells === undefined ? hintWithout(sent.recovery) : `This tells how it stands: ${tells}`,
    },
  )
}

/** What to do where no command shows how a change stands. */
const hintWithout = ({ readBack: back, inspectCommand }: WriteRecovery): string =>
  back === undefined
    ? 'Nothing that can be read tells. Run it again if it does no harm to apply it twice.'
    : `The request body does not say what it concerns, so nothing could be read back. Check it yourself: ${inspectCommand}`

/** The command that tells a person how a change stands; undefined where nothing does. */
function inspectCommandOf(sent: UnansweredWrite): string | undefined {
  if (!canRead(sent)) return undefined
  const { recovery, request } = sent
  const { repo, targetBranch, pr } = request.concerns
  const where = [repo && `-R ${repositoryName(repo)}`, targetBranch && `-b ${targetBranch}`]
  return [recovery.inspectCommand, pr, ...where].filter(Boolean).join(' ')
}
