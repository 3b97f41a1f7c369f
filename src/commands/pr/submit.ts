import { changeSentence } from '../../api/change-sentence.ts'
import { extended, optional, outline } from '../../api/operations/fields.ts'
import {
  cancelPullRequest,
  getSubmittedPullRequest,
  submissionParams,
  submitPullRequest,
} from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { checkHead, resolveHead } from '../../api/reads/head-commit.ts'
import { receiptRecord } from '../../api/receipts.ts'
import { usageError } from '../../base/errors.ts'
import { type Cli, command } from '../../command/command.ts'
import { flag, type Input, optionInput, optionName } from '../../command/inputs.ts'
import { paramsTogether } from '../../command/param-inputs.ts'
import { pullRequests } from '../../command/pull-request-inputs.ts'
import { forEach, readForPerson, send, show } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { waitInputs, waitTimeLimit } from '../../command/wait-inputs.ts'
import { describeResubmission } from '../../domain/priorities.ts'
import { describeBase, isStacked } from '../../domain/stacks.ts'
import { kindOfOutcome, stateOf } from '../../domain/states.ts'
import { styled } from '../../output/styled-text.ts'
import { receiptColumns, singleRecord } from '../../output/view.ts'
import { joinList } from '../../values/format.ts'
import type { PullRequest } from '../../values/pull-request.ts'
import { queueName } from '../../values/repository.ts'
import { changeRecord, submittedFields, waitResultRecord } from '../../wait/records.ts'
import { explainFinished } from './shared/explain-finished.ts'
import { readWaitOptions, waitColumns, waitReads } from './shared/wait/options.ts'

const submitReceiptRecord = extended(receiptRecord, {
  submitted: 'boolean | null',
  wasQueued: optional('boolean'),
  stacked: optional('boolean'),
})

const resultRecord = extended(waitResultRecord, submittedFields)

const maxSuggested = 10

/** Says whether the queue is paused, and names the command that follows, to a person at a terminal. */
async function suggestWait(pullRequests: readonly PullRequest[], cli: Cli): Promise<void> {
  const { results, messages, logger } = cli
  if (results !== 'screen' || messages !== 'person') return
  const [first] = pullRequests
  if (first === undefined || pullRequests.length > maxSuggested) return
  const { repo, targetBranch } = first
  const queue = await readForPerson(cli, getQueue, { repo, targetBranch })
  if (stateOf(queue) === 'PAUSED') {
    const queued = pullRequests.filter(other => queueName(other) === queueName(first))
    const numbers = joinList(queued.map(({ pr }) => `#${pr}`))
    const start = queued.length === 1 ? 'starts' : 'start'
    await logger.info(`The queue is paused; ${numbers} ${start} when it resumes.`)
  }
  for (const command of cli.client().advice.toWait(pullRequests))
    await logger.infoLine([styled(`For the result, run: ${command}`, 'dim')])
}

const flagWait = optionInput('wait', flag('Wait for the result (pr land also submits again)'))

/** The other options of a wait require it. */
const waitInput: Input<boolean> = {
  ...flagWait,
  read(args) {
    const wait = flagWait.read(args)
    const typed = Object.keys(waitInputs)
      .map(key => `--${optionName(key)}`)
      .find(name => name !== '--match-head' && args.has(name))
    if (typed !== undefined && !wait)
      throw usageError(`${typed} requires --wait.`, `Add --wait, or omit ${typed}.`)
    return wait
  },
}

export const definition = command({
  name: 'pr submit',
  summary: 'Submit pull requests to the queue for testing and merging',
  operation: submitPullRequest,
  alsoSends: [...waitReads, cancelPullRequest],
  options: {
    pullRequests,
    params: paramsTogether(submissionParams),
    wait: waitInput,
    ...waitInputs,
  },
  set: setOf(submitPullRequest),
  timeLimit: args => (args.has('--wait') ? waitTimeLimit : undefined),
  exits: Object.values(kindOfOutcome),
  prints: {
    table:
      'one sentence per pull request; on a pipe, a row with pr, ok, delivery (how sure the result is), message',
    json: `one result (a receipt) per pull request, ${outline(submitReceiptRecord)}; with --wait, that of the wait with "submitted"`,
    ndjson: 'the same, one per line; with --wait, the lines of `mergeq pr wait`',
    documents: [submitReceiptRecord],
    columns: receiptColumns,
    with: {
      options: ['--wait'],
      documents: [resultRecord],
      records: [resultRecord, changeRecord],
      columns: waitColumns,
    },
  },
  examples: [
    'mergeq pr submit 123',
    'mergeq pr submit 123 124 --priority high',
    'mergeq pr submit 123 --wait',
  ],
  async run({ pullRequests, params, wait, ...waitValues }, cli) {
    if (wait) {
      const waitOptions = await readWaitOptions(waitValues, pullRequests.length, cli)
      const { waitAndReport } = await import('./shared/wait/report.ts')
      return waitAndReport(pullRequests, waitOptions, cli, { params, resubmit: 'safe' })
    }
    const head = await resolveHead(waitValues.matchHead, pullRequests.length, cli.client())
    const [only] = pullRequests
    const checked =
      head !== undefined && only !== undefined && !cli.options.dryRun
        ? await checkHead(only, head, cli.client())
        : undefined
    const submit = async (pullRequest: PullRequest) => {
      const { pr, targetBranch } = pullRequest
      const before = await readForPerson(cli, getSubmittedPullRequest, pullRequest)
      const sent = await send(cli, submitPullRequest, { ...pullRequest, ...params }, { head }).catch(
        explainFinished(cli, pullRequest, ['ok', 'closed'], { forAll: true }),
      )
      if (sent === 'printed') return sent
      const record = before ?? checked
      const base = describeBase(pr, record, targetBranch)
      if (base !== undefined) await cli.logger.info(base)
      const wasQueued = record?.isCurrentlySubmittedToQueue === true || sent.wasQueued === true
      const shown = show(
        sent,
        wasQueued
          ? describeResubmission(pullRequest, record ?? {}, params)
          : `${changeSentence(submitPullRequest, pullRequest)}.`,
      )
      if (record === undefined && !wasQueued) return shown
      const stacked = isStacked(record, targetBranch) ? { stacked: true } : {}
      return { ...shown, ...singleRecord({ ...shown.records[0], wasQueued, ...stacked }) }
    }
    // Equal priority is first come, first served (docs/reference/service.md, "Priorities").
    const code = await forEach(cli, submitPullRequest, pullRequests, submit, { atOnce: 1 })
    if (code === 0 && !cli.options.dryRun) await suggestWait(pullRequests, cli)
    return code
  },
})
