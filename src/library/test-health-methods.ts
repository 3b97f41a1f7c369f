import { listQuarantinedTests } from '../api/operations/quarantined-tests.ts'
import { linkTicketToTestCase } from '../api/operations/ticket-link.ts'
import { listUnhealthyTests, unhealthyStatuses } from '../api/operations/unhealthy-tests.ts'
import { parseGlob } from '../domain/values/glob.ts'
import { integerParser } from '../domain/values/numbers.ts'
import { choiceParser, parseUuid, textParser } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import { defineMethod } from './define-method.ts'
import { organizationOf } from './method-inputs.ts'
import { numberReader, readBoolean, textReader } from './option-readers.ts'

const positiveInteger = numberReader(integerParser(1, Number.MAX_SAFE_INTEGER))

const listReaders = {
  limit: positiveInteger,
  pageSize: numberReader(integerParser(1, 100)),
  pageToken: textReader(textParser('page token')),
  maxPages: positiveInteger,
  owner: textReader(textParser('owner')),
  name: textReader(text => parseGlob(text, false)),
  path: textReader(text => parseGlob(text, true)),
}

export const listQuarantined = defineMethod(
  'listQuarantinedTests',
  listQuarantinedTests,
  listReaders,
  async (options, inputs) => ({ ...options, ...(await organizationOf(inputs)) }),
)

export const listUnhealthy = defineMethod(
  'listUnhealthyTests',
  listUnhealthyTests,
  { ...listReaders, status: textReader(choiceParser(unhealthyStatuses)), quarantined: readBoolean },
  async (options, inputs) => {
    if (options.pageToken !== undefined && options.status === undefined)
      throw usageError(
        'pageToken requires status.',
        'A page token is valid only for the status of the request that returned it.',
      )
    return { ...options, ...(await organizationOf(inputs)) }
  },
)

export const linkTicket = defineMethod(
  'linkTicketToTestCase',
  linkTicketToTestCase,
  { testId: textReader(parseUuid), ticket: textReader(textParser('ticket')) },
  async ({ testId, ticket }, { settings }) => {
    if (testId === undefined || ticket === undefined)
      throw usageError(
        `${testId === undefined ? 'testId' : 'ticket'} is required.`,
        'Pass a test ID (a UUID) and a ticket ID.',
      )
    return { repo: await settings.require('repo'), test: testId, ticket }
  },
  { testId: 'test' },
)
