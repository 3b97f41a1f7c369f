import { listFailingTests } from '../../../api/operations/tests.ts'
import { incompleteListError } from '../../../api/pages.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { readPages } from '../../../cli/stream-pages.ts'
import { formatInteger, pluralize } from '../../../domain/format.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { describeInWords, type TimeRange, toIso } from '../../../domain/values/time.ts'
import { MergeqError, usageError } from '../../../errors.ts'
import { getString, type JsonObject } from '../../../json.ts'

export interface TestSearch {
  readonly repo: Repository
  readonly org: string
  /** The tests that failed in this range, which ends now. */
  readonly range: TimeRange
}

/** Returns the params of the list in which a test is searched. */
export const searchParams = ({ repo, org, range: { start, end } }: TestSearch) => ({
  repo,
  org,
  since: toIso(start),
  until: toIso(end),
})

/** A test that matches. */
interface FoundTest {
  readonly id: string
  readonly name: string
}

/** The shortest beginning of an ID that is searched, in characters. */
const minIdLength = 6

/** The length of the beginning of an ID that is shown, unless several tests have the same. */
const shownIdLength = 8

/** The largest number of matching tests that an error lists. */
const maxListed = 20

const normalize = (text: string): string => text.normalize('NFC').toLowerCase()

const isIdBeginning = (text: string): boolean => text.length >= minIdLength && /^[0-9a-f-]+$/i.test(text)

/**
 * Creates a search for the beginning of an ID, for a whole name, or for words of name and variant in any
 * order and case. Matches of the first kind that has any are found.
 */
function createSearch(text: string) {
  const wanted = normalize(text)
  const words = wanted.split(/\s+/)
  const [byId, byName, byWords]: [FoundTest[], FoundTest[], FoundTest[]] = [[], [], []]
  return {
    take(test: JsonObject): void {
      const [id, name = '', variant = ''] = ['id', 'name', 'variant'].map(key => getString(test, key))
      if (id === undefined) return
      const found = { id, name: variant === '' ? name : `${name} (${variant})` }
      const searched = normalize(`${name} ${variant}`)
      if (isIdBeginning(text) && id.toLowerCase().startsWith(text.toLowerCase())) byId.push(found)
      else if (normalize(name) === wanted) byName.push(found)
      else if (words.every(word => searched.includes(word))) byWords.push(found)
    },
    found: (): readonly FoundTest[] => [byId, byName, byWords].find(matches => matches.length > 0) ?? [],
  }
}

/** Returns the length at which the beginnings of the IDs differ, at least 8 characters. */
function idLengthOf(tests: readonly FoundTest[]): number {
  let length = shownIdLength
  while (length < 36 && new Set(tests.map(({ id }) => id.slice(0, length))).size < tests.length) length++
  return length
}

/**
 * Returns the ID of the only test that matches a text, of the tests that failed in a range. Throws a usage
 * error that lists the tests if several match, a `not-found` error if none does, and an `incomplete` error if
 * the tests could not be read to the end.
 */
export async function findTest(text: string, search: TestSearch, context: CommandContext): Promise<string> {
  const values = searchParams(search)
  const pages = await listFailingTests.pagination?.(values, context.host.clock.now())
  const { take, found } = createSearch(text)
  if (pages === undefined) return text
  const request = { command: 'flaky get', operation: listFailingTests }
  const failure = await readPages(request, { values, overrides: [] }, pages, context, tests => {
    for (const test of tests) take(test)
  })
  if (failure === 'closed') return text
  const { complete, problem } = pages.finish(failure?.message)
  if (!complete) throw incompleteListError(failure, problem, 'flaky get')
  const tests = found()
  const [test] = tests
  if (test === undefined) throw noMatchError(text, search, context)
  if (tests.length > 1) throw severalMatchesError(text, tests, context)
  return test.id
}

function noMatchError(text: string, { range }: TestSearch, { settings }: CommandContext): MergeqError {
  return new MergeqError(
    'not-found',
    `No test that failed in the ${describeInWords(range, true)} matches '${text}'.`,
    {
      hint: [
        `To search further back, run: ${settings.commandLine(['flaky', 'get', text])} --window 30d`,
        `To list the failing tests, run: ${settings.commandLine(['flaky', 'list'])}`,
      ].join('\n'),
    },
  )
}

function severalMatchesError(
  text: string,
  tests: readonly FoundTest[],
  context: CommandContext,
): MergeqError {
  const length = idLengthOf(tests)
  const sorted = [...tests].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const rest = sorted.length - maxListed
  const example = (sorted[0]?.id ?? '').slice(0, length)
  const command = context.settings.commandLine(['flaky', 'get', example], {}, ['--window'])
  return usageError(
    `${pluralize(tests.length, 'test')} match '${text}'.`,
    [
      ...sorted
        .slice(0, maxListed)
        .map(({ id, name }) => `${id.slice(0, length)}  ${context.secrets.redact(name)}`),
      ...(rest > 0 ? [`and ${formatInteger(rest)} more: add words from the name or the variant`] : []),
      `To show a test, run: ${command}`,
    ].join('\n'),
  )
}
