import { neverSubmittedError, partsToRead, severalReader } from '../../../api/reads/several-pull-requests.ts'
import type { Resource } from '../../../api/resource.ts'
import type { JsonObject } from '../../../base/json.ts'
import { memoize } from '../../../base/scheduling.ts'
import type { Cli } from '../../../command/command.ts'
import { type Queue, queueName } from '../../../values/repository.ts'

type Place = Resource & Queue

/**
 * Returns the function that reads the record of one of several pull requests; undefined if it must be read alone. One request
 * for many is sent when the first of them is read. With a `grace`, one that was never submitted is read alone, too.
 */
export function readerOfSeveral(
  cli: Cli,
  wanted: readonly Place[],
  includeTimeline: boolean | undefined,
  grace: number,
) {
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
  return async (place: Place): Promise<JsonObject | undefined> => {
    const several = await readings.get(place)?.()
    const { pr = Number.NaN } = place
    if (grace === 0 && several?.notFound.has(pr) && !several.records.has(pr))
      throw neverSubmittedError(place, client)
    return several?.records.get(pr)
  }
}
