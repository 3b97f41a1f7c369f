import { linkTicketToTestCase } from '../../api/operations/ticket-link.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { argument, settingInput } from '../../cli/inputs.ts'
import { parseUuid, textParser } from '../../domain/values/text.ts'
import { message } from '../../output/view.ts'

export const flakyLinkCommand = defineOperationCommand({
  command: 'flaky link',
  summary: 'Link a ticket to a test',
  operation: linkTicketToTestCase,
  inputs: {
    repo: settingInput('repo'),
    test: argument({
      name: 'test-id',
      summary: 'Test ID, a UUID as printed by `mergeq flaky list`',
      parse: parseUuid,
    }),
    ticket: argument({
      name: 'ticket',
      summary: 'Ticket ID in the issue tracker, such as KAN-123',
      parse: textParser('ticket'),
    }),
  },
  view: (_, { test, ticket }) => message(`Linked ticket ${ticket} to test ${test}.`),
  examples: [
    'mergeq flaky link 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a KAN-123  # exits with 5 if the test is unknown',
  ],
})
