import type { ParamValues } from '../../api/operation.ts'
import { linkTicketToTestCase, listFailingTests } from '../../api/operations/tests.ts'
import type { ServiceRequest } from '../../api/resolve.ts'
import { call, forEach, show } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { command } from '../../cli/command.ts'
import { readInputItems } from '../../cli/common-inputs.ts'
import type { Input } from '../../cli/inputs.ts'
import { resourceName } from '../../cli/report.ts'
import { requestsOf } from '../../cli/requests.ts'
import { maxWindow } from '../../domain/limits.ts'
import { isUuid } from '../../domain/values/text.ts'
import { text } from '../../domain/values/types.ts'
import { usageError } from '../../errors.ts'
import { findTests, isIdBeginning, searchRequest, testSummary } from './get.ts'
import { type FailingTestsRequest, printSearch } from './read-tests.ts'

type LinkRequest = ServiceRequest<ParamValues<typeof linkTicketToTestCase.params>>

const lineHint = 'Write one link per line: <test-id> <ticket>'

/** Reads a line of standard input: the test and, behind white space, its ticket. */
function readLine(line: string): readonly [test: string, ticket: string] {
  const [, test = '', ticket] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? []
  if (ticket === undefined) throw usageError(`'${line.slice(0, 80)}' is not a link.`, lineHint)
  return [parseTest(test), linkTicketToTestCase.params.ticket.type.parse(ticket)]
}

function parseTest(text: string): string {
  if (isUuid(text) || isIdBeginning(text)) return text
  throw usageError(
    `'${text}' is not a test ID.`,
    'Use an ID or at least its first 6 characters. To list the IDs, run: mergeq flaky list --fields id,name',
  )
}

const typedTest: Input<string> = {
  definitions: [
    {
      name: 'test',
      required: true,
      summary: `${testSummary}; - reads lines of <test-id> <ticket> from standard input`,
    },
  ],
  async split(args, context) {
    const [[test = ''] = [], [ticket] = []] = [args.get('test'), args.get('ticket')]
    if (test !== '-' && ticket === undefined)
      throw usageError('No ticket was given.', 'For example: mergeq flaky link 2b4e8d1c KAN-123')
    if (test !== '-') return [args]
    if (ticket !== undefined)
      throw usageError('A ticket cannot be used with `-`: each line has its own.', lineHint)
    const links = await readInputItems('links', lineHint, line => [readLine(line)], context)
    return links.map(([test, ticket]) => new Map(args).set('test', [test]).set('ticket', [ticket]))
  },
  read: args => text('test').parse(args.get('test')?.[0] ?? ''),
}

const typedTicket: Input<string> = {
  definitions: [{ name: 'ticket', summary: linkTicketToTestCase.params.ticket.summary }],
  read: args => linkTicketToTestCase.params.ticket.type.parse(...(args.get('ticket') ?? [])),
}

export const flakyLinkCommand = command({
  name: 'flaky link',
  summary: 'Link a ticket to a test',
  operation: linkTicketToTestCase,
  alsoSends: [listFailingTests],
  options: { requests: requestsOf(linkTicketToTestCase, { testId: typedTest, ticket: typedTicket }) },
  exits: ['not-found', 'incomplete'],
  examples: [
    'mergeq flaky link 2b4e8d1c KAN-123  # exits with 5 if the test is unknown',
    'mergeq flaky link - < links.txt  # exits with 5 if a test is unknown',
  ],
  async run({ requests }, cli) {
    const search = await searchOf(requests, cli)
    if (search !== undefined && cli.options.dryRun) return printSearch(search.request, cli)
    const idOf = search === undefined ? new Map() : await findIds(search, cli)
    const links = requests.map(({ values, ...request }) => ({
      ...request,
      values: { ...values, testId: idOf.get(values.testId) ?? values.testId },
    }))
    // A link that is listed twice is sent once.
    const unique = new Map(links.map(link => [resourceName(link.values), link]))
    const link = async (request: LinkRequest) => {
      const { testId, ticket } = request.values
      return show(await call(cli, request), `Linked ticket ${ticket} to test ${testId}.`)
    }
    // A link that was sent is never sent again: what comes after a failure is left to the user.
    return forEach(cli, [...unique.values()], link, { stopOnError: true })
  },
})

/** The tests of which something else than the ID was typed, and the request that finds them. */
interface Search {
  readonly texts: readonly string[]
  readonly request: FailingTestsRequest
}

/** Returns what must be searched; undefined if every ID was typed. */
async function searchOf(requests: readonly LinkRequest[], cli: Cli): Promise<Search | undefined> {
  const texts = [...new Set(requests.map(({ values }) => values.testId).filter(id => !isUuid(id)))]
  const [first] = requests
  if (first === undefined || texts.length === 0) return undefined
  const org = await cli.settings.require('org')
  return { texts, request: searchRequest({ repo: first.values.repo, org }, maxWindow, cli) }
}

/** Returns the IDs of the tests that are searched, by what was typed. */
async function findIds({ texts, request }: Search, cli: Cli): Promise<ReadonlyMap<string, string>> {
  const ids = await findTests(cli, texts, request)
  return new Map(texts.map((text, index) => [text, ids[index] ?? text]))
}
