import { at, isObject, type Json, listAt, textAt } from '../../json.ts'
import { count, type Passage, sheet } from '../../output/view.ts'
import { endpoint } from '../operation.ts'
import { argument } from '../../cli/inputs.ts'
import { onOrganization } from './failing-tests.ts'
import { type Reading, record, withoutPart } from '../decode.ts'
import { uuid } from '../../domain/values/parsers.ts'

/** The test itself is the record; `--json` prints it as it came, below `test`. */
const wholeTest: Reading = {
  expects: 'json',
  read(answer) {
    const [document = {}] = record(found => found).read(answer).records
    if (!isObject(document.test)) throw withoutPart('test')
    return {
      records: [document.test],
      document: ([test = {}]) => ({ ...document, test }),
      bytes: answer.bytes,
    }
  },
}

/** A common failure: how often and when last, and its summary, which may have many lines. */
const passageOf = (failure: Json, index: number): Passage => {
  const times = at(failure, 'occurrence_count')
  const last = textAt(failure, 'last_occurrence')
  return {
    title: `failure ${index + 1}`,
    head: `${typeof times === 'number' ? count(times, 'time') : 'sometimes'}, last ${last ?? 'at an unknown time'}`,
    text: textAt(failure, 'summary') ?? '-',
  }
}

export const details = endpoint({
  command: 'flaky get',
  route: 'POST /flaky-tests/get-test-details',
  summary: 'Show everything that is known about a test',
  changes: false,
  fields: {
    ...onOrganization,
    test: argument('<test-id>', 'The test, a UUID as `flaky list` prints it', uuid, {
      at: 'body.test_id',
      needed: true,
    }),
  },
  reply: wholeTest,
  view({ records: [test = {}] }) {
    const shape = sheet(test, [
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
    return { ...shape, passages: listAt(test, 'most_common_failures').map(passageOf) }
  },
  examples: ['mergeq flaky get 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'],
})
