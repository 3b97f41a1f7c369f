import { listFailingTests } from '../api/operations/failing-tests.ts'
import { getTestDetails } from '../api/operations/test-details.ts'
import { maxWindow } from '../domain/limits.ts'
import { parseTimeRange } from '../domain/time-range.ts'
import { parseGlob } from '../domain/values/glob.ts'
import { integerParser } from '../domain/values/numbers.ts'
import { choiceParser, parseUuid, textParser } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import { defineMethod } from './define-method.ts'
import { organizationOf } from './method-inputs.ts'
import { numberReader, readBoolean, readFiniteNumber, readMoment, textReader } from './option-readers.ts'

const testListReaders = {
  since: readMoment,
  until: readMoment,
  limit: numberReader(integerParser(1, Number.MAX_SAFE_INTEGER)),
  pageSize: numberReader(integerParser(1, 100)),
  pageToken: textReader(textParser('page token')),
  maxPages: numberReader(integerParser(1, Number.MAX_SAFE_INTEGER)),
  owner: textReader(textParser('owner')),
  quarantined: readBoolean,
  minFailureRate: readFiniteNumber,
  name: textReader(text => parseGlob(text, false)),
  path: textReader(text => parseGlob(text, true)),
  sort: textReader(choiceParser(['impact', 'rate', 'recent', 'name'])),
}

export const listTests = defineMethod(
  'listFailingTests',
  listFailingTests,
  testListReaders,
  async ({ since, until, minFailureRate, ...others }, inputs) => {
    const range = parseTimeRange(since, until, inputs.now)
    if (others.pageToken !== undefined && range.end - range.start > maxWindow)
      throw usageError(
        'pageToken requires a range of at most 7 days.',
        'A page token is valid only for the range of the request that returned it. Use the same range.',
      )
    return { ...others, ...(await organizationOf(inputs)), range, minRate: minFailureRate }
  },
  { since: 'range', until: 'range', minFailureRate: 'minRate' },
)

export const getTest = defineMethod(
  'getTestDetails',
  getTestDetails,
  { testId: textReader(parseUuid) },
  async ({ testId }, inputs) => {
    if (testId === undefined)
      throw usageError('testId is required.', 'Pass a test ID, a UUID that listFailingTests returns.')
    return { ...(await organizationOf(inputs)), test: testId }
  },
  { testId: 'test' },
)
