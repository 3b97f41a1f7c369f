import { linkTicketToTestCase } from '../../api/operations/tests.ts'
import { defineCommand } from '../../cli/command.ts'
import { message } from '../../output/view.ts'

/** `mergeq flaky link`: links a ticket to a test. */
export const flakyLinkCommand = defineCommand({
  command: 'flaky link',
  summary: 'Link a ticket to a test',
  operation: linkTicketToTestCase,
  view: (_, { testId, ticket }) => message(`Linked ticket ${ticket} to test ${testId}.`),
  examples: [
    'mergeq flaky link 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a KAN-123  # exits with 5 if the test is unknown',
  ],
})
