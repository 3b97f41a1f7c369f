import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { bisection, main } from '../../support/metrics-text.ts'

const paths = (requests: readonly Seen[]) => requests.map(({ path }) => path)

describe('queue list', () => {
  const branch = 'release/2026-01-long-lived-branch-of-the-platform-team'
  const text = `mq_depth_current{${main}} 23
mq_depth_current{${bisection}} 2
mq_depth_current{repo="acme/api",branch="${branch}",queue_type="main"} NaN
mq_testing_slots_active{${main}} 4
mq_awaiting_mergeability{${main}} 2
mq_awaiting_mergeability{${bisection}} 1
mq_pr_conclusions_1h_total{${main},conclusion="merged"} 60
mq_pr_conclusions_1h_total{${main},conclusion="failed"} 0
`
  const numbers = { depth: 25, testing: 4, merged: 60, failed: 0, notReady: 3 }
  const noNumbers = { depth: null, testing: null, merged: null, failed: null, notReady: null }
  const web = { repo: 'github.com/acme/web', branch: 'main', ...numbers }
  const api = { repo: 'github.com/acme/api', branch, ...noNumbers }
  const list = (flags = '', setting: Setting = {}) =>
    mergeq(`queue list --color never ${flags}`, { answer: () => ({ body: text }), ...setting })

  test('a pipe gets tab-separated values, and JSON and CSV have names', async () => {
    const print = async (flags: string) => (await list(flags)).out
    expect(await print('')).toBe(
      `github.com/acme/web\tmain\t25\t4\t60\t0\t3\ngithub.com/acme/api\t${branch}\t\t\t\t\t\n`,
    )
    expect(JSON.parse(await print('--json'))).toEqual([web, api])
    expect(await print('-o csv')).toBe(
      `repository,branch,depth,testing,merged_1h,failed_1h,not_ready\r\ngithub.com/acme/web,main,25,4,60,0,3\r\ngithub.com/acme/api,${branch},,,,,\r\n`,
    )
  })

  test('one request is sent, -R asks for one repository, -b keeps the queues of one branch', async () => {
    expect(paths((await list()).requests)).toEqual(['/v1/getMergeQueueMetrics'])
    expect(paths((await list('-R acme/web')).requests)).toEqual([
      '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=github.com',
    ])
    expect(JSON.parse((await list('-b main --json')).out)).toEqual([web])
    expect((await list('--all-repos -R acme/web')).code).toBe(2)
  })

  test('no queue is a sentence on a terminal, and an empty list elsewhere', async () => {
    const none = { answer: () => ({ body: 'up 1\n' }) }
    expect(await list('', { ...none, terminal: true })).toMatchObject({
      code: 0,
      out: 'No queue has metrics. To look up a queue, use queue get with --repo and\n--target-branch.\n',
      err: '',
    })
    expect((await list('', none)).out).toBe('')
    expect((await list('--json', none)).out).toBe('[]\n')
  })

  test('--include-state reads each queue once; one that cannot be read has no state, and the list is incomplete', async () => {
    const metrics = Array.from(
      { length: 60 },
      (_, index) => `mq_depth_current{repo="acme/r${index}",branch="main"} 1\n`,
    ).join('')
    const answer = ({ path, body }: Seen): Answer => {
      if (path.includes('getMergeQueueMetrics')) return { body: metrics }
      if (body.includes('"r7"')) return { status: 403 }
      return { body: '{"state":"paused","mode":"parallel","enqueuedPullRequests":[]}' }
    }
    const { code, out, err, requests } = await list('--include-state', { answer })
    expect({ code, requests: requests.length }).toEqual({ code: 17, requests: 61 })
    expect(out.split('\n').slice(6, 8)).toEqual([
      'github.com/acme/r6\tmain\tPAUSED\tparallel\t1\t\t\t\t',
      'github.com/acme/r7\tmain\t\t\t1\t\t\t\t',
    ])
    expect(err).toMatch(/^mergeq: .* denied access .*\(main of acme\/r7\)\.\n/)
    const fields = await list('--include-state --fields repo,state -R acme/web', { answer })
    expect(fields.out).toContain('github.com/acme/r59\tPAUSED\n')
    const { out: screen } = await list('--include-state', { answer, terminal: true })
    expect(screen).toMatch(/^acme\/r7 +main +- +- +1$/m)
    expect(screen).toMatch(/^acme\/r8 +main +! paused +parallel +1$/m)
  })
})
