import { get, getNumber, isObject, type Json, type JsonObject } from '../../base/json.ts'
import { withNormalizedState } from '../../domain/states.ts'
import { type Type, toggle } from '../../values/types.ts'
import { defineOperation } from '../operation.ts'
import { param, pullRequestNumber, queueParams, requiredParam } from '../params.ts'
import { missingPartErrorWithMessage, notObjectError, type ResponseDecoder } from '../response.ts'

/** The largest number of pull requests of one request (docs/reference/service.md, "getSubmittedPullRequests"). */
export const maxPullRequests = 50

const numberIn = (value: unknown): number =>
  pullRequestNumber.check(
    typeof value === 'object' && value !== null && 'number' in value ? value.number : value,
  )

/** Numbers, which a request has as `[{"number":1}]`. */
const pullRequestNumbers: Type<readonly number[]> = {
  ...pullRequestNumber,
  expected: `a list of at most ${maxPullRequests} pull requests`,
  form: 'repeated',
  declaration: 'readonly number[]',
  parse: (...texts) => texts.map(text => pullRequestNumber.parse(text)),
  check(value) {
    if (!Array.isArray(value) || value.length > maxPullRequests) throw new Error(pullRequestNumbers.expected)
    return value.map(numberIn)
  },
}

const isListOfRecords = (value: Json | undefined): value is readonly JsonObject[] =>
  Array.isArray(value) && value.every(item => isObject(item) && getNumber(item, 'prNumber') !== undefined)

/** Decodes records of pull requests: their list, whose name is not documented, is that of objects with a `prNumber`. */
const recordsDecoder: ResponseDecoder = {
  expects: 'json',
  read({ document, ...response }) {
    if (!isObject(document)) throw notObjectError({ ...response, document })
    const { notFound: _, ...others } = document
    const lists = Object.values(others).filter(isListOfRecords)
    const records = lists.find(list => list.length > 0) ?? lists[0]
    if (records === undefined) throw missingPartErrorWithMessage(document, 'list of pull requests')
    return { records: records.map(withNormalizedState), envelope: document, bytes: response.bytes }
  },
}

/** Returns the numbers of the pull requests that were never submitted; each is a number or `{"number"}`. */
export const numbersNotFound = (envelope: JsonObject | undefined): readonly number[] => {
  const notFound = get(envelope, 'notFound')
  return (Array.isArray(notFound) ? notFound : []).flatMap(item =>
    typeof item === 'number' ? [item] : (getNumber(item, 'number') ?? []),
  )
}

/** Reads several pull requests of a queue (docs/reference/service.md, "getSubmittedPullRequests"). */
export const getSubmittedPullRequests = defineOperation({
  route: 'POST /getSubmittedPullRequests',
  summary: 'Reads the states of several submitted pull requests.',
  isHostedOnly: true,
  params: {
    ...queueParams,
    prs: requiredParam(pullRequestNumbers, 'Pull requests', {
      encode: numbers => numbers.map(number => ({ number })),
    }),
    includeTimeline: param(toggle, 'Show the events of the pull requests'),
  },
  decoder: recordsDecoder,
  errors: { subject: 'the pull requests' },
})
