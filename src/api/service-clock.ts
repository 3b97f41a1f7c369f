import { getString, type JsonObject } from '../base/json.ts'

/** When something was sent, by the local clock, in milliseconds since 1970: not before `from`, not after `to`. */
export interface SendingTime {
  readonly from: number
  readonly to: number
}

/** When a reading of the service began and ended, by the local clock, in milliseconds since 1970. */
interface ReadingTime {
  readonly askedAt: number
  readonly at: number
  /** When the service responded, by its own clock, in milliseconds since 1970, to the second. */
  readonly date: number | undefined
}

/** The first and last second in which something may have been sent, by the service's clock, since 1970. */
export interface SentSeconds {
  readonly sentFrom: number
  readonly sentTo: number
}

/**
 * Converts a time of sending to the service's clock. The service responded at some time during the reading, so
 * the difference of the clocks is known only to that extent. Every second is possible where the time, or the
 * service's clock, is not known.
 */
export const sentSeconds = (
  sent: SendingTime | undefined,
  { askedAt, at, date }: ReadingTime,
): SentSeconds =>
  sent === undefined || date === undefined
    ? { sentFrom: Number.NEGATIVE_INFINITY, sentTo: Number.POSITIVE_INFINITY }
    : {
        sentFrom: Math.floor((sent.from + date - at) / 1_000),
        sentTo: Math.floor((sent.to + date + 999 - askedAt) / 1_000),
      }

const changeSecond = (record: JsonObject): number =>
  Math.floor(Date.parse(getString(record, 'stateChangedAt') ?? '') / 1_000)

/** Whether a record's `stateChangedAt` is before or after the sending; undefined in between and without a date. */
export function changedWhen(
  record: JsonObject,
  { sentFrom, sentTo }: SentSeconds,
): 'before' | 'after' | undefined {
  const second = changeSecond(record)
  if (second < sentFrom) return 'before'
  return second > sentTo ? 'after' : undefined
}

/** Whether a record's `stateChangedAt` is certainly not before the second of sending. */
export const changedSince = (record: JsonObject, { sentTo }: SentSeconds): boolean =>
  changeSecond(record) >= sentTo

/** Returns the `stateChangedAt` of a record in milliseconds since 1970. */
export function changeTime(record: JsonObject | undefined): number | undefined {
  const time = Date.parse(getString(record, 'stateChangedAt') ?? '')
  return Number.isNaN(time) ? undefined : time
}

/** Whether a record is older than the newest change that is known. */
export const isOutdated = (record: JsonObject | undefined, newestChange = -Infinity): boolean =>
  (changeTime(record) ?? Infinity) < newestChange
