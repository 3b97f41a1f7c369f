import { usage } from '../../errors.ts'
import { at, type Json, type JsonObject, listAt, textAt } from '../../json.ts'
import { table } from '../../output/view.ts'
import { endpoint } from '../operation.ts'
import { type Context, type Field, flag, type Given } from '../../cli/inputs.ts'
import { onQueue } from './pull-requests.ts'
import { record } from '../decode.ts'
import { pullRequest, text } from '../../domain/values/parsers.ts'

/** The test run: an id, or a test branch that ends in one; by pull request where that was asked for. */
const testRun: Field<string | undefined> = {
  words: [{ spell: '[run]', summary: 'Test run id, or the name of a test branch that ends in one' }],
  setting: 'testRun',
  at: 'body.testRunId',
  async read(given: Given, context: Context) {
    const [typed] = given.get('run') ?? []
    if (given.has('--pr')) {
      if (typed !== undefined)
        throw usage('A test run and --pr name the same thing twice.', 'Leave one of them out.')
      return undefined
    }
    const [, number] = /^(?:#|https?:\/\/\S+\/pull\/)?(\d{1,10})$/.exec(typed ?? '') ?? []
    if (number !== undefined)
      throw usage(
        `'${typed}' is a pull request, and a test run is expected.`,
        `Ask by pull request: mergeq pr testing --pr ${number}`,
      )
    const run = typed ?? (await context.need('testRun'))
    return text('test run')(run.slice(run.lastIndexOf('/') + 1))
  },
}

/**
 * What is checked in a test run: check runs, then the newest status of each context (service-observed.md section 2.5).
 * What a row lacks is undefined.
 */
export function checksOf(run: Json): readonly JsonObject[] {
  const checks = listAt(run, 'checkSuites')
    .flatMap(suite => listAt(suite, 'checkRuns'))
    .map(check => ({
      kind: 'check',
      name: at(check, 'name'),
      state: at(check, 'conclusion') ?? at(check, 'status'),
      url: at(check, 'url'),
    }))
  const newest = new Map(
    listAt(run, 'statusChecks')
      .toReversed()
      .map(status => [textAt(status, 'context'), status]),
  )
  const statuses = [...newest.values()].toReversed().map(status => ({
    kind: 'status',
    name: at(status, 'context'),
    state: at(status, 'state'),
    url: at(status, 'url'),
  }))
  return [...checks, ...statuses]
}

export const testing = endpoint({
  command: 'pr testing',
  route: 'POST /getMergeQueueTestingDetails',
  summary: 'Show a test run: its checks, and what is tested in it',
  changes: false,
  fields: {
    ...onQueue,
    testRun,
    pr: flag(
      '--pr <n>',
      'Ask by pull request instead, where the service takes that',
      word => pullRequest(word).number,
      {
        at: 'body.pr.number',
      },
    ),
  },
  reply: record(document => document),
  view({ records: [run = {}] }) {
    const tested = listAt(run, 'testedPullRequests').map(pr => `#${at(pr, 'prNumber') ?? '?'}`)
    return {
      ...table(checksOf(run), [
        ['KIND', 'kind'],
        ['NAME', 'name'],
        ['STATE', 'state', 'state'],
        ['URL', 'url'],
      ]),
      heading: [
        `Test run ${textAt(run, 'status') ?? ''} on ${textAt(run, 'testBranch') ?? 'an unnamed branch'}, testing ${tested.join(', ') || 'nothing that it names'}`,
      ],
    }
  },
  examples: ['mergeq pr testing 6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c', 'mergeq pr testing --pr 123 --json'],
})
