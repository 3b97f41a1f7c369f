import { ageOf, describeSince, formatRate, pluralize } from '../../../domain/format.ts'
import { get, getArray, getNumber, getString, type Json, type JsonObject } from '../../../json.ts'
import { linkSpan, type StyledLine, stateSpan, styled } from '../../../output/styled-text.ts'
import { linesView, type TextBlock, type View } from '../../../output/view.ts'

/**
 * Returns a common failure as a block: how often it occurred and when last, and its summary, which may have
 * many lines.
 *
 * @param formatDate returns the date of the last occurrence as it is shown
 */
const failureBlock = (failure: Json, index: number, formatDate: (date: string) => string): TextBlock => {
  const times = getNumber(failure, 'occurrence_count')
  const last = getString(failure, 'last_occurrence')
  return {
    title: `failure ${index + 1}`,
    head: `${times === undefined ? 'an unknown number of times' : pluralize(times, 'time')}, last ${last === undefined ? 'at an unknown time' : formatDate(last)}`,
    text: getString(failure, 'summary') ?? '-',
  }
}

export const failureBlocks = (
  test: JsonObject,
  formatDate: (date: string) => string = date => date,
): readonly TextBlock[] =>
  getArray(test, 'most_common_failures').map((failure, index) => failureBlock(failure, index, formatDate))

/** Returns the status with its age and reason: `✗ broken for 3 days: Fails on the main branch`. */
function statusLine(test: JsonObject, now: number): readonly StyledLine[] {
  const [value, reason, timestamp] = ['value', 'reason', 'timestamp'].map(key =>
    getString(test, `status.${key}`),
  )
  const since = describeSince(timestamp, now, false)
  if (value !== undefined) return [['  ', stateSpan(value), since, reason === undefined ? '' : `: ${reason}`]]
  if (reason !== undefined) return [`  ${reason}${since === '' ? '' : `,${since}`}`]
  return []
}

/** Returns how often a test fails: `failed in 29% of runs in the last 7 days, 115 pull requests`. */
function failureLine(test: JsonObject): readonly StyledLine[] {
  const [week, day, pullRequests] = [
    'failure_rate_last_7d',
    'failure_rate_last_24h',
    'pull_requests_impacted_last_7d',
  ].map(key => getNumber(test, key))
  const impact = pullRequests === undefined ? '' : pluralize(pullRequests, 'pull request')
  const parts = [
    week === undefined
      ? impact === ''
        ? ''
        : `failed in ${impact} in the last 7 days`
      : `failed in ${formatRate(week)} of runs in the last 7 days${impact === '' ? '' : `, ${impact}`}`,
    day === undefined
      ? ''
      : `${week === undefined ? 'failed in ' : ''}${formatRate(day)} of runs in the last 24 hours`,
  ].filter(part => part !== '')
  return parts.length === 0 ? [] : [`  ${parts.join('; ')}`]
}

const link = (url: string | undefined): StyledLine | undefined =>
  url === undefined ? undefined : [linkSpan(url, url)]

/**
 * Returns a test as lines for a terminal: its name, how it is doing, whose it is and where, then its most
 * common failures. What the record does not have is left out. `now` is in milliseconds since 1970.
 */
export function testSheet(test: JsonObject, now: number): View {
  const [name, variant] = [
    getString(test, 'name') ?? 'a test without a name',
    getString(test, 'variant') ?? '',
  ]
  const owners = getArray(test, 'codeowners').filter(owner => typeof owner === 'string')
  const properties: readonly (readonly [string, StyledLine | undefined])[] = [
    ['owners', owners.length === 0 ? undefined : owners.join(', ')],
    ['file', getString(test, 'file_path')],
    ['suite', getString(test, 'parent')],
    ['page', link(getString(test, 'html_url'))],
    ['ticket', link(getString(test, 'ticket.html_url'))],
    ['id', getString(test, 'id')],
  ]
  const width = Math.max(...properties.map(([title]) => title.length))
  return {
    ...linesView([
      [styled(name, 'bold'), variant === '' ? '' : ` (${variant})`],
      ...statusLine(test, now),
      ...failureLine(test),
      ...(get(test, 'quarantined') === true ? ['  quarantined: its failures are ignored'] : []),
      ...properties.flatMap(([title, value]): readonly StyledLine[] =>
        value === undefined
          ? []
          : [[styled(`  ${title.padEnd(width)}  `, 'dim'), ...(typeof value === 'string' ? [value] : value)]],
      ),
    ]),
    textBlocks: failureBlocks(test, date => ageOf(date, now, ' ago')),
  }
}
