import { factsOf, shorten } from '../../../domain/explain/finding.ts'
import { readinessFindings } from '../../../domain/explain/readiness.ts'
import { describeSince } from '../../../domain/format.ts'
import { isFailedOrCancelled, normalizeState, terminalOutcome } from '../../../domain/states.ts'
import { get, getNumber, getString, type JsonObject } from '../../../json.ts'
import { linkSpan, type StyledLine, stateSpan, styled } from '../../../output/styled-text.ts'

/** The longest text of the service that is shown whole, in characters. */
const maxTextLength = 200

const shortenText = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : shorten(text, maxTextLength)

/** Returns the priority with its number: `medium (100)`. */
function priorityText(record: JsonObject): string | undefined {
  const [name, value] = [shortenText(getString(record, 'priorityName')), getNumber(record, 'priorityValue')]
  if (name === undefined) return value === undefined ? undefined : String(value)
  return value === undefined ? name : `${name} (${value})`
}

/**
 * Returns the record of a pull request as lines for a terminal: its state and title, then its properties as
 * far as the record has them. `page` is its URL, `now` is in milliseconds since 1970.
 */
export function pullRequestSheet(
  record: JsonObject,
  pr: number | undefined,
  page: string | undefined,
  now: number,
): readonly StyledLine[] {
  const state = normalizeState(getString(record, 'state') ?? '')
  const title = getString(record, 'prTitle')
  const short = (key: string) => shortenText(getString(record, key))
  const isSubmitted = get(record, 'isCurrentlySubmittedToQueue')
  const isOver = terminalOutcome(state) !== undefined
  const problems =
    state === 'NOT_READY'
      ? readinessFindings(factsOf(pr ?? 0, getString(record, 'prBaseBranch') ?? '', record, {}))
      : []
  const properties: readonly (readonly [string, StyledLine | undefined])[] = [
    ['priority', priorityText(record)],
    ['author', short('prAuthor')],
    ['base branch', short('prBaseBranch')],
    ['head commit', short('prSha')],
    // The state says it already, unless the two disagree.
    [
      'submitted',
      isSubmitted === false && !isOver
        ? 'no'
        : isSubmitted === true && isFailedOrCancelled(state)
          ? 'yes'
          : undefined,
    ],
    ['batching', get(record, 'noBatch') === true ? 'no: it is tested alone' : undefined],
    ...problems.map(({ message }) => ['not ready', message] as const),
    ['page', page === undefined ? undefined : [linkSpan(page, page)]],
  ]
  const width = Math.max(...properties.map(([name, value]) => (value === undefined ? 0 : name.length)))
  return [
    [
      ...(pr === undefined ? [] : [linkSpan(`#${pr}`, page), '  ']),
      stateSpan(state === '' ? 'unknown state' : shorten(state)),
      describeSince(short('stateChangedAt'), now, isOver),
    ],
    ...(title === undefined ? [] : [[styled(`  ${shorten(title, maxTextLength)}`, 'bold')]]),
    ...properties.flatMap(([name, value]): readonly StyledLine[] =>
      value === undefined
        ? []
        : [[styled(`  ${name.padEnd(width)}  `, 'dim'), ...(typeof value === 'string' ? [value] : value)]],
    ),
  ]
}
