import type { PaginationEnd } from '../../../api/pages.ts'
import type { ListEnding } from '../../../cli/command.ts'
import { cutListSentence } from '../../../cli/common-inputs.ts'
import { formatInteger, pluralize } from '../../../domain/format.ts'
import type { CommandLine } from '../../../domain/suggested-command.ts'
import { getString, type JsonObject } from '../../../json.ts'
import {
  idColumn,
  nameColumn,
  ownerColumn,
  quarantinedColumn,
  type TestColumn,
  variantColumn,
} from './test-table.ts'

/** Returns the columns of failing tests on a terminal: how bad a test is, whose it is, and its name. */
export const failingTestColumns = (tests: readonly JsonObject[]): readonly TestColumn[] => [
  { title: 'RATE', format: 'rate', path: 'failure_rate_last_7d' },
  { title: 'PRS', format: 'number', path: 'pull_requests_impacted_last_7d' },
  ownerColumn,
  { title: 'STATUS', format: 'state', priority: 4, needsRoom: 32, path: 'status.value' },
  nameColumn,
  variantColumn(tests),
  quarantinedColumn,
  { title: 'REASON', format: 'id', priority: 10, needsRoom: 60, path: 'status.reason' },
  idColumn,
]

/** A word that every shell reads as itself within double quotes. */
const plainWord = /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u

/**
 * Returns the first words of the first test that name it alone among the tests, at least two. Returns the
 * beginning of its ID if there are none, or if they contain other characters than letters and numbers.
 * Undefined without a test.
 */
function exampleWords([first, ...others]: readonly JsonObject[]): string | undefined {
  const nameOf = (test: JsonObject) => (getString(test, 'name') ?? '').toLowerCase()
  const words = (getString(first, 'name') ?? '').split(/\s+/)
  for (let count = Math.min(2, words.length); count <= words.length; count++) {
    const chosen = words.slice(0, count)
    if (!chosen.every(word => plainWord.test(word))) break
    const text = chosen.join(' ')
    if (!others.some(other => nameOf(other).includes(text.toLowerCase()))) return text
  }
  return getString(first, 'id')?.slice(0, 8)
}

const orderTexts = {
  impact: 'worst first',
  rate: 'highest failure rate first',
  recent: 'last failure first',
  name: 'by name',
} as const

/** Returns the sentence for a list whose options hide all tests. */
const noMatchSentence = (hidden: number, noun: string, which: string): string =>
  hidden === 1
    ? `The only ${noun} ${which} does not match the options.`
    : `None of the ${pluralize(hidden, noun)} ${which} matches the options.`

/**
 * Returns the line below the failing tests on a terminal, or the sentence if there are none.
 *
 * @param range the range of time in words, such as `last 24 hours`
 */
export function failingTestEnding(
  { records, shown, total, hidden, complete, isBroken }: PaginationEnd,
  sort: keyof typeof orderTexts,
  range: string,
  commandLine: CommandLine,
): ListEnding | undefined {
  if (shown === 0) {
    if (isBroken) return undefined
    const when = range.startsWith('last')
      ? `in the ${range}`
      : range.startsWith('since')
        ? range
        : `from ${range}`
    return {
      sentence:
        hidden > 0
          ? noMatchSentence(hidden, 'test', `that failed ${when}`)
          : `No test failed ${when}. To search further back, run: ${commandLine(['flaky', 'list', '--since', '30d'])}`,
    }
  }
  const count =
    total === undefined || total === shown
      ? pluralize(shown, 'test')
      : `${formatInteger(shown)} of ${pluralize(total, 'test')}`
  const words = exampleWords(records)
  return {
    footer: [
      [
        shown === 1 ? `${count}, ${range}.` : `${count}, ${range}, ${orderTexts[sort]}.`,
        complete || isBroken ? '' : ' To list all, add --limit 0.',
        words === undefined ? '' : ` Details: ${commandLine(['flaky', 'get', words])}`,
      ],
    ],
  }
}

/**
 * Returns the line below the tests of a status on a terminal, or the sentence if there are none.
 *
 * @param adjective the status in words, such as `quarantined`
 * @param where the name of the repository
 */
export function statusListEnding(
  { shown, hidden, complete, isBroken }: PaginationEnd,
  adjective: string,
  where: string,
  commandLine: CommandLine,
): ListEnding | undefined {
  if (shown > 0) {
    const count = pluralize(shown, `${adjective} test`)
    return { footer: [complete || isBroken ? `${count} in ${where}.` : cutListSentence(count)] }
  }
  if (isBroken) return undefined
  return {
    sentence:
      hidden > 0
        ? noMatchSentence(hidden, `${adjective} test`, `in ${where}`)
        : `No test in ${where} is ${adjective}. To list the tests that failed, run: ${commandLine(['flaky', 'list'])}`,
  }
}
