import { describe, expect, test } from 'vitest'
import { submitPullRequest } from '../../../src/api/operations/pull-requests.ts'
import { getNumber, type JsonObject } from '../../../src/base/json.ts'
import { read } from '../../../src/command/send.ts'
import type { Answer } from '../../support/harness.ts'
import { type Answers, json, namesOf, run } from '../../support/named-answers.ts'
import { entry, queue, record, uuid } from '../../support/pr-explain.ts'
import { documentsIn } from '../../support/pr-wait.ts'

const where = '-R acme/web -b main'

const timeline = [
  { state: 'cancelled', timestamp: '2026-01-05T11:57:00Z', reason: 'pr_closed', actor: { login: 'ada' } },
  { state: 'testing', timestamp: '2026-01-05T11:50:00Z' },
  { state: 'not_ready', timestamp: '2026-01-05T11:40:00Z', actor: 'grace' },
]

/** A pull request that was cancelled; its timeline comes when it is requested. */
const cancelled = (body: JsonObject): Answer =>
  json(record('CANCELLED', { prAuthor: 'linus', ...(body.includeTimeline === true ? { timeline } : {}) }))

describe('queue watch', () => {
  /** A queue that has these pull requests at the first reading, and none afterwards. */
  const emptied = (...numbers: readonly number[]) => {
    let looks = 0
    return () => json(queue('RUNNING', looks++ === 0 ? numbers.map(pr => entry(pr, 'TESTING')) : []))
  }
  const watch = `queue watch --interval 1s --for 1s ${where}`
  const changesIn = (out: string) => documentsIn(out).slice(1)

  test('says how a pull request left and who submitted it, from the timeline', async () => {
    const answers = { getSubmittedPullRequest: cancelled }
    const { code, out } = await run(`${watch} -o ndjson`, { ...answers, getQueue: emptied(7) })
    expect({ code, changes: changesIn(out) }).toEqual({
      code: 0,
      changes: [
        {
          type: 'change',
          pr: 7,
          from: 'TESTING',
          to: 'CANCELLED',
          at: '2026-01-05T11:57:00Z',
          position: null,
          author: 'linus',
          submittedBy: 'grace',
          reason: 'It was closed by ada.',
          serviceReason: 'pr_closed',
          by: 'person',
          actor: 'ada',
          again: 'no',
          mayBeMerged: false,
          repo: 'github.com/acme/web',
          targetBranch: 'main',
        },
      ],
    })
    const people = await run(`${watch} -o table`, { ...answers, getQueue: emptied(7) })
    expect(people.out).toBe(
      '#7 TESTING -> CANCELLED: It was closed by ada (pr_closed). Submitted by grace.\n',
    )
    const pipe = await run(watch, { ...answers, getQueue: emptied(7) })
    expect(pipe.out).toBe(
      '2026-01-05T11:57:00Z\t7\tTESTING\tCANCELLED\t\tgithub.com/acme/web\tmain\tIt was closed by ada.\tada\n',
    )
  })

  test('names the actor where the sentence of the reason does not', async () => {
    const event = { reason: 'trunk_admin_requested', actor: 'ada' }
    const { out } = await run(`${watch} -o table`, {
      getQueue: emptied(7),
      getSubmittedPullRequest: () => json(record('CANCELLED', event)),
    })
    expect(out).toBe(
      '#7 TESTING -> CANCELLED: It was cancelled by the support of the service (trunk_admin_requested). Actor: ada.\n',
    )
  })

  test('names the author where the service has the record alone', async () => {
    const { out } = await run(`${watch} -o table`, {
      getQueue: emptied(7),
      getSubmittedPullRequest: () => json(record('MERGED', { prAuthor: 'linus' })),
    })
    expect(out).toBe('#7 TESTING -> MERGED: Author: linus.\n')
  })

  test('another error of the timeline is not reported; a rejected token ends the watch', async () => {
    const answers = (status: number): Answers => ({
      getQueue: emptied(7),
      getSubmittedPullRequest: body => (body.includeTimeline === true ? { status } : json(record('MERGED'))),
    })
    const failed = await run(watch, answers(500))
    expect({ code: failed.code, out: failed.out }).toEqual({
      code: 0,
      out: '2026-01-05T11:57:00Z\t7\tTESTING\tMERGED\t\tgithub.com/acme/web\tmain\t\t\n',
    })
    expect(failed.err).not.toContain('500')
    expect((await run(watch, answers(401))).code).toBe(4)
  })
})

test('`pr wait` takes the test run that the timeline names, and asks once if there is none', async () => {
  const outcome = await run(`pr wait 7 8 -o table --color never ${where}`, {
    getQueue: json(queue('RUNNING')),
    getSubmittedPullRequest: ({ pr, includeTimeline }) =>
      json({
        ...record('FAILED', { prNumber: getNumber(pr, 'number') ?? 0 }),
        ...(includeTimeline === true &&
          getNumber(pr, 'number') === 7 && { timeline: [{ state: 'failure', testRunId: uuid }] }),
      }),
    getMergeQueueTestingDetails: json({
      checkSuites: [{ checkRuns: [{ name: 'ci', conclusion: 'FAILURE' }] }],
    }),
  })
  expect(outcome.out).toContain('#7 has already failed. Failing check: ci\n')
  expect(outcome.requests.filter(({ body }) => body.includes('includeTimeline'))).toHaveLength(2)
  expect(namesOf(outcome).filter(name => name === 'getMergeQueueTestingDetails')).toHaveLength(1)
})

test('what reads sends no change', async () => {
  const values = { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'main', pr: 7 }
  await expect(read(Object.create(null), submitPullRequest, values)).rejects.toThrow('is a change')
})
