import { getTestDetails, listFailingTests } from '../../api/operations/tests.ts'
import { defineCommand } from '../../cli/command.ts'
import { webInput } from '../../cli/common-inputs.ts'
import { printDryRun } from '../../cli/confirm.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { argument, option } from '../../cli/inputs.ts'
import { isUuid, textParser } from '../../domain/values/text.ts'
import { parseDuration } from '../../domain/values/time.ts'
import { usageError } from '../../errors.ts'
import { getString } from '../../json.ts'
import { type ColumnSpec, keyValueTable } from '../../output/view.ts'
import { findTest, searchParams } from './get/find-test.ts'
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

const typedTest = argument({
  name: 'test',
  summary: 'Test ID, the beginning of an ID (6 characters or more), or words from the name',
  values: 'tests',
  parse: textParser('test'),
})

export const flakyGetCommand = defineCommand({
  command: 'flaky get',
  summary: 'Show the details of a test',
  operation: getTestDetails,
  operations: [listFailingTests],
  fields: serviceRecord(
    getTestDetails,
    // A comma separates names.
    facts.filter(([title]) => !title.includes(',')),
  ),
  exitKinds: ['not-found', 'incomplete'],
  inputs: { testId: typedTest },
  options: {
    window: option({
      name: 'window',
      value: 'duration',
      default: '7d',
      summary: 'How far back to search for a name or the beginning of an ID',
      parse: parseDuration,
    }),
    web: webInput,
  },
  examples: [
    'mergeq flaky get 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
    'mergeq flaky get 2b4e8d1c --window 30d',
    'mergeq flaky get "address form"  # exits with 2 if several tests match',
  ],
  view({ records: [test = {}] }) {
    const page = getString(test, 'html_url')
    return {
      ...keyValueTable(test, facts),
      ...(page === undefined ? {} : { page }),
      textBlocks: failureBlocks(test),
      terminalView: () => ({ ...keyValueTable(test, facts), singleView: now => testSheet(test, now) }),
    }
  },
  async run({ window }, context) {
    if (window === 0) throw usageError('--window must be longer than 0.', 'For example: --window 30d')
    const requests = await context.requests()
    const [request] = requests
    if (request === undefined) return 0
    const { repo, org, testId } = request.values
    const now = context.host.clock.now()
    const search = { repo, org, range: { start: now - window, end: now } }
    if (context.options.dryRun)
      return isUuid(testId)
        ? printDryRun(getTestDetails, requests, context)
        : printDryRun(listFailingTests, [{ values: searchParams(search), overrides: [] }], context)
    const found = isUuid(testId) ? testId : await findTest(testId, search, context)
    return context.send([{ ...request, values: { ...request.values, testId: found } }])
  },
})
