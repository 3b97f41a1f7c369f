import { listFailingTests } from '../../api/operations/failing-tests.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { negatableFlag, option } from '../../cli/inputs.ts'
import { organizationInputs } from '../../cli/queue-inputs.ts'
import { rangeInput } from '../../cli/time-range-options.ts'
import { maxWindow } from '../../domain/limits.ts'
import { parseGlob } from '../../domain/values/glob.ts'
import { integerParser, parseDecimal } from '../../domain/values/numbers.ts'
import { choiceParser, textParser } from '../../domain/values/text.ts'
import { usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'

/** A test whose status has a value: without a value, the reason replaces it (service-api.md section 2.5). */
const withStatus = (test: JsonObject): JsonObject =>
  getString(test, 'status.value') === undefined
    ? { ...test, status: { value: getString(test, 'status.reason') } }
    : test

/** `mergeq flaky list`: the tests that failed in a range of time. */
export const flakyListCommand = defineOperationCommand({
  command: 'flaky list',
  summary: 'List the tests that failed in a range of time, each once',
  operation: listFailingTests,
  inputs: {
    ...organizationInputs,
    range: rangeInput,
    limit: option('--limit <n>', 'At most so many tests', integerParser(1, Number.MAX_SAFE_INTEGER)),
    pageSize: option('--page-size <n>', 'Tests a page, 1 to 100 (default 100)', integerParser(1, 100)),
    pageToken: option('--page-token <token>', 'One page, as the service gives it', textParser('page token')),
    maxPages: option(
      '--max-pages <n>',
      'Stop after so many pages (default 10000)',
      integerParser(1, Number.MAX_SAFE_INTEGER),
    ),
    owner: option('--owner <name>', 'Only tests of this code owner', textParser('owner')),
    quarantined: negatableFlag('quarantined', 'Only quarantined tests'),
    minRate: option(
      '--min-failure-rate <x>',
      'Only tests that failed at least so often in the last 7 days',
      parseDecimal,
    ),
    name: option('--name <glob>', 'Only tests whose name matches', word => parseGlob(word, false)),
    path: option('--path <glob>', 'Only tests whose file matches', word => parseGlob(word, true)),
    sort: option(
      '--sort <key>',
      'Collect all, then order by impact, rate, recent or name',
      choiceParser(['impact', 'rate', 'recent', 'name']),
      {
        choices: ['impact', 'rate', 'recent', 'name'],
      },
    ),
    resumeFile: option(
      '--resume-file <file>',
      'Note in this file how far the list was printed; a second run goes on from there',
      textParser('name of the file'),
      { file: true },
    ),
  },
  view: ({ records }) =>
    table(records.map(withStatus), [
      ['NAME', 'name'],
      ['STATUS', 'status.value', 'state'],
      ['RATE 7D', 'failure_rate_last_7d', 'number'],
      ['PRS 7D', 'pull_requests_impacted_last_7d', 'number'],
      ['QUARANTINED', 'quarantined'],
      ['OWNERS', 'codeowners'],
      ['ID', 'id', 'id'],
    ]),
  check({ range, pageToken, limit, sort, resumeFile }) {
    const whole = { '--page-token': pageToken, '--limit': limit, '--sort': sort }
    for (const [flag, value] of Object.entries(whole))
      if (resumeFile !== undefined && value !== undefined)
        throw usageError(
          `--resume-file and ${flag} contradict each other.`,
          'What can be resumed is the whole list, in the order in which it comes; --max-pages cuts it into runs.',
        )
    if (pageToken !== undefined && range.end - range.start > maxWindow)
      throw usageError(
        '--page-token goes with a range of at most 7 days.',
        'A token belongs to one request; name its range.',
      )
  },
  examples: [
    'mergeq flaky list --since 7d --sort impact --limit 20',
    'mergeq flaky list --since 30d -o ndjson',
    "mergeq flaky list --owner @acme/web --name 'cart*' --json",
    'mergeq flaky list --since 30d -o ndjson --resume-file walk.state >> tests.ndjson',
  ],
})
