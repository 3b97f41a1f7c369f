import { argument } from '../../cli/inputs.ts'
import { pluralize } from '../../domain/format.ts'
import { parseUuid } from '../../domain/values/text.ts'
import { get, getArray, getString, isObject, type Json } from '../../json.ts'
import { keyValueTable, type TextBlock } from '../../output/view.ts'
import { type ResponseDecoder, recordDecoder, withoutPart } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { organizationInputs } from './failing-tests.ts'

/** The test itself is the record; `--json` prints it as it came, below `test`. */
const wholeTest: ResponseDecoder = {
  expects: 'json',
  read(answer) {
    const [document = {}] = recordDecoder(found => found).read(answer).records
    if (!isObject(document.test)) throw withoutPart('test')
    return {
      records: [document.test],
      document: ([test = {}]) => ({ ...document, test }),
      bytes: answer.bytes,
    }
  },
}

/** A common failure: how often and when last, and its summary, which may have many lines. */
const passageOf = (failure: Json, index: number): TextBlock => {
  const times = get(failure, 'occurrence_count')
  const last = getString(failure, 'last_occurrence')
  return {
    title: `failure ${index + 1}`,
    head: `${typeof times === 'number' ? pluralize(times, 'time') : 'sometimes'}, last ${last ?? 'at an unknown time'}`,
    text: getString(failure, 'summary') ?? '-',
  }
}

export const getTestDetails = defineOperation({
  command: 'flaky get',
  route: 'POST /flaky-tests/get-test-details',
  summary: 'Show everything that is known about a test',
  effect: false,
  inputs: {
    ...organizationInputs,
    test: argument('<test-id>', 'The test, a UUID as `flaky list` prints it', parseUuid, {
      location: 'body.test_id',
      required: true,
    }),
  },
  decoder: wholeTest,
  view({ records: [test = {}] }) {
    const shape = keyValueTable(test, [
      ['id', 'id'],
      ['name', 'name'],
      ['variant', 'variant'],
      ['status', 'status.value'],
      ['reason', 'status.reason'],
      ['since', 'status.timestamp'],
      ['quarantined', 'quarantined'],
      ['failure rate, last 24 hours', 'failure_rate_last_24h'],
      ['failure rate, last 7 days', 'failure_rate_last_7d'],
      ['pull requests impacted, last 7 days', 'pull_requests_impacted_last_7d'],
      ['owners', 'codeowners'],
      ['file', 'file_path'],
      ['suite', 'parent'],
      ['class', 'classname'],
      ['repository', 'repository.html_url'],
      ['link', 'html_url'],
      ['ticket', 'ticket.html_url'],
    ])
    return { ...shape, textBlocks: getArray(test, 'most_common_failures').map(passageOf) }
  },
  examples: ['mergeq flaky get 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'],
})
