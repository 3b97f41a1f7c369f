import { listPullRequests } from '../api/operations/pull-request-list.ts'
import { isKnownState, pullRequestStates } from '../domain/states.ts'
import { parseMoment } from '../domain/time-range.ts'
import { integerParser } from '../domain/values/numbers.ts'
import { textParser } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import { defineMethod } from './define-method.ts'
import { queueOf } from './method-inputs.ts'
import { listReader, numberReader, readMoment, textReader } from './option-readers.ts'

/** Returns a state of a pull request in upper case. Throws a usage error for an unknown state. */
function parseState(text: string): string {
  const state = text.toUpperCase()
  if (!isKnownState(state))
    throw usageError(`'${text}' is not valid; must be one of: ${pullRequestStates.join(', ')}.`)
  return state
}

const positiveInteger = numberReader(integerParser(1, Number.MAX_SAFE_INTEGER))

export const listQueued = defineMethod(
  'listPullRequests',
  listPullRequests,
  {
    states: listReader(parseState),
    since: readMoment,
    author: textReader(textParser('author')),
    limit: positiveInteger,
    pageSize: numberReader(integerParser(1, 100)),
    maxPages: positiveInteger,
  },
  async ({ since, states, ...others }, inputs) => ({
    ...others,
    ...(await queueOf(inputs)),
    states: states === undefined ? undefined : [...new Set(states)],
    since: since === undefined ? undefined : parseMoment(since, inputs.now),
  }),
)
