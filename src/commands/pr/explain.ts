import type { Row } from '../../api/operation.ts'
import type { Unread } from '../../domain/explain/explanation.ts'
import { judge } from '../../domain/explain/explain.ts'
import { concerns, readRun, type TestRun, testRunOf } from '../../domain/explain/test-run.ts'
import { documentOf, explanationShape } from './explain/view.ts'
import type { Fields } from '../../cli/inputs.ts'
import { explained } from '../../api/operations/pull-requests.ts'
import { read } from '../../api/operations/queues.ts'
import { shellWord } from '../../domain/shell-quote.ts'
import { isUnderTest } from '../../domain/states.ts'
import { testing } from '../../api/operations/testing-details.ts'
import { nameOf } from '../../domain/values/parsers.ts'
import { asFailure, type Failure, isFinal } from '../../errors.ts'
import type { Desk } from '../../cli/context.ts'
import { exchange } from '../../api/call.ts'
import { type Run, readRuns } from '../../cli/invocation.ts'
import { rehearse } from '../../cli/run-operation.ts'
import type { JsonObject } from '../../json.ts'
import { command } from '../../cli/command.ts'

type Explained = Run<typeof explained.fields>

/** A document, or the failure that kept it from being read; what concerns every reading is thrown. */
async function readingOf<F extends Fields>(
  row: Row<Row['route'], F>,
  run: Run<F>,
  desk: Desk,
): Promise<{ readonly document?: JsonObject; readonly failure?: Failure }> {
  try {
    const { reply } = await exchange(row, run, desk)
    const [document = {}] = reply.records
    return { document }
  } catch (error) {
    const failure = asFailure(error)
    if (isFinal(failure)) throw failure
    return { failure }
  }
}

/** Whether the service itself says that it does not know this. */
const isUnknown = ({ kind, details }: Failure): boolean => kind === 'not-found' && details.page !== true

/** What must be repeated in another command line for it to mean the same pull request. */
function flagsOf({ values: { repo } }: Explained, { given }: Desk): string {
  const [typed = ''] = given.get('pr') ?? []
  const flags = ['--repo', '--target-branch', '--base-url', '--profile'].flatMap(name => {
    const [value] = given.get(name) ?? []
    return value === undefined ? [] : [` ${name} ${shellWord(value)}`]
  })
  const isAddress = typed.includes('/') && !given.has('--repo')
  return [...(isAddress ? [` --repo ${shellWord(nameOf(repo))}`] : []), ...flags].join('')
}

/** The test run that the record names, or the one of this CI job's test branch while the pull request is tested. */
async function readTestRun(
  record: JsonObject,
  { values: { pr, ...onQueue } }: Explained,
  desk: Desk,
): Promise<{ readonly run?: TestRun; readonly unread?: Unread }> {
  const isTested = isUnderTest(String(record.state))
  const id = testRunOf(record) ?? (isTested ? await desk.settings.read('testRun') : undefined)
  if (id === undefined) return {}
  const asked = { values: { ...onQueue, testRun: id, pr: undefined }, sets: [] }
  const { document, failure } = await readingOf(testing, asked, desk)
  if (document === undefined) return { unread: { what: 'test run', why: failure?.message ?? '' } }
  // The job may run on the test branch of another pull request.
  return concerns(document, pr) ? { run: readRun(id, document) } : {}
}

async function explainOne(run: Explained, desk: Desk): Promise<void> {
  const { pr, repo, targetBranch } = run.values
  const reading = [
    readingOf(explained, run, desk),
    readingOf(read, { values: { repo, targetBranch }, sets: [] }, desk),
  ] as const
  // Both come to their end before a failure of one is told: the other would lose its connection and try again.
  await Promise.allSettled(reading)
  const [own, queue] = await Promise.all(reading)
  if (own.failure !== undefined && !isUnknown(own.failure)) throw own.failure
  const isQueueless = queue.failure !== undefined && isUnknown(queue.failure)
  const tested = own.document === undefined ? {} : await readTestRun(own.document, run, desk)
  const unread: readonly Unread[] = [
    ...(queue.failure === undefined || isQueueless
      ? []
      : [{ what: 'queue' as const, why: queue.failure.message }]),
    ...(tested.unread === undefined ? [] : [tested.unread]),
  ]
  const explanation = judge({
    pr,
    targetBranch,
    flags: flagsOf(run, desk),
    record: own.document,
    queue: isQueueless ? null : queue.document,
    run: tested.run,
    unread,
  })
  await desk.printer.print({
    records: [documentOf(explanation)],
    document: ([one = {}]) => one,
    shape: () => explanationShape(explanation, desk.world.clock.now()),
  })
}

/** `pr explain`: the record, the queue and the test run read together; 0 for any verdict. */
export const explain = command({
  command: 'pr explain',
  summary: 'Say why a pull request is not merging, and what to do next',
  on: explained,
  fields: {},
  asks: [read, testing],
  prints: {
    table: 'the verdict, the reasons, what to do next, and whether to submit again',
    json: '{"pr","targetBranch","title","verdict","state","since","queue","testRun","reasons","next","submitAgain","unread"}',
    ndjson: 'the same on one line',
  },
  examples: [
    'mergeq pr explain 123',
    'mergeq pr explain 123 --json | jq -r .verdict',
    'mergeq pr explain 123 --set includeTimeline=true',
  ],
  async run(_, desk) {
    const runs = await readRuns(explained, desk)
    if (desk.options.dryRun) return rehearse(explained, runs, desk)
    for (const one of runs) await explainOne(one, desk)
    await desk.printer.end()
    return 0
  },
})
