import { getString, type JsonObject } from '../../base/json.ts'
import { type QueueEntry, queueEntries } from '../../domain/queue-entries.ts'
import { queuedStates, queueStates, stateOf } from '../../domain/states.ts'

/** A queue that was read, under the labels that it has in the metrics of the service. */
interface QueueReading {
  readonly repo: string
  readonly branch: string
  readonly queue: JsonObject
  readonly now: number
}

type Value = readonly [value: number, state?: string]

/** Returns 1 or a count for each state, and 0 for the known states without any. */
const valuesByState = (known: readonly string[], states: readonly string[]): readonly Value[] =>
  [...new Set([...known, ...states])].map(state => [states.filter(other => other === state).length, state])

/** The seconds since pull requests changed their state, without those that do not say when. */
const agesOf = (entries: readonly QueueEntry[], now: number): readonly number[] =>
  entries
    .map(({ record }) => (now - Date.parse(getString(record, 'stateChangedAt') ?? '')) / 1000)
    .filter(age => !Number.isNaN(age))
    .map(age => Math.max(0, age))

const families: readonly {
  readonly name: string
  readonly help: string
  values(queue: JsonObject, now: number): readonly Value[]
}[] = [
  {
    name: 'mergeq_queue_state',
    help: 'The state of the queue: 1 for its state, 0 for the others.',
    values: queue => valuesByState(queueStates, [stateOf(queue) || 'UNKNOWN']),
  },
  {
    name: 'mergeq_queue_pull_requests',
    help: 'The queued pull requests by state. Those that are not ready are not listed.',
    values: queue =>
      valuesByState(
        queuedStates,
        queueEntries(queue).map(({ state }) => state || 'UNKNOWN'),
      ),
  },
  {
    name: 'mergeq_queue_head_age_seconds',
    help: 'The time since the first pull request of the queue changed its state.',
    values: (queue, now) => agesOf(queueEntries(queue).slice(0, 1), now).map(age => [age]),
  },
  {
    name: 'mergeq_queue_oldest_age_seconds',
    help: 'The time since the state change of the pull request that has not changed for longest.',
    values(queue, now) {
      const ages = agesOf(queueEntries(queue), now)
      return ages.length === 0 ? [] : [[ages.reduce((one, other) => Math.max(one, other))]]
    },
  },
]

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, text]) => `${name}="${escapeLabel(text)}"`)
    .join(',')

/** Returns what the metrics of the service lack about queues, as a text in the format of Prometheus. */
export const queueMetricsText = (readings: readonly QueueReading[]): string =>
  families
    .flatMap(({ name, help, values }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      ...readings.flatMap(({ repo, branch, queue, now }) =>
        values(queue, now).map(([value, state]) => {
          const labels = { repo, branch, ...(state === undefined ? {} : { state: state.toLowerCase() }) }
          return `${name}{${labelText(labels)}} ${value}`
        }),
      ),
    ])
    .join('\n')
    .concat('\n')
