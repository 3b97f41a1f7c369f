import { afterEach, describe, expect, test } from 'vitest'
import { mergeq, openStory, type Seen, type Story } from '../support/harness.ts'

const where = '-R acme/web -b main'
const id = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
const run = { status: 'failed', testBranch: `trunk-merge/pr-7/${id}`, testedPullRequests: [{ prNumber: 7 }] }

/** A service that finds test runs by their id only, and has this record of the pull request. */
const byIdOnly =
  (record: object | undefined) =>
  ({ path, body }: Seen) => {
    const sent = JSON.parse(body)
    if (path.endsWith('getSubmittedPullRequest'))
      return record === undefined ? { status: 404, body: 'Not Found' } : { body: JSON.stringify(record) }
    return sent.testRunId === id
      ? { body: JSON.stringify(run) }
      : { status: 400, body: 'testRunId is required' }
  }

const asked = (requests: readonly Seen[]) =>
  requests.map(({ path, body }) => {
    const { repo: _repo, targetBranch: _branch, ...rest } = JSON.parse(body)
    return [path.replace('/v1/', ''), rest]
  })

describe('pr testing --pr', () => {
  test('requests by pull request, only once if the service supports that', async () => {
    const { code, err, requests } = await mergeq(`pr testing --pr 7 ${where}`, {
      answer: () => ({ body: JSON.stringify(run) }),
    })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(asked(requests)).toEqual([['getMergeQueueTestingDetails', { pr: { number: 7 } }]])
  })

  test.each([
    ['verifiedByTestRun', { state: 'merged', verifiedByTestRun: id }],
    ['timeline', { state: 'failed', timeline: [{ testRun: { branch: `trunk-merge/pr-7/${id}` } }] }],
    ['timeline', { state: 'tests_passed', timeline: [{ testsPassed: { testRunId: id } }, { testRun: {} }] }],
  ])('otherwise uses the run that the record names, and -v names the field: %s', async (source, record) => {
    const { code, out, err, requests } = await mergeq(`pr testing --pr 7 ${where} --json`, {
      answer: byIdOnly(record),
    })
    expect({ code, err, document: JSON.parse(out) }).toEqual({ code: 0, err: '', document: run })
    const verbose = await mergeq(`pr testing --pr 7 ${where} -v`, { answer: byIdOnly(record) })
    expect(verbose.err).toContain(
      `The service does not find test runs by pull request. Using test run ${id}, from the field ${source} of #7.\n`,
    )
    expect(asked(requests)).toEqual([
      ['getMergeQueueTestingDetails', { pr: { number: 7 } }],
      ['getSubmittedPullRequest', { pr: { number: 7 }, includeTimeline: true }],
      ['getMergeQueueTestingDetails', { testRunId: id }],
    ])
  })

  test.each([
    ['a record without a run', { state: 'testing' }],
    ['no record', undefined],
  ])('with %s the refusal says how to find the id', async (_, record) => {
    const { code, out, err } = await mergeq(`pr testing --pr 7 ${where}`, { answer: byIdOnly(record) })
    expect({ code, out }).toEqual({ code: 6, out: '' })
    expect(err).toContain('testRunId is required.\n')
    expect(err).toContain("git ls-remote origin 'refs/heads/trunk-merge/pr-7/*'")
  })

  test.each([
    ['pending', 'pending'],
    ['not_ready', 'not ready'],
  ])('of a pull request that is %s says that it has no test run yet', async (state, words) => {
    const { code, out, err } = await mergeq(`pr testing --pr 7 ${where}`, { answer: byIdOnly({ state }) })
    expect({ code, out, err }).toEqual({
      code: 6,
      out: '',
      err: `mergeq: #7 has no test run yet (${words}).\n  To see what #7 is waiting for, run: mergeq pr explain 7 --repo acme/web --target-branch main\n`,
    })
  })

  test('another error is reported unchanged', async () => {
    const { code, requests } = await mergeq(`pr testing --pr 7 ${where}`, {
      answer: () => ({ status: 404, body: 'no run' }),
    })
    expect({ code, requests: requests.length }).toEqual({ code: 5, requests: 1 })
  })

  test('a test run that was typed is not looked up', async () => {
    const { code, requests } = await mergeq(`pr testing x ${where}`, {
      answer: byIdOnly({ verifiedByTestRun: id }),
    })
    expect({ code, requests: requests.length }).toEqual({ code: 6, requests: 1 })
  })
})

describe('the sandbox in the hosted dialect', () => {
  let story: Story | undefined
  afterEach(() => story?.close())

  test('requires testRunId, and its records lead to the run', async () => {
    story = await openStory({ dialect: 'hosted' })
    await story.mergeq('pr submit 7')
    story.clock.now += 1_500
    expect((await story.mergeq('api getMergeQueueTestingDetails -F pr.number=7')).code).toBe(6)
    const testing = await story.mergeq('pr testing --pr 7 --json -v')
    expect(testing.err).toContain('from the field timeline of #7')
    expect(JSON.parse(testing.out)).toMatchObject({
      status: 'in_progress',
      testedPullRequests: [{ prNumber: 7 }],
    })
    story.clock.now += 20_000
    const merged = await story.mergeq('pr testing --pr 7 --json -v')
    expect(merged.err).toContain('from the field verifiedByTestRun of #7')
  })

  test('requires the head commit of an upload, as the help says', async () => {
    story = await openStory({ dialect: 'hosted' })
    const { code, err } = await story.mergeq('pr targets 7 //a --no-sha')
    expect(code).toBe(6)
    expect(err).toContain('pr.sha must be a non-empty string.')
    expect((await story.mergeq('pr targets 7 //a --sha 4f2a')).code).toBe(0)
    expect((await mergeq('pr targets --help')).out.replaceAll(/\s+/g, ' ')).toContain(
      'Send the targets without a head commit (rejected by the hosted service)',
    )
  })

  test('the document dialect accepts both', async () => {
    story = await openStory()
    await story.mergeq('pr submit 7')
    story.clock.now += 1_500
    expect((await story.mergeq('pr testing --pr 7')).code).toBe(0)
    expect((await story.mergeq('pr targets 7 //a --no-sha')).code).toBe(0)
  })
})
