import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, noon, type Seen, type Setting } from '../../support/harness.ts'
import { documentsIn } from '../../support/pr-wait.ts'

/** The files of three queues, of which the metrics name one. */
const files = {
  'q/web.yaml': 'repo: acme/web\ntargetBranch: main\nsettings: {concurrency: 9}\n',
  'q/quiet.yaml': 'repo: github.com/acme/quiet\ntargetBranch: main\n',
  'q/team/next.json': '{"repo":"acme/web","targetBranch":"next"}',
  'q/defaults.yaml': 'settings: {concurrency: 2}\n',
}
const metrics = [
  'mq_depth_current{repo="acme/web",branch="main"} 3',
  'mq_pr_conclusions_1h_total{repo="acme/web",branch="main",conclusion="failed"} 4',
  'mq_depth_current{repo="acme/other",branch="main"} 1\n',
].join('\n')

const nameIn = ({ body }: Seen): string => {
  const { repo = {}, targetBranch = '' } = body === '' ? {} : JSON.parse(body)
  return `${repo.name}@${targetBranch}`
}
const operationOf = ({ path }: Seen): string => path.split(/[/?]/).at(2) ?? ''

/** A service of queues that run; `answer` may answer in its place. */
function run(
  line: string,
  setting: Setting = {},
  answer: (seen: Seen) => Answer | undefined = () => undefined,
) {
  const disk = setting.disk ?? new Map<string, string>()
  const states = new Map<string, string>()
  return mergeq(line, {
    files,
    disk,
    ...setting,
    answer(seen) {
      const instead = answer(seen)
      if (instead !== undefined) return instead
      const operation = operationOf(seen)
      if (operation === 'getMergeQueueMetrics') return { body: metrics }
      if (operation !== 'updateQueue')
        return {
          body: JSON.stringify({ state: states.get(nameIn(seen)) ?? 'running', enqueuedPullRequests: [] }),
        }
      states.set(nameIn(seen), JSON.parse(seen.body).state)
      return { body: 'OK' }
    },
  })
}

const sentTo = (requests: readonly Seen[]) =>
  requests.map(seen => `${operationOf(seen)} ${nameIn(seen)}`.replace(' undefined@', '')).sort()

describe('-f names the queues of files, also those without metrics', () => {
  test.each(['pause', 'drain', 'resume'])('queue %s changes these, and asks for no metrics', async verb => {
    const { code, out, err, requests } = await run(`queue ${verb} -f q --yes`)
    expect(code, err).toBe(0)
    const queues = ['quiet@main', 'web@main', 'web@next']
    const changes = verb === 'resume' ? [] : queues.map(name => `updateQueue ${name}`)
    expect(sentTo(requests)).toEqual([...queues.map(name => `getQueue ${name}`), ...changes])
    expect(out.match(/^\S+\t\S+/gm)).toEqual([
      'github.com/acme/quiet\tmain',
      'github.com/acme/web\tnext',
      'github.com/acme/web\tmain',
    ])
    expect(err).toContain(`3 queues: 3 ${verb === 'resume' ? 'unchanged' : 'changed'}.\n`)
    const bodies = requests.filter(seen => operationOf(seen) === 'updateQueue').map(({ body }) => body)
    expect(bodies.join()).not.toContain('concurrency')
  })

  test.each<readonly [flags: string, env: Setting['env'], says: string]>([
    ['-R acme/web', {}, '--repo limits this to acme/web.'],
    ['', { MERGEQ_REPO: 'ACME/Web' }, 'MERGEQ_REPO limits this to ACME/Web.'],
  ])('%s with %j limits them, and says so', async (flags, env, says) => {
    for (const verb of ['pause --yes', 'check', 'wait', 'list', 'watch --for 1s']) {
      const { code, err, requests } = await run(`queue ${verb} -f q ${flags}`, { env: { ...env } })
      expect({ verb, says: err.includes(says) }).toEqual({ verb, says: true })
      expect({ verb, code, quiet: sentTo(requests).filter(name => name.includes('quiet')) }).toEqual({
        verb,
        code: verb === 'check' ? 21 : 0,
        quiet: [],
      })
    }
    const none = await run('queue pause -f q --yes -R acme/none')
    expect({ code: none.code, requests: none.requests }).toEqual({ code: 5, requests: [] })
    expect(none.err).toContain('No file of q names such a queue. --repo limits this to acme/none.')
  })

  test('queue check takes the failures from the metrics, where they have some', async () => {
    const { code, out } = await run('queue check -f q')
    expect({ code, rows: out.split('\n').map(row => row.split('\t').slice(0, 3).join(' ')) }).toEqual({
      code: 21,
      rows: [
        'github.com/acme/quiet main true',
        'github.com/acme/web next true',
        'github.com/acme/web main false',
        '',
      ],
    })
  })

  test('queue list has a row for each, and nothing for what the metrics do not say', async () => {
    const { out } = await run('queue list -f q --include-state')
    expect(out).toBe(
      [
        'github.com/acme/quiet\tmain\tRUNNING\t\t\t\t\t\t\n',
        'github.com/acme/web\tnext\tRUNNING\t\t\t\t\t\t\n',
        'github.com/acme/web\tmain\tRUNNING\t\t3\t\t\t4\t\n',
      ].join(''),
    )
    expect((await run('queue list -f q --json')).out).toContain(
      '{"repo":"github.com/acme/quiet","branch":"main","depth":null,"testing":null,"merged":null,"failed":null,"notReady":null}',
    )
    expect((await run('queue list -f q --all-repos')).code).toBe(2)
  })
})

describe('queue wait for several queues', () => {
  const busy = JSON.stringify({ state: 'running', enqueuedPullRequests: [{ prNumber: 7, state: 'TESTING' }] })

  test('has a result for each, in their order, and ends when all have', async () => {
    const clock = { now: noon }
    const { code, out, sleeps } = await run('queue wait -f q --interval 10s --json', { clock }, seen =>
      nameIn(seen) === 'web@next' && clock.now < noon + 30_000 ? { body: busy } : undefined,
    )
    const results = documentsIn(out)
    expect({ code, sleeps }).toEqual({ code: 0, sleeps: [10_000, 10_000, 10_000] })
    expect(
      results.map(({ targetBranch, outcome, elapsedSeconds }) => [targetBranch, outcome, elapsedSeconds]),
    ).toEqual([
      ['main', 'reached', 0],
      ['next', 'reached', 30],
      ['main', 'reached', 0],
    ])
  })

  test('ends with the worst code; a queue that is refused does not stop the others', async () => {
    const { code, out, err } = await run('queue wait -f q --interval 10s --timeout 20s', {}, seen => {
      if (nameIn(seen) === 'quiet@main') return { status: 403 }
      return nameIn(seen) === 'web@next' ? { body: busy } : undefined
    })
    expect({ code, out: out.match(/\t(error|timed-out|reached)\t/g)?.join('') }).toEqual({
      code: 4,
      out: '\terror\t\ttimed-out\t\treached\t',
    })
    expect(err).toContain('main of acme/quiet')
    expect(err).not.toContain('Still waiting.')
  })
})
