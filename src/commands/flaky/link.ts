import { readIfFound } from '../../api/call.ts'
import { changeSentence } from '../../api/change-sentence.ts'
import { getTestDetails, linkTicketToTestCase, listFailingTests } from '../../api/operations/tests.ts'
import type { ParamValues } from '../../api/params.ts'
import { usageError } from '../../base/errors.ts'
import { get } from '../../base/json.ts'
import { mapConcurrent, maxConcurrent } from '../../base/scheduling.ts'
import { type Cli, command } from '../../command/command.ts'
import { canPrompt, confirm } from '../../command/confirm.ts'
import { resourceName } from '../../command/each.ts'
import type { Definition, Input } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { forEach, send, show } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { yesOption } from '../../command/shared-inputs.ts'
import { joinTruncated, pluralize } from '../../values/format.ts'
import { maxWindow } from '../../values/limits.ts'
import { isUuid } from '../../values/text.ts'
import { text } from '../../values/types.ts'
import { findTests, isIdBeginning, searchRequest, testSummary } from './shared/find-tests.ts'
import { printSearch } from './shared/read-tests.ts'

const { type: ticketType } = linkTicketToTestCase.params.ticket

const lineHint = 'Write one link per line: <test-id> <ticket>'

function readLine(line: string): TypedLink {
  const [, test = '', ticket] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? []
  if (ticket === undefined) throw usageError(`'${line.slice(0, 80)}' is not a link.`, lineHint)
  return { test: parseTest(test), ticket: ticketType.parse(ticket) }
}

function parseTest(text: string): string {
  if (isUuid(text) || isIdBeginning(text)) return text
  throw usageError(
    `'${text}' is not a test ID.`,
    'Use an ID or at least its first 6 characters. To list the IDs, use flaky list --fields id,name.',
  )
}

const testArgument: Definition = {
  name: 'test',
  required: true,
  summary: `${testSummary}; - reads lines of <test-id> <ticket> from standard input`,
}

const ticketArgument: Definition = {
  name: 'ticket',
  summary: linkTicketToTestCase.params.ticket.summary,
}

type LinkValues = ParamValues<typeof linkTicketToTestCase.params>

interface TypedLink {
  readonly test: string
  readonly ticket: string
}

/** Whether the address of a ticket is that of a ticket: its last part, or the whole. */
const isTicket = (url: string, ticket: string): boolean =>
  [url, url.slice(url.lastIndexOf('/') + 1)].some(
    text => text.toLowerCase() === ticket.toLowerCase() || text === encodeURIComponent(ticket),
  )

/** Asks before a test gets another ticket than it has. Without an organization no test can be read. */
async function confirmReplaced(links: readonly LinkValues[], cli: Cli): Promise<void> {
  const org = await cli.settings.read('org')
  if (org === undefined) return
  const describe = async ({ repo, testId, ticket }: LinkValues) => {
    const record = await readIfFound(cli.client(), getTestDetails, { repo, org, testId })
    const url = get(record ?? null, 'ticket.html_url')
    return typeof url !== 'string' || url === '' || isTicket(url, ticket) ? [] : [`${testId} has ${url}`]
  }
  const others: string[] = []
  for await (const found of mapConcurrent(links, maxConcurrent, describe)) others.push(...found)
  if (others.length === 0) return
  const tests = pluralize(others.length, 'test')
  if (!canPrompt(cli))
    throw usageError(
      `Another ticket is linked to ${tests}: ${joinTruncated(others)}.`,
      'To link the new ticket all the same, add --yes.',
    )
  const statement = `This replaces the ticket of ${tests}:`
  await confirm({ statement, list: others.slice(0, 10), question: 'Continue?', expectedInput: 'y' }, cli)
}

const flagLinks: Input<readonly TypedLink[]> = {
  definitions: [testArgument, ticketArgument],
  async read(args, context) {
    const [[test = ''] = [], [ticket] = []] = [args.get('test'), args.get('ticket')]
    if (test !== '-' && ticket === undefined)
      throw usageError('No ticket was given.', 'Give it after the test, such as KAN-123.')
    if (test !== '-')
      return [{ test: text('test').parse(test), ticket: ticketType.parse(...(args.get('ticket') ?? [])) }]
    if (ticket !== undefined)
      throw usageError('A ticket cannot be used with `-`: each line has its own.', lineHint)
    const { linesOf, readInputItems } = await import('../../command/input-items.ts')
    return readInputItems({ noun: 'links', hint: lineHint }, text => linesOf(text).map(readLine), context)
  },
}

export const definition = command({
  name: 'flaky link',
  summary: 'Link a ticket to a test',
  operation: linkTicketToTestCase,
  alsoSends: [listFailingTests, getTestDetails],
  options: {
    links: flagLinks,
    yes: yesOption,
    ...paramsOf(linkTicketToTestCase, 'testId', 'ticket'),
  },
  set: setOf(linkTicketToTestCase, {
    testId: { definitions: [testArgument] },
    ticket: { definitions: [ticketArgument] },
  }),
  exits: ['not-found', 'incomplete'],
  examples: [
    'mergeq flaky link 2b4e8d1c KAN-123  # exits with 5 if the test is unknown',
    'mergeq flaky link - < links.txt  # exits with 5 if a test is unknown',
  ],
  async run({ links, yes, repo }, cli) {
    const searched = [...new Set(links.map(({ test }) => test).filter(test => !isUuid(test)))]
    const idOf = new Map<string, string>()
    if (searched.length > 0) {
      const org = await cli.settings.require('org')
      const search = searchRequest({ repo, org }, maxWindow)
      if (cli.options.dryRun) return printSearch(search, cli)
      const ids = await findTests(cli, searched, search)
      for (const [index, test] of searched.entries()) idOf.set(test, ids[index] ?? test)
    }
    const values = links.map(({ test, ticket }) => ({ repo, testId: idOf.get(test) ?? test, ticket }))
    // A link that is listed twice is sent once.
    const unique = new Map(values.map(link => [resourceName(link), link]))
    if (!yes && !cli.options.dryRun) await confirmReplaced([...unique.values()], cli)
    const link = async (values: LinkValues) => {
      const sent = await send(cli, linkTicketToTestCase, values)
      return show(sent, `${changeSentence(linkTicketToTestCase, values)}.`)
    }
    // A link that was sent is never sent again: what comes after a failure is left to the user.
    return forEach(cli, linkTicketToTestCase, [...unique.values()], link, { stopOnError: true })
  },
})
