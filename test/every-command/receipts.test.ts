import { expect, test } from 'vitest'
import { isChange, operationName } from '../../src/api/operation.ts'
import { askingFiles, askingLines } from '../support/asking-commands.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, queueEnv } from '../support/harness.ts'

/**
 * What commands print that send several requests for one result: their results take the place of receipts. Every other
 * change is sent within `forEach` or `change`, which print the receipt of one that failed.
 */
const results: Readonly<Record<string, readonly object[]>> = {
  'pr submit --wait': [{ type: 'result', pr: 7, outcome: 'error', submitted: false }],
  'pr land': [{ type: 'result', pr: 7, outcome: 'error', submitted: false }],
  'queue delete --cancel-all': [],
  'queue pause --all': [{ targetBranch: 'main', ok: false }],
  'queue drain --all': [{ targetBranch: 'main', ok: false }],
  'queue resume --all': [{ targetBranch: 'main', ok: false }],
  'queue apply': [{ operation: 'updateQueue', ok: false, delivery: 'not-applied' }],
}

/** Lines in the place of those that other tests type. */
const lines: Readonly<Record<string, string>> = {
  'pr submit': '7',
  'pr cancel': '7',
  'pr restart': '7',
  'queue update': '--concurrency 5',
  'queue delete': '--yes',
  'pr submit --wait': '7 --timeout 2s --interval 1s',
  'queue delete --cancel-all': '--yes',
  'queue pause --all': '--yes',
  'queue drain --all': '--yes',
  'queue resume --all': '--yes',
  api: '--include submitPullRequest -F pr.number=7',
}

const record = { prNumber: 7, state: 'CANCELLED', isCurrentlySubmittedToQueue: false }

const reads: Readonly<Record<string, string>> = {
  getQueue: JSON.stringify({
    state: 'SWITCHING_MODES',
    concurrency: 1,
    enqueuedPullRequests: [{ ...record, state: 'PENDING' }],
  }),
  getSubmittedPullRequest: JSON.stringify(record),
  getMergeQueueMetrics: 'mq_depth_current{repo="acme/web",branch="main",queue_type="main"} 1\n',
}

const changing = allCommands.filter(({ operations }) => operations !== 'any' && operations.some(isChange))
const names = [...changing.map(({ command }) => command), 'api', ...Object.keys(results)]

test.each([...new Set(names)])(
  'a change that the service rejects has one receipt or result: %s',
  async name => {
    const sent: string[] = []
    const { code, out } = await mergeq(`${name} ${lines[name] ?? askingLines[name] ?? ''} --json`, {
      files: askingFiles,
      env: queueEnv,
      answer({ path }) {
        const operation = path.replace('/v1/', '').replace(/\?.*/, '')
        const body = reads[operation]
        if (body !== undefined) return { body }
        sent.push(operation)
        return { status: 422, body: 'rejected' }
      },
    })
    expect({ code, sent }).toEqual({ code: 6, sent: [expect.any(String)] })
    if (name === 'api') return expect(out).toContain('422')
    const documents = out.split('\n').filter(line => line !== '')
    const printed = documents.flatMap(line => JSON.parse(line))
    const [command] = changing.filter(each => each.command === name)
    const receipt = { operation: sent[0], ok: false, delivery: 'not-applied', exit: 6 }
    expect(printed).toEqual((results[name] ?? [receipt]).map(each => expect.objectContaining(each)))
    if (command === undefined || command.operations === 'any') return
    expect(command.operations.map(({ route }) => operationName(route))).toContain(sent[0])
  },
)
