import { expect, test } from 'vitest'
import { checkout } from '../support/checkout.ts'
import { mergeq, type Seen, type Setting } from '../support/harness.ts'

const names = ['api', 'docs', 'gone', 'web']
const homes = new Map([
  ['api', 'github.com'],
  ['docs', 'ghe.example.com'],
  ['web', 'ghe.example.com'],
])

/** A service whose metrics name no host, and whose queues are at two. */
function answer({ path, body }: Seen) {
  if (/Metrics/.test(path))
    return {
      body: names
        .map(name => `mq_depth_current{repo="acme/${name}",branch="main",queue_type="main"} 1\n`)
        .join(''),
    }
  const { repo, state = 'running' } = JSON.parse(body)
  if (homes.get(repo.name) !== repo.host)
    return { status: repo.name === 'docs' ? 400 : 404, body: 'Not Found' }
  return { body: JSON.stringify({ state, branch: 'main', enqueuedPullRequests: [] }) }
}

const withRemotes = (remotes: Readonly<Record<string, string>>): Setting => ({
  answer,
  spawn: checkout({ remotes }),
})
const ghe = 'https://ghe.example.com/acme/web'
const two = withRemotes({ origin: 'https://github.com/acme/api', ghe })

const sent = (requests: readonly Seen[], operation: string) =>
  requests.flatMap(({ path, body }) => {
    if (!path.endsWith(operation)) return []
    const { repo } = JSON.parse(body)
    return `${repo.host}/${repo.name}`
  })

test('each queue is asked for at every host that is known, and changed only where it was read', async () => {
  const { code, err, requests } = await mergeq('queue pause --all --yes', two)
  expect(code, err).toBe(5)
  expect(sent(requests, 'updateQueue')).toEqual([
    'github.com/api',
    'ghe.example.com/docs',
    'ghe.example.com/web',
  ])
  expect(err).toContain('If the repository is at another host, name its queue in a queue file (-f)')
})

test.each(['queue check --all', 'queue explain --all', 'queue wait --all', 'queue list --include-state'])(
  '%s names the host of each queue',
  async line => {
    const { out } = await mergeq(`${line} -o ndjson`, two)
    for (const [name, host] of homes) expect(out).toContain(`"repo":"${host}/acme/${name}"`)
  },
)

test.each([
  ['no host', withRemotes({}), '', 'github.com'],
  ['a repository that was typed', two, ' -R github.com/acme/web', 'github.com'],
])('with %s, no other host is asked', async (_, setting, typed, host) => {
  const { requests } = await mergeq(`queue pause --all --yes${typed}`, setting)
  expect(new Set(sent(requests, 'getQueue').map(each => each.replace(/\/.*/, '')))).toEqual(new Set([host]))
})

test('in a checkout of another host, queues at github.com are found, too', async () => {
  const { requests } = await mergeq('queue pause --all --yes', withRemotes({ ghe }))
  expect(sent(requests, 'updateQueue')).toContain('github.com/api')
  expect(sent(requests, 'getQueue')[0]).toMatch(/^ghe/)
})
