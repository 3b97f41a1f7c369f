import { withTimeline } from '../../api/extra-reads.ts'
import { readTestRun } from '../../api/test-run-reads.ts'
import { joinTruncated, shorten } from '../../domain/format.ts'
import { isUnderTest, stateOf } from '../../domain/states.ts'
import type { Cli } from '../../run/command.ts'
import { forPerson } from '../../run/send.ts'
import type { WaitTarget } from '../../wait/wait-target.ts'

/**
 * Returns which checks of a pull request under test wait for a manual approval, as a sentence without a full stop, for a
 * person whose wait gave up. Undefined if there are none, and if it cannot be read.
 */
export const approvalNote = (
  { request: { values }, record = {} }: WaitTarget,
  timeout: number,
  cli: Cli,
): Promise<string | undefined> =>
  forPerson(cli, async () => {
    const state = stateOf(record)
    if (!isUnderTest(state)) return undefined
    const client = cli.client()
    const limits = { maxRetries: 0, timeout: () => timeout }
    const detailed = await withTimeline(client, record, values, { limits, states: [state] })
    const { run } = await readTestRun(detailed, values, client, limits)
    const names = (run?.awaitingApproval ?? []).map(name => shorten(name))
    if (names.length === 0) return undefined
    const checks = names.length === 1 ? 'Its check' : 'Its checks'
    const wait = names.length === 1 ? 'waits' : 'wait'
    return `${checks} ${joinTruncated(names)} ${wait} for a manual approval`
  })
