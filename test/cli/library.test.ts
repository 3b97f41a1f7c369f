import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { createNodeHost } from '../../src/host/node-host.ts'
import { createHostClient } from '../../src/library/client.ts'
import type { Client } from '../../src/library/types.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { type Answer, type Seen, type Service, serveScript } from '../support/harness.ts'

const never = new AbortController().signal
const bare = Object.create(process, { env: { value: { HOME: '/nonexistent' } } })

const open: (Pick<Service, 'close'> | Sandbox)[] = []
afterEach(() => Promise.all(open.splice(0).map(one => one.close())))

async function clientOf(
  answer: (seen: Seen, index: number) => Answer | Promise<Answer>,
  options: object = {},
) {
  const service = await serveScript(answer)
  open.push(service)
  const { baseUrl, requests } = service
  const about = { baseUrl, token: 'tok_4f2a9c1e77', repo: 'acme/web', targetBranch: 'main', org: 'acme' }
  return {
    client: createHostClient({ ...about, ...options }, createNodeHost(bare, '0.0.0-test', never)),
    requests,
  }
}

/** Calls a method by its name, as a program without types can. */
const call = (client: Client, name: string, options?: unknown): Promise<unknown> =>
  Reflect.apply(Reflect.get(client, name), client, [options])

const ok = () => ({ body: 'OK' })

test('there is a method for each operation', () => {
  const client = createHostClient({}, createNodeHost(bare, '0.0.0-test', never))
  const names = serviceOperations.map(({ route }) =>
    route.replace(/^.*\//, '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  )
  expect(Object.keys(client)).toEqual(names)
})

test('docs/library.md names every method', () => {
  const guide = readFileSync('docs/library.md', 'utf8')
  const client = createHostClient({}, createNodeHost(bare, '0.0.0-test', never))
  for (const name of Object.keys(client)) expect(guide).toContain(`\`${name}\``)
})

describe('what is sent is what the command line sends', () => {
  test.each([
    [
      'submitPullRequest',
      { pr: 7, priority: 'high', noBatch: true },
      { pr: { number: 7 }, priority: 'high', noBatch: true },
    ],
    [
      'submitPullRequest',
      { pr: '#7', priority: 10, noBatch: false },
      { pr: { number: 7 }, priority: 10, noBatch: false },
    ],
    ['submitPullRequest', { pr: 'https://github.com/acme/web/pull/7' }, { pr: { number: 7 } }],
    ['getSubmittedPullRequest', { head: 'fix-cart' }, { pr: { branch: 'fix-cart' } }],
    ['getMergeQueueTestingDetails', { run: 'trunk-merge/pr-7/4f2a' }, { testRunId: '4f2a' }],
    ['createQueue', { mode: 'parallel', concurrency: 2 }, { mode: 'parallel', concurrency: 2 }],
    [
      'setImpactedTargets',
      { pr: 7, sha: '4f2a', targets: ['//a', '//b', '//a'] },
      { pr: { number: 7, sha: '4f2a' }, impactedTargets: ['//a', '//b'] },
    ],
    [
      'setImpactedTargets',
      { pr: 7, sha: false, targets: 'ALL' },
      { pr: { number: 7 }, impactedTargets: 'ALL' },
    ],
    [
      'setImpactedTargets',
      { pr: 7, sha: false, targets: 'ALL' },
      { pr: { number: 7 }, impactedTargets: 'ALL' },
    ],
    ['setImpactedTargets', { pr: 7, sha: false, targets: [] }, { pr: { number: 7 }, impactedTargets: [] }],
    [
      'updateQueue',
      { state: 'paused', requiredStatuses: ['ci'] },
      { state: 'PAUSED', requiredStatuses: ['ci'] },
    ],
    [
      'updateQueue',
      { concurrency: 5, batch: false, requiredStatuses: ['ci', 'lint'] },
      { concurrency: 5, batch: false, requiredStatuses: ['ci', 'lint'] },
    ],
    ['updateQueue', { set: { 'new.field': [1, { deep: null }] } }, { new: { field: [1, { deep: null }] } }],
    ['deleteQueue', {}, {}],
  ])('%s %j', async (name, options, body) => {
    const { client, requests } = await clientOf(() => ({ body: '{"state":"pending"}' }))
    await call(client, name, options)
    const [{ repo, targetBranch, ...sent } = {}] = requests.map(request => JSON.parse(request.body))
    expect({ repo, targetBranch }).toEqual({
      repo: { host: 'github.com', owner: 'acme', name: 'web' },
      targetBranch: 'main',
    })
    expect(sent).toEqual(body)
    expect(requests[0]?.headers['x-api-token']).toBe('tok_4f2a9c1e77')
  })

  test('a Date is an instant', async () => {
    const { client, requests } = await clientOf(() => ({ body: '{"tests":[],"page":{}}' }))
    await call(client, 'listFailingTests', {
      since: new Date('2026-01-01T00:00:00Z'),
      until: new Date('2026-01-02T00:00:00Z'),
    })
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
      start_time: '2026-01-01T00:00:00.000Z',
      end_time: '2026-01-02T00:00:00.000Z',
    })
  })
})

describe('results', () => {
  test('a read is the document, a change its receipt', async () => {
    const { client } = await clientOf(({ path }) => ({
      body: path.endsWith('getQueue') ? '{"state":"running","enqueuedPullRequests":[],"extra":1}' : 'OK',
    }))
    expect(await call(client, 'getQueue')).toEqual({
      state: 'RUNNING',
      enqueuedPullRequests: [],
      extra: 1,
    })
    expect(await call(client, 'cancelPullRequest', { pr: 7 })).toEqual({
      operation: 'cancelPullRequest',
      repo: 'github.com/acme/web',
      targetBranch: 'main',
      pr: 7,
      ok: true,
      delivery: 'confirmed',
    })
  })

  test('all pages are one list', async () => {
    const { client } = await clientOf((_, index) => ({
      body: JSON.stringify({
        tests: [{ id: `id-${index}` }],
        page: { next_page_token: index < 2 ? String(index) : '' },
      }),
    }))
    expect(await call(client, 'listFailingTests')).toMatchObject({
      tests: [{ id: 'id-0' }, { id: 'id-1' }, { id: 'id-2' }],
      window: { complete: true },
    })
  })

  test('an incomplete list rejects with the part that was read', async () => {
    const { client } = await clientOf(
      (_, index) =>
        index === 0 ? { body: '{"tests":[{"id":"a"}],"page":{"next_page_token":"x"}}' } : { status: 500 },
      { retries: 0 },
    )
    await expect(call(client, 'listFailingTests')).rejects.toMatchObject({
      name: 'MergeqError',
      kind: 'incomplete',
      exit: 17,
      document: { tests: [{ id: 'a' }], window: { complete: false } },
    })
  })

  test.each([
    [404, { kind: 'not-found', exit: 5, status: 404 }],
    [401, { kind: 'auth', exit: 4, status: 401 }],
    [400, { kind: 'refused', exit: 6, status: 400 }],
  ])('%i rejects with the details of the error', async (status, known) => {
    const { client } = await clientOf(() => ({ status, body: 'no: tok_4f2a9c1e77' }))
    const error = await client.getSubmittedPullRequest({ pr: 7 }).catch(error => error)
    expect(error).toMatchObject({
      ...known,
      name: 'MergeqError',
      operation: 'getSubmittedPullRequest',
      hint: expect.any(String),
    })
    expect(error.message).not.toContain('tok_4f2a9c1e77')
  })

  test('repeats are reported, and a change that was refused has its receipt', async () => {
    const notices: string[] = []
    const { client } = await clientOf(
      (_, index) => (index === 0 ? { status: 429, headers: { 'retry-after': '0' } } : { status: 422 }),
      {
        onNotice: (text: string) => notices.push(text),
      },
    )
    await expect(call(client, 'submitPullRequest', { pr: 7 })).rejects.toMatchObject({
      kind: 'refused',
      delivery: 'not-applied',
      document: { pr: 7, ok: false, delivery: 'not-applied', exit: 6 },
    })
    expect(notices).toEqual([expect.stringMatching(/429.*retrying in/)])
  })
})

test.each([
  ['submitPullRequest', { pr: 7, prority: 'high' }, /submitPullRequest: unknown option prority/],
  ['submitPullRequest', { pr: {} }, /pr: \{\} is not a pull request/],
  ['setImpactedTargets', { pr: 7, sha: 'x', targets: '//a' }, /targets: "\/\/a" is not a list of strings/],
  ['getTestDetails', { testId: 'x' }, /not a test ID/],
  ['updateQueue', {}, /./],
])('%s refuses %j before anything is sent', async (name, options, says) => {
  const { client, requests } = await clientOf(ok)
  await expect(call(client, name, options)).rejects.toMatchObject({
    kind: 'usage',
    exit: 2,
    message: expect.stringMatching(says),
  })
  expect(requests).toEqual([])
})

test('a signal ends a call that is under way', async () => {
  const stop = new AbortController()
  const { client } = await clientOf(
    async () => {
      stop.abort()
      await new Promise(resolve => setTimeout(resolve, 50))
      return ok()
    },
    { signal: stop.signal },
  )
  await expect(call(client, 'getQueue')).rejects.toMatchObject({ kind: 'interrupted' })
  await expect(call(client, 'getQueue')).rejects.toMatchObject({ kind: 'interrupted' })
})

test.each([
  ['without a signal', {}],
  ['with a signal', { signal: new AbortController().signal }],
])('many calls at the same time print no warning: %s', async (_, options) => {
  const warnings: string[] = []
  const note = ({ message }: Error) => warnings.push(message)
  process.on('warning', note)
  const { client } = await clientOf(ok, options)
  await Promise.all(Array.from({ length: 12 }, () => client.getQueue().catch(() => undefined)))
  await new Promise(setImmediate)
  process.off('warning', note)
  expect(warnings).toEqual([])
})

test('each call reads the checkout again', async () => {
  const heads = ['1'.repeat(40), '2'.repeat(40)]
  const service = await serveScript(ok)
  open.push(service)
  const { baseUrl, requests } = service
  const host = {
    ...createNodeHost(bare, '0.0.0-test', never),
    cwd: '/repo',
    git: async (args: readonly string[]) =>
      args.includes('rev-parse') ? { code: 0, out: `${heads.shift()}\n` } : { code: 1, out: '' },
  }
  const client = createHostClient({ baseUrl, token: 'tok_4f2a9c1e77', repo: 'acme/web' }, host)
  const targets = { pr: 7, targets: ['web'], targetBranch: 'main' }
  for (const head of [...heads]) {
    await client.setImpactedTargets(targets)
    expect(JSON.parse(requests.at(-1)?.body ?? '').pr).toEqual({ number: 7, sha: head })
  }
})

test('on the sandbox, from submit to merged', async () => {
  const sandbox = await startSandbox({ now: () => Date.now() })
  open.push(sandbox)
  const { baseUrl, token, org } = sandbox
  const client = createHostClient(
    { baseUrl, token, org, repo: 'acme/web', targetBranch: 'main' },
    createNodeHost(bare, '0.0.0-test', never),
  )
  await call(client, 'submitPullRequest', { pr: 7 })
  expect(await call(client, 'getSubmittedPullRequest', { pr: 7 })).toMatchObject({
    isCurrentlySubmittedToQueue: true,
  })
})
