import type { Resource } from '../../../api/operation.ts'
import { neverSubmittedError, partsToRead, severalReader } from '../../../api/reads/several-pull-requests.ts'
import type { JsonObject } from '../../../base/json.ts'
import { memoize } from '../../../base/scheduling.ts'
import type { Cli } from '../../../command/command.ts'
import { type Queue, queueName } from '../../../values/repository.ts'

type Place = Resource & Queue

/** Returns the record of one of several pull requests; undefined if it must be read alone. */
type ReadOfSeveral = (place: Place) => Promise<JsonObject | undefined>

interface Options {
  readonly includeTimeline: boolean | undefined
  /** For how long a pull request that was never submitted is read again, in milliseconds. */
  readonly grace: number
}

/** One request for many is sent when the first of them is read. */
export function readerOfSeveral(
  cli: Cli,
  wanted: readonly Place[],
  { includeTimeline, grace }: Options,
): ReadOfSeveral {
  const client = cli.client()
  const readSeveral = severalReader(client)
  const readings = new Map<Place, () => ReturnType<typeof readSeveral>>()
  for (const name of new Set(wanted.map(queueName)))
    for (const part of partsToRead(wanted.filter(place => queueName(place) === name))) {
      const [first] = part
      if (first === undefined) continue
      const numbers = part.flatMap(({ pr }) => pr ?? [])
      const readPart = memoize(() => readSeveral(first, numbers, { includeTimeline }))
      for (const place of part) readings.set(place, readPart)
    }
  return async place => {
    const several = await readings.get(place)?.()
    const { pr = Number.NaN } = place
    if (grace === 0 && several?.notFound.has(pr) && !several.records.has(pr))
      throw neverSubmittedError(place, client)
    return several?.records.get(pr)
  }
}
