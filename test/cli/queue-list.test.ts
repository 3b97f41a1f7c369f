import { describe, expect, test } from 'vitest'
import { mergeq, openStory, type Seen } from '../support/harness.ts'

const branch = 'release/2026-01-long-lived-branch-of-the-platform-team'
const text = `# TYPE mq_depth_current gauge
mq_depth_current{repo="acme/web",branch="main",queue_type="main"} 23
mq_depth_current{repo="acme/web",branch="main",queue_type="bisection"} 2
mq_depth_current{repo="acme/api",branch="${branch}",queue_type="main"} NaN

mq_testing_slots_active{repo="acme/web",branch="main",queue_type="main"} 4
mq_pr_conclusions_1h_total{repo="acme/web",branch="main",queue_type="main",conclusion="merged"} 60
mq_pr_conclusions_1h_total{repo="acme/web",branch="main",queue_type="main",conclusion="failed"} 0
mq_pr_conclusions_1h_total{repo="acme/web",branch="main",queue_type="main",conclusion="cancelled"} 4
up 1
`
const answer = () => ({ body: text })
const web = { repo: 'acme/web', branch: 'main', depth: 25, testing: 4, merged: 60, failed: 0 }
const api = { repo: 'acme/api', branch, depth: null, testing: null, merged: null, failed: null }
const paths = (requests: readonly Seen[]) => requests.map(({ path }) => path)

describe('queue list', () => {
  test('one request without a repository, and a row for each queue', async () => {
    const { code, out, err, requests } = await mergeq('queue list --color never', {
      answer,
      terminal: true,
      columns: 120,
    })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(paths(requests)).toEqual(['/v1/getMergeQueueMetrics'])
    expect(
      out,
    ).toBe(`REPOSITORY  BRANCH                                                  DEPTH  TESTING  MERGED  FAILED
acme/web    main                                                       25        4      60       0
acme/api    ${branch}      -        -       -       -
`)
  })

  test.each([
    [60, 'REPOSITORY  BRANCH  DEPTH'],
    [80, 'REPOSITORY  BRANCH  DEPTH'],
    [90, 'REPOSITORY  BRANCH  DEPTH  MERGED  FAILED'],
    [200, 'REPOSITORY  BRANCH  DEPTH  TESTING  MERGED  FAILED'],
  ])('a terminal of %d columns shows the whole branch', async (columns, titles) => {
    const { out } = await mergeq('queue list --color never', { answer, terminal: true, columns })
    expect(out.split('\n')[0]?.replaceAll(/ {2,}/g, '  ')).toBe(titles)
    expect(out).toContain(branch)
    expect(out).toMatch(/^acme\/web +main +25/m)
  })

  test('a pipe gets tab-separated values, and every other format its own', async () => {
    const print = async (flags: string) => (await mergeq(`queue list ${flags}`, { answer })).out
    expect(await print('')).toBe(`acme/web\tmain\t25\t4\t60\t0\nacme/api\t${branch}\t\t\t\t\n`)
    expect(JSON.parse(await print('--json'))).toEqual([web, api])
    expect(await print('-o ndjson')).toBe(`${JSON.stringify(web)}\n${JSON.stringify(api)}\n`)
    expect(await print('-o csv')).toBe(
      `repository,branch,depth,testing,merged,failed\r\nacme/web,main,25,4,60,0\r\nacme/api,${branch},,,,\r\n`,
    )
    expect(await print('-o markdown')).toMatch(/^\| acme\/web \| main \| 25 \| 4 \| 60 \| 0 \|$/m)
    expect(await print('--fields branch,merged')).toBe(`main\t60\n${branch}\t\n`)
  })

  test('-R asks for one repository, -b keeps the queues of one branch', async () => {
    const ofRepository = await mergeq('queue list -R acme/web', { answer })
    expect(paths(ofRepository.requests)).toEqual([
      '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=github.com',
    ])
    const ofBranch = await mergeq('queue list -b main --json', { answer })
    expect(JSON.parse(ofBranch.out)).toEqual([web])
    expect((await mergeq('queue list --all-repos -R acme/web', { answer })).code).toBe(2)
  })

  test('no queue is a sentence on a terminal, and an empty list elsewhere', async () => {
    const none = { answer: () => ({ body: 'up 1\n' }) }
    const shown = await mergeq('queue list', { ...none, terminal: true })
    expect(shown).toMatchObject({
      code: 0,
      out: 'No queue has metrics. To look up a queue, run:\nmergeq queue get --repo owner/name --target-branch main\n',
      err: '',
    })
    const printed = async (flags: string) => (await mergeq(`queue list ${flags}`, none)).out
    expect([await printed(''), await printed('--json'), await printed('-o ndjson')]).toEqual(['', '[]\n', ''])
  })

  test('a rejected token exits 4, and a text other than metrics exits 15', async () => {
    expect((await mergeq('queue list', { answer: () => ({ status: 401 }) })).code).toBe(4)
    expect((await mergeq('queue list', { answer: () => ({ body: 'oops!\n' }) })).code).toBe(15)
  })

  test('names of the service do not act on a terminal', async () => {
    const body = 'mq_depth_current{repo="acme/web",branch="m\u001B[31main"} 1\n'
    const { out } = await mergeq('queue list --color never', { answer: () => ({ body }), terminal: true })
    expect(out).not.toContain('\u001B')
    expect(out).toMatch(/^acme\/web +m.*ain +1$/m)
  })
})

describe.each(['document', 'hosted'] as const)('queue list, %s', dialect => {
  test('counts what is queued and what has merged', async () => {
    const story = await openStory({ dialect })
    const list = async () => JSON.parse((await story.mergeq('queue list --json')).out)
    await story.mergeq('pr submit 7 8')
    story.clock.now += 1_000
    const before = await list()
    story.clock.now += 60_000
    const after = await list()
    await story.close()
    expect(before).toEqual([{ ...web, depth: 2, testing: expect.any(Number), merged: 0 }])
    expect(after).toEqual([{ ...web, depth: 0, testing: 0, merged: 2 }])
  })
})
