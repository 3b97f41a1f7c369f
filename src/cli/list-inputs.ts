import { defaultMaxPages, defaultPageSize } from '../domain/limits.ts'
import { integerParser } from '../domain/values/numbers.ts'
import { textParser } from '../domain/values/text.ts'
import { type Input, option } from './inputs.ts'

const terminalLimit = 30

export const pageSizeInput = (noun: string) =>
  option({
    name: 'page-size',
    value: 'n',
    default: String(defaultPageSize),
    summary: `${noun} per page, 1 to 100`,
    parse: integerParser(1, 100),
  })

export const pageTokenInput = option({
  name: 'page-token',
  value: 'token',
  summary: 'Fetch only the page with this token',
  parse: textParser('page token'),
})

export const maxPagesInput = option({
  name: 'max-pages',
  value: 'n',
  default: String(defaultMaxPages),
  summary: 'Maximum number of pages to fetch',
  parse: integerParser(1, Number.MAX_SAFE_INTEGER),
})

/** By default 30 records on a terminal, otherwise all, which is undefined. */
export function limitInput(noun: string): Input<number | undefined> {
  const typed = option({
    name: 'limit',
    value: 'n',
    defaultText: `${terminalLimit} on a terminal, otherwise 0`,
    summary: `Maximum number of ${noun}; 0 lists all`,
    parse: integerParser(0, Number.MAX_SAFE_INTEGER),
  })
  return {
    ...typed,
    read(args, { isTerminal }) {
      const limit = typed.read(args) ?? (isTerminal ? terminalLimit : 0)
      return limit === 0 ? undefined : limit
    },
  }
}

/**
 * Returns the line below a list on a terminal that a limit cut.
 *
 * @param count the records that are shown, such as `30 flaky tests`
 */
export const cutListSentence = (count: string): string =>
  `Showing ${count}; there are more. To list all, add --limit 0.`
