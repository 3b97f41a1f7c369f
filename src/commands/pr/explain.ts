import { type CallOptions, callOperation } from '../../api/call.ts'
import { type Operation, withDecoder } from '../../api/operation.ts'
import { getSubmittedPullRequest, partialPullRequestDecoder } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getMergeQueueTestingDetails } from '../../api/operations/testing-details.ts'
import type { Params, ParamValues } from '../../api/param.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { type Invocation, readInvocations } from '../../cli/invocation.ts'
import { pullRequestArgument } from '../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { explainPullRequest } from '../../domain/explain/explain.ts'
import type { UnreadSource } from '../../domain/explain/explanation.ts'
import { parseTestRun, type TestRun, testRunOf, testsPullRequest } from '../../domain/explain/test-run.ts'
import { shellWord } from '../../domain/shell-quote.ts'
import { isUnderTest } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/parsers.ts'
import { isPermanent, type MergeqError, toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { explanationJson, explanationView } from './explain/view.ts'

/** The request that an explanation begins with; its record may lack the state. */
const explainRequest = {
  command: 'pr explain',
  operation: withDecoder(getSubmittedPullRequest, partialPullRequestDecoder),
  inputs: { ...queueInputs, pr: pullRequestArgument },
}

type Explained = Invocation<typeof explainRequest.inputs>

/** A document, or the failure that kept it from being read; what concerns every reading is thrown. */
async function readingOf<P extends Params>(
  operation: Operation<P>,
  params: ParamValues<P>,
  context: CommandContext,
  options: CallOptions = {},
): Promise<{ readonly document?: JsonObject; readonly failure?: MergeqError }> {
  try {
    const { reply } = await callOperation(context, operation, params, options)
    const [document = {}] = reply.records
    return { document }
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    return { failure }
  }
}

/** Whether the service itself says that it does not know this. */
const isUnknown = ({ kind, details }: MergeqError): boolean =>
  kind === 'not-found' && details.isWebPage !== true

/** What must be repeated in another command line for it to mean the same pull request. */
function flagsOf({ values: { repo } }: Explained, { args }: CommandContext): string {
  const [typed = ''] = args.get('pr') ?? []
  const flags = ['--repo', '--target-branch', '--base-url', '--profile'].flatMap(name => {
    const [value] = args.get(name) ?? []
    return value === undefined ? [] : [` ${name} ${shellWord(value)}`]
  })
  const isAddress = typed.includes('/') && !args.has('--repo')
  return [...(isAddress ? [` --repo ${shellWord(repositoryName(repo))}`] : []), ...flags].join('')
}

/** The test run that the record names, or the one of this CI job's test branch while the pull request is tested. */
async function readTestRun(
  record: JsonObject,
  { values: { pr, ...onQueue } }: Explained,
  context: CommandContext,
): Promise<{ readonly run?: TestRun; readonly unread?: UnreadSource }> {
  const isTested = isUnderTest(String(record.state))
  const id = testRunOf(record) ?? (isTested ? await context.settings.read('testRun') : undefined)
  if (id === undefined) return {}
  const { document, failure } = await readingOf(
    getMergeQueueTestingDetails,
    { ...onQueue, testRun: id },
    context,
  )
  if (document === undefined) return { unread: { what: 'test run', why: failure?.message ?? '' } }
  // The job may run on the test branch of another pull request.
  return testsPullRequest(document, pr) ? { run: parseTestRun(id, document) } : {}
}

async function explainOne(run: Explained, context: CommandContext): Promise<void> {
  const { pr, repo, targetBranch } = run.values
  const reading = [
    readingOf(explainRequest.operation, run.values, context, run),
    readingOf(getQueue, { repo, targetBranch }, context),
  ] as const
  // Both come to their end before a failure of one is told: the other would lose its connection and try again.
  await Promise.allSettled(reading)
  const [own, queue] = await Promise.all(reading)
  if (own.failure !== undefined && !isUnknown(own.failure)) throw own.failure
  const isQueueless = queue.failure !== undefined && isUnknown(queue.failure)
  const tested = own.document === undefined ? {} : await readTestRun(own.document, run, context)
  const unread: readonly UnreadSource[] = [
    ...(queue.failure === undefined || isQueueless
      ? []
      : [{ what: 'queue' as const, why: queue.failure.message }]),
    ...(tested.unread === undefined ? [] : [tested.unread]),
  ]
  const explanation = explainPullRequest({
    pr,
    targetBranch,
    flags: flagsOf(run, context),
    record: own.document,
    queue: isQueueless ? null : queue.document,
    run: tested.run,
    unread,
  })
  await context.printer.print({
    records: [explanationJson(explanation)],
    document: ([one = {}]) => one,
    shape: () => explanationView(explanation, context.host.clock.now()),
  })
}

/** `pr explain`: the record, the queue and the test run read together; 0 for any verdict. */
export const explain = defineCommand({
  command: 'pr explain',
  summary: 'Say why a pull request is not merging, and what to do next',
  request: explainRequest,
  inputs: {},
  operations: [getQueue, getMergeQueueTestingDetails],
  output: {
    table: 'the verdict, the reasons, what to do next, and whether to submit again',
    json: '{"pr","targetBranch","title","verdict","state","since","queue","testRun","reasons","next","submitAgain","unread"}',
    ndjson: 'the same on one line',
  },
  examples: [
    'mergeq pr explain 123',
    'mergeq pr explain 123 --json | jq -r .verdict',
    'mergeq pr explain 123 --set includeTimeline=true',
  ],
  async run(_, context) {
    const runs = await readInvocations(explainRequest, context)
    if (context.options.dryRun) return printDryRun(explainRequest.operation, runs, context)
    for (const one of runs) await explainOne(one, context)
    await context.printer.end()
    return 0
  },
})
