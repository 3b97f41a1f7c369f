import { emptyDecoder } from '../decode.ts'
import { defineOperation, hintIfNotFound } from '../operation.ts'
import { param } from '../param.ts'
import { unknownRecovery } from '../unknown-recovery.ts'
import { queueParams } from './pull-requests.ts'

export const linkTicketToTestCase = defineOperation({
  route: 'POST /flaky-tests/link-ticket-to-test-case',
  // No operation is known to show the link, and whether a second link is harmless is not known either.
  effect: unknownRecovery,
  isHostedOnly: true,
  params: {
    repo: queueParams.repo,
    test: param<string>('body.test_case_id', { required: true }),
    ticket: param<string>('body.external_ticket_id', { required: true }),
  },
  decoder: emptyDecoder,
  errors: {
    subject: 'the test',
    hint: hintIfNotFound('Check the test ID and --repo.'),
  },
})
