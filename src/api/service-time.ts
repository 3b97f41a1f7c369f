import type { ServiceHost } from '../host/host.ts'
import type { Logger } from '../output/logger.ts'
import { formatRounded } from '../values/format.ts'

/** How far apart the clocks of the service and of this machine may be, in milliseconds. */
const maxDifference = 60_000

/**
 * Compares the clocks of the service and of this machine, all in milliseconds since 1970.
 *
 * @param date when the service responded, by its clock
 * @returns how far the clock of the service is ahead, at least, and whether that distorts ranges of time
 */
export function compareClocks(
  date: number,
  sentAt: number,
  receivedAt: number,
): { readonly difference: number; readonly isFar: boolean } {
  // The service responded at some time between both.
  const difference = Math.max(date - receivedAt, 0) + Math.min(date - sentAt, 0)
  return { difference, isFar: Math.abs(difference) > maxDifference }
}

/**
 * Creates the time of a service that has not responded yet, in milliseconds since 1970: that of this machine until a
 * response tells another one.
 */
export function createServiceTime({ clock }: Pick<ServiceHost, 'clock'>) {
  const localStart = clock.now()
  let known: number | undefined
  /** How far the clock of the service is ahead of that of this machine; 0 up to a minute. */
  const difference = () => known ?? 0
  return {
    now: () => clock.now() + difference(),
    /** When the command or the call began: one time for everything that a range such as `--since 24h` is used for. */
    startedAt: () => localStart + difference(),
    difference,
    /** Takes the `Date` of a response; the first one counts. `sentAt` is by the clock of this machine. */
    observe(text: string | undefined, sentAt: number) {
      const [date, receivedAt] = [Date.parse(text ?? ''), clock.now()]
      if (known !== undefined || Number.isNaN(date)) return
      const { difference, isFar } = compareClocks(date, sentAt, receivedAt)
      known = isFar ? difference : 0
    },
  }
}

export type ServiceTime = ReturnType<typeof createServiceTime>

/** Returns when the command or call began, by the service's clock. Warns once if the clock of this machine differs. */
export async function serviceStart({
  serviceTime,
  logger,
}: {
  readonly serviceTime: ServiceTime
  readonly logger: Pick<Logger, 'warnOnce'>
}): Promise<number> {
  const difference = serviceTime.difference()
  if (difference !== 0)
    await logger.warnOnce(
      `This machine's clock is ${formatRounded(Math.abs(difference))} ${difference < 0 ? 'ahead of' : 'behind'} the service's.`,
    )
  return serviceTime.startedAt()
}
