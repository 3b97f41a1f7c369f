import type { Evidence, Row, Settling, Verdict } from '../contract/endpoint.ts'
import type { Fields, Values } from '../contract/field.ts'
import type { Delivery } from '../contract/receipt.ts'
import { aboutOf } from '../contract/receipt.ts'
import type { Reply } from '../contract/reply.ts'
import { nameOf } from '../contract/words.ts'
import { asFailure, ended, Failure } from '../failure.ts'
import { type Request, textOf } from '../request/request.ts'
import { decode } from '../view/json.ts'
import { isObject } from '../view/shapes.ts'
import type { Desk } from './desk.ts'

/** A change that was sent and got no clear answer. */
export interface Unanswered {
  readonly change: Settling
  readonly request: Request
  readonly values: Values<Fields>
  /** When it was sent first, by our clock. */
  readonly sentAt: number
  readonly failure: Failure
  /** Sends the same bytes once more, without repeats. */
  again(): Promise<Reply>
  /** Reads once what the change would show in; `date` is the moment of the answer by the service's clock. */
  look(back: Row): Promise<{ readonly reply: Reply; readonly date: number | undefined }>
}

/** Milliseconds before each reading: a change can show late, so one that does not show must be seen three times. */
const pauses = [0, 2_000, 4_000]

/** A replay comes within so many milliseconds of the failure, or not at all: an old change must not undo a newer one. */
const latestReplay = 60_000

/**
 * Settles a change that got no clear answer (WIRE.md section 2): reads back, sends the same bytes at most once more,
 * and ends in `confirmed-by-read`, in `confirmed` by the replay's own answer, or in a failure that says what is known.
 */
export async function settle(
  sent: Unanswered,
  desk: Desk,
): Promise<{ readonly reply: Reply; readonly delivery: Delivery }> {
  const { change, request, failure } = sent
  const { clock } = desk.world
  // An answer over its limit is not asked for again: the change may be read back, but is not sent once more.
  const isOverLimit = failure.details.overLimit === true
  if (desk.options.retries === 0 || (isOverLimit && change.back === undefined)) throw unknown(sent, failure)
  const failedAt = clock.now()
  await desk.voice.note(
    `${ended(failure.message)} ${change.back === undefined ? 'Sending it once more.' : 'Reading back.'}`,
  )
  const first = change.back === undefined ? unreadable(change) : await readBack(sent, desk)
  if (first === 'done') return confirmed
  if (
    isOverLimit ||
    first !== 'not-applied' ||
    change.replay === 'never' ||
    clock.now() - failedAt > latestReplay
  )
    throw unknown(sent, failure)
  if (change.back !== undefined)
    await desk.voice.note(`${request.operation} was not applied: sending it once more.`)
  try {
    return { reply: await sent.again(), delivery: 'confirmed' }
  } catch (error) {
    const second = asFailure(error)
    if (second.kind === 'interrupted') throw second
    // Whatever the replay was told says nothing of the first sending: what can be read now decides.
    const then = change.back === undefined ? 'unclear' : await readBack(sent, desk)
    if (then === 'done') return confirmed
    if (then === 'unclear') throw unknown(sent, second)
    throw new Failure(second.details.reach === 'ambiguous' ? 'unavailable' : second.kind, second.message, {
      ...second.details,
      delivery: 'not-applied',
    })
  }
}

const confirmed = { reply: { records: [], bytes: new Uint8Array() }, delivery: 'confirmed-by-read' } as const

/** Without anything to read, the same bytes may be sent again where that does no harm. */
const unreadable = ({ replay }: Settling): Verdict => (replay === 'unread' ? 'not-applied' : 'unclear')

/** Reads until the change shows, at most three times. A reading that fails says nothing. */
async function readBack(sent: Unanswered, desk: Desk): Promise<'done' | 'not-applied' | 'unclear'> {
  const { clock, interrupted } = desk.world
  const verdicts: Verdict[] = []
  for (const pause of pauses) {
    if (pause > 0) await clock.sleep(pause, interrupted)
    const verdict = await readOnce(sent, desk)
    if (verdict === 'done') return verdict
    if (typeof verdict === 'object') {
      const { operation } = sent.request
      throw new Failure('refused', `${operation}: ${verdict.refused}.`, {
        operation,
        delivery: 'not-applied',
        hint: `This tells how it stands: ${tellsOf(sent) ?? sent.change.tells}`,
      })
    }
    verdicts.push(verdict)
  }
  return verdicts.every(verdict => verdict === 'not-applied') ? 'not-applied' : 'unclear'
}

async function readOnce(sent: Unanswered, desk: Desk): Promise<Verdict> {
  const { change, request, sentAt, look } = sent
  const { back } = change
  if (back === undefined) return 'unclear'
  const { clock } = desk.world
  const body = decode(request.body === undefined ? '{}' : textOf(request.body))
  const asked = clock.now()
  /** The answer was made between the asking and now: so much may the service's clock differ from ours. */
  const judge = (record: Evidence['record'], date: number | undefined): Verdict =>
    change.judge({
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
    const failure = asFailure(error)
    if (failure.kind === 'interrupted') throw failure
    // Another reading would cost as much and say as little.
    if (failure.details.overLimit === true) throw unknown(sent, failure)
    const { status, page } = failure.details
    return status === 404 && page !== true ? judge(undefined, undefined) : 'unclear'
  }
}

/** The failure when it is not known whether a change was applied: it names the command that tells. */
function unknown(sent: Unanswered, { message, details }: Failure): Failure {
  const tells = tellsOf(sent)
  return new Failure('unknown-outcome', `${ended(message)} It is not known whether the change was applied.`, {
    ...details,
    operation: sent.request.operation,
    delivery: 'unknown',
    hint:
      tells === undefined
        ? 'Nothing that can be read tells. Run it again if it does no harm to apply it twice.'
        : `This tells how it stands: ${tells}`,
  })
}

/** The command that tells a person how a change stands; undefined where nothing does. */
function tellsOf({ change, values }: Unanswered): string | undefined {
  if (change.back === undefined) return undefined
  const { repo, targetBranch, pr } = aboutOf(values)
  const where = [repo && `-R ${nameOf(repo)}`, targetBranch && `-b ${targetBranch}`]
  return [change.tells, pr, ...where].filter(Boolean).join(' ')
}
