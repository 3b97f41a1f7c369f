import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import { execa } from 'execa'
import { beforeAll, expect, test } from 'vitest'
import { isMergeqError, MergeqError } from '../../src/base/errors.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const place = temporaryFolder('mergeq-types-')

/** Uses options and fields of each type; each marked line must be an error. */
const uses = `
async function useClient(client: Client): Promise<readonly unknown[]> {
  const receipt = await client.submitPullRequest({ pr: 7, priority: 'high', noBatch: false, repo: 'acme/web' })
  const delivery: 'confirmed' | 'confirmed-by-read' | 'not-applied' | 'unknown' = receipt.delivery
  await client.cancelPullRequest({ pr: '#7', repo: { host: 'github.com', owner: 'acme', name: 'web' } })
  await client.restartTestsOnPullRequest({ pr: 7, timeout: 5_000, retries: 0 })
  const pullRequest = await client.getSubmittedPullRequest({ head: 'fix-cart', set: { includeTimeline: true } })
  const state: string = pullRequest.state
  const mergeability: string | undefined = pullRequest.readiness?.gitHubMergeability
  await client.setImpactedTargets({ pr: 7, sha: false, targets: ['//cart'], tooLarge: 'fail' })
  await client.setImpactedTargets({ pr: 7, targets: 'ALL' })
  const run = await client.getMergeQueueTestingDetails({ run: '4f2a' })
  const conclusion: string | undefined = run.checkSuites?.[0]?.checkRuns?.[0]?.conclusion
  const tested: number | undefined = run.testedPullRequests?.[0]?.prNumber
  await client.createQueue({ mode: 'parallel', concurrency: 2 })
  const queue: Queue = await client.getQueue()
  const author: string | undefined = queue.enqueuedPullRequests[0]?.prAuthor
  const minutes: number | undefined = queue.testingTimeoutMinutes
  const merged: Extract<PullRequest['state'], 'MERGED'> = 'MERGED'
  const paused: Extract<Queue['state'], 'PAUSED'> = 'PAUSED'
  const unknownField: unknown = Reflect.get(queue, 'somethingNew')
  await client.updateQueue({ state: 'paused', batch: false, requiredStatuses: ['ci'] })
  await client.deleteQueue({ targetBranch: 'release' })
  const [sample] = await client.getMergeQueueMetrics()
  const branch: string | undefined = sample?.labels.branch
  const list = await client.listFailingTests({ since: '7d', until: new Date(), sort: 'impact', quarantined: false })
  const rate: number | undefined = list.tests[0]?.failure_rate_last_7d
  const complete: boolean = list.window.complete
  const rows: number | undefined = list.page?.total_rows
  const { test } = await client.getTestDetails({ testId: '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a' })
  const found: readonly TestCase[] = [test, ...list.tests]
  const { verdict, next } = await client.explainPullRequest({ pr: 7 })
  const command: string | null | undefined = next[0]?.command
  const depth: number | null | undefined = (await client.listQueues({ repo: 'acme/web' }))[0]?.depth
  const [result] = await client.waitForPullRequests({ prs: [7, '#8'], until: 'left', timeout: '30m', interval: 2_000 })
  const checks: readonly string[] | undefined = result?.failingChecks?.map(({ name }) => name)
  const [landed] = await client.landPullRequests({ prs: [7], attempts: 2, priority: 'high', onAttempt: ({ reason }) => reason.trim() })
  const made: readonly [number | undefined, boolean | null | undefined] = [landed?.attempts, landed?.submitted]
  // @ts-expect-error there is no such word
  await client.landPullRequests({ prs: [7], resubmit: 'never' })
  for await (const { failure_rate_last_7d } of client.iterateFailingTests({ since: '7d' })) return [failure_rate_last_7d]
  for await (const { prNumber } of client.iteratePullRequests({ states: ['MERGED'] })) return [prNumber, checks, made]
  for await (const change of client.watchQueue({ since: '10m', interval: 5_000 })) {
    const left: readonly [number | null, string | null, string | null | undefined] = [change.pr, change.to, change.by]
    // @ts-expect-error there is no such field
    return [left, change.state]
  }
  // @ts-expect-error a time between polls is no toggle
  client.watchQueue({ interval: true })
  const { number, repo = 'acme/web' } = parsePullRequest('acme/web#7')
  await client.cancelPullRequest({ pr: number, repo })
  // @ts-expect-error the pull requests are required
  await client.waitForPullRequests({ until: 'merged' })
  // @ts-expect-error a number is no text
  await client.createQueue({ concurrency: '2' })
  // @ts-expect-error there is no such option
  await client.getQueue({ prority: 1 })
  // @ts-expect-error the service decides about other words
  await client.updateQueue({ mergeMethod: 'octopus' })
  // @ts-expect-error the test is required
  await client.getTestDetails({})
  // @ts-expect-error there is no such field
  const misspelt = pullRequest.statee
  // @ts-expect-error the field is a number
  const title: string | undefined = pullRequest.prNumber
  return [delivery, state, verdict, command, depth, mergeability, conclusion, tested, author, minutes, merged, paused, unknownField, branch, rate, complete, rows, found, misspelt, title]
}

function describe(error: unknown): string {
  if (!(error instanceof MergeqError)) return isMergeqError(error) ? error.kind : String(error)
  const kind: 'usage' | string = error.kind
  return [kind, error.exit, error.hint ?? '', error.status ?? 0, error.document].join(' ')
}
void describe
`
const begin = `
const client = createClient({ token: 'x', onNotice: text => console.error(text), signal: new AbortController().signal })
void useClient(client)
`

const files = {
  'consumer.mts': `import { type Client, createClient, isMergeqError, MergeqError, parsePullRequest, type PullRequest, type Queue, type TestCase } from 'mergeq'\n${uses}${begin}`,
  'consumer.cts': `import mergeq = require('mergeq')
type Client = mergeq.Client
type PullRequest = mergeq.PullRequest
type Queue = mergeq.Queue
type TestCase = mergeq.TestCase
const { createClient, isMergeqError, MergeqError, parsePullRequest } = mergeq
${uses}${begin}`,
}

beforeAll(() => {
  mkdirSync(join(place, 'node_modules/@types'), { recursive: true })
  symlinkSync(resolve('.'), join(place, 'node_modules/mergeq'))
  symlinkSync(resolve('node_modules/@types/node'), join(place, 'node_modules/@types/node'))
  symlinkSync(resolve('node_modules/undici-types'), join(place, 'node_modules/undici-types'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
})

test('the types that ship name what a program uses, as an ECMAScript module and as a CommonJS module', async () => {
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  const resolution = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node']
  const { exitCode, stdout } = await execa(
    resolve('node_modules/.bin/tsc'),
    [...options, ...resolution, ...Object.keys(files)],
    { cwd: place, reject: false },
  )
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
})

test('the types that ship are those of the CommonJS module for both ways, and cite only what ships', () => {
  const [types, others] = ['dist/library.d.cts', 'dist/library.d.mts'].map(path => readFileSync(path, 'utf8'))
  expect(others).toBe("export * from './library.cjs'\n")
  expect(types).not.toMatch(/\b[\w-]+\.md\b|^import /m)
  // Of JSON, of labels and of additional fields of a body the names are not known.
  expect(types?.match(/\[\w+: string\]/g)).toEqual(['[key: string]', '[path: string]', '[label: string]'])
  // A range stands in a comment once.
  expect(types).not.toMatch(/\b(\d+ to \d+)\b.*\b\1\b/)
})

test('an error of any copy of the library is an instance of its class, and logs show its name', () => {
  const library = createRequire(import.meta.url)('../../dist/library.cjs')
  expect(new MergeqError('usage', 'no') instanceof library.MergeqError).toBe(true)
  expect([{}, null, new Error('no')].some(value => value instanceof library.MergeqError)).toBe(false)
  try {
    library.createClient({ prority: 1 })
  } catch (error) {
    expect(error instanceof MergeqError && isMergeqError(error)).toBe(true)
    expect(inspect(error)).toMatch(/^MergeqError: createClient: unknown option prority/)
  }
  expect.assertions(4)
})
