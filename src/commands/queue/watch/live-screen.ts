import type { LiveScreen } from '../../../cli/watch/live-renderer.ts'
import { elapsedSince, formatAge } from '../../../domain/format.ts'
import type { CommandLine } from '../../../domain/suggested-command.ts'
import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import {
  linkSpan,
  plainText,
  type Span,
  type StyledLine,
  stateSpan,
  styled,
} from '../../../output/styled-text.ts'
import { linesView } from '../../../output/view.ts'
import type { QueueName } from '../get/queue-activity.ts'
import { queueScreen } from '../get/queue-screen.ts'
import type { QueueUpdate } from './print-changes.ts'

/** How many pull requests that left are kept at most. */
const maxDepartures = 1_000

interface Departed {
  readonly pr: number
  /** Undefined if its final state is not known. */
  readonly state: string | undefined
  /** When it left, in milliseconds since 1970. */
  readonly at: number
}

/** Returns what is said of a pull request that left: `✗ #4 failed 2m ago`. */
function departureText({ pr, state, at }: Departed, { repo }: QueueName, now: number): readonly Span[] {
  const number = linkSpan(`#${pr}`, urlOfPullRequest(repo, pr))
  const age = { text: ` ${formatAge(now - at)} ago` }
  if (state === undefined) return [number, { text: ' left' }, age]
  const { text, style } = stateSpan(state)
  const [, sign = '', words = text] = /^(\S) (.*)$/.exec(text) ?? []
  const span = (text: string): Span => (style === undefined ? { text } : { text, style })
  return [...(sign === '' ? [] : [span(`${sign} `)]), number, span(` ${words}`), age]
}

/** Returns the line of what left the queue, newest first, as many as fit; then how many do not. */
function departuresLine(
  departures: readonly Departed[],
  queue: QueueName,
  now: number,
  columns: number,
): StyledLine {
  let line: readonly (string | Span)[] = [styled('LEFT', 'bold')]
  for (const [index, departed] of departures.entries()) {
    const longer = [...line, index === 0 ? '  ' : '   ', ...departureText(departed, queue, now)]
    const others = departures.length - index - 1
    const rest = others === 0 ? '' : `   ${others} more`
    if (index > 0 && plainText(longer).length + rest.length > columns)
      return [...line, styled(`   ${others + 1} more`, 'dim')]
    line = longer
  }
  return line
}

export function createQueueScreen(watched: QueueName, commandLine: CommandLine): LiveScreen<QueueUpdate> {
  let last: QueueUpdate | undefined
  let departures: readonly Departed[] = []
  return {
    update(update, now) {
      last = update
      const left = (update.changes ?? []).flatMap(({ pr, to, at, position }) =>
        pr === null || position !== null
          ? []
          : // A time that cannot be compared with this clock counts as the time of the reading.
            [{ pr, state: to ?? undefined, at: now - (elapsedSince(at, now) ?? 0) }],
      )
      departures = [...left, ...departures].sort((one, other) => other.at - one.at).slice(0, maxDepartures)
    },
    draw(now, columns) {
      if (last === undefined) return { view: linesView(['The queue has not been read yet.']), foot: [] }
      const { queue, activity } = last
      const view = queueScreen(queue, { ...watched, columns, activity, commandLine })
      return {
        view,
        foot: departures.length === 0 ? [] : [departuresLine(departures, watched, now, columns)],
      }
    },
  }
}
