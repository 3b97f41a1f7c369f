import { incompleteListError } from '../../../api/list.ts'
import { MergeqError, usageError } from '../../../base/errors.ts'
import { getString, type JsonObject } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { formatInteger, pluralize } from '../../../values/format.ts'
import { maxWindow } from '../../../values/limits.ts'
import { describeInWords } from '../../../values/time-range.ts'
import { testTitle } from './columns.ts'
import { type FailingTests, rangeOf, readFailingTests } from './read-tests.ts'

interface FoundTest {
  readonly id: string
  readonly name: string
}

const minIdLength = 6

const shownIdLength = 8

const maxListed = 20

const normalize = (text: string): string => text.normalize('NFC').toLowerCase()

export const isIdBeginning = (text: string): boolean =>
  text.length >= minIdLength && /^[0-9a-f-]+$/i.test(text)

/**
 * Creates a search for the beginning of an ID, for a whole name with or without its variant in parentheses, or for words
 * of name and variant in any order and case. Matches of the first kind that has any are found.
 */
function createSearch(text: string) {
  const wanted = normalize(text)
  const words = wanted.split(/\s+/)
  const [byId, byName, byWords]: [FoundTest[], FoundTest[], FoundTest[]] = [[], [], []]
  return {
    take(test: JsonObject): void {
      const id = getString(test, 'id')
      if (id === undefined) return
      const found = { id, name: testTitle(test) ?? '' }
      if (isIdBeginning(text) && id.toLowerCase().startsWith(text.toLowerCase())) byId.push(found)
      const title = normalize(found.name)
      if ([title, normalize(getString(test, 'name') ?? '')].includes(wanted)) byName.push(found)
      else if (words.every(word => title.includes(word))) byWords.push(found)
    },
    found: (): readonly FoundTest[] => [byId, byName, byWords].find(matches => matches.length > 0) ?? [],
  }
}

/** Returns the request for the tests that failed in the last `window` milliseconds. */
export const searchRequest = (
  { repo, org }: Pick<FailingTests, 'repo' | 'org'>,
  window: number,
): FailingTests => ({ repo, org, since: `${window}ms` })

/**
 * Returns, for each text, the ID of the only test that matches it, of the tests that failed in a range. Throws a
 * usage error that lists the tests if several match, a `not-found` error if none does, and an `incomplete` error if
 * the tests could not be read to the end.
 */
export async function findTests(
  cli: Cli,
  texts: readonly string[],
  request: FailingTests,
): Promise<readonly string[]> {
  const searches = texts.map(text => ({ text, ...createSearch(text) }))
  const end = await readFailingTests(cli, request, test => {
    for (const search of searches) search.take(test)
  })
  if (!end.complete) throw incompleteListError(end, cli.command)
  return searches.map(({ text, found }) => onlyMatch(text, found(), request, cli))
}

function onlyMatch(text: string, tests: readonly FoundTest[], request: FailingTests, cli: Cli): string {
  const [test] = tests
  if (test === undefined) {
    const { commandLine } = cli.settings
    const range = rangeOf(request, cli)
    const hints = [`To list the failing tests, run: ${commandLine(['flaky', 'list'])}`]
    if (range.end - range.start <= maxWindow)
      hints.unshift(`To search further back, run: ${commandLine(['flaky', 'get', text])} --window 30d`)
    const message = `No test that failed in the ${describeInWords(range, true)} matches '${text}'.`
    throw new MergeqError('not-found', message, { hint: hints.join('\n') })
  }
  if (tests.length > 1) throw severalMatchesError(text, tests, cli)
  return test.id
}

function severalMatchesError(
  text: string,
  tests: readonly FoundTest[],
  { settings, secrets }: Cli,
): MergeqError {
  const sorted = tests
    .map(({ id, name }) => ({ id: id.slice(0, shownIdLength), name: secrets.redact(name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const rest = sorted.length - maxListed
  const example = settings.commandLine(['flaky', 'get', sorted[0]?.id ?? ''], {}, ['--window'])
  return usageError(
    `${pluralize(tests.length, 'test')} match '${text}'.`,
    [
      ...sorted.slice(0, maxListed).map(({ id, name }) => `${id}  ${name}`),
      ...(rest > 0 ? [`and ${formatInteger(rest)} more: add words from the name or the variant`] : []),
      `To show a test, run: ${example}`,
    ].join('\n'),
  )
}

export const testSummary = 'Test ID, the beginning of an ID (6 characters or more), or words from the name'
