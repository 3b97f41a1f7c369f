import { listFailingTests } from '../../api/operations/failing-tests.ts'
import { getTestDetails } from '../../api/operations/test-details.ts'
import { defineCommand, defineOperationCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { argument, type InputValues, option } from '../../cli/inputs.ts'
import type { Invocation } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/preview.ts'
import { organizationInputs } from '../../cli/queue-inputs.ts'
import { runInvocations } from '../../cli/run-invocations.ts'
import { webInput } from '../../cli/web-input.ts'
import { isUuid, textParser } from '../../domain/values/text.ts'
import { parseDuration } from '../../domain/values/time.ts'
import { usageError } from '../../errors.ts'
import { getString } from '../../json.ts'
import { type ColumnSpec, keyValueTable } from '../../output/view.ts'
import { findTest, type TestSearch } from './get/find-test.ts'
import { failureBlocks, testSheet } from './get/test-sheet.ts'

const facts: readonly ColumnSpec[] = [
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
]

const inputs = {
  ...organizationInputs,
  test: argument({
    name: 'test',
    summary: 'Test ID, the beginning of an ID (6 characters or more), or words from the name',
    values: 'tests',
    parse: textParser('test'),
  }),
  web: webInput,
}

type GetInvocation = Invocation<typeof inputs>

const testRecord = serviceRecord(
  getTestDetails,
  // A comma separates names.
  facts.filter(([title]) => !title.includes(',')),
)

/** Returns the request for the details of a test; `now` is in milliseconds since 1970. */
const createTestRequest = (now: number) =>
  defineOperationCommand({
    command: 'flaky get',
    summary: 'Show the details of a test',
    operation: getTestDetails,
    inputs,
    fields: testRecord,
    view({ records: [test = {}] }) {
      const page = getString(test, 'html_url')
      return {
        ...keyValueTable(test, facts),
        ...(page === undefined ? {} : { page }),
        textBlocks: failureBlocks(test),
        terminalView: () => testSheet(test, now),
      }
    },
    examples: [],
  })

const searchOf = ({ repo, org }: InputValues<typeof inputs>, window: number, now: number): TestSearch => ({
  repo,
  org,
  range: { start: now - window, end: now },
})

export const flakyGetCommand = defineCommand({
  command: 'flaky get',
  summary: 'Show the details of a test',
  request: { command: 'flaky get', operation: getTestDetails, inputs },
  operations: [listFailingTests],
  fields: testRecord,
  exitKinds: ['not-found', 'incomplete'],
  inputs: {
    window: option({
      name: 'window',
      value: 'duration',
      default: '7d',
      summary: 'How far back to search for a name or the beginning of an ID',
      parse: parseDuration,
    }),
  },
  examples: [
    'mergeq flaky get 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
    'mergeq flaky get 2b4e8d1c --window 30d',
    'mergeq flaky get "address form"  # exits with 2 if several tests match',
  ],
  validate({ window }) {
    if (window === 0) throw usageError('--window must be longer than 0.', 'For example: --window 30d')
  },
  async dryRun({ window }, context, invocations) {
    const [invocation] = invocations
    if (invocation === undefined || isUuid(invocation.values.test))
      return printDryRun(getTestDetails, invocations, context)
    const values = searchOf(invocation.values, window, context.host.clock.now())
    return printDryRun(listFailingTests, [{ values: { ...values }, overrides: [] }], context)
  },
  async run({ window }, context, [invocation]) {
    if (invocation === undefined) return 0
    const now = context.host.clock.now()
    const test = isUuid(invocation.values.test)
      ? invocation.values.test
      : await findTest(invocation.values.test, searchOf(invocation.values, window, now), context)
    return showTest({ ...invocation, values: { ...invocation.values, test } }, context)
  },
})

const showTest = (invocation: GetInvocation, context: CommandContext): Promise<number> =>
  runInvocations(createTestRequest(context.host.clock.now()), [invocation], context)
