import { describe, expect, test } from 'vitest'
import { mergeq, noon, openStory, type Seen } from '../../support/harness.ts'

const where = '-R acme/web -b main'
const id = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
const run = { status: 'failed', testBranch: `trunk-merge/pr-7/${id}`, testedPullRequests: [{ prNumber: 7 }] }

/** A service that finds test runs by their id only, and has this record of the pull request. */
const byIdOnly =
  (record: object | undefined) =>
  ({ path, body }: Seen) => {
    if (path.endsWith('getSubmittedPullRequest'))
      return record === undefined ? { status: 404, body: 'Not Found' } : { body: JSON.stringify(record) }
    return JSON.parse(body).testRunId === id
      ? { body: JSON.stringify(run) }
      : { status: 400, body: 'testRunId is required' }
  }

const asked = (requests: readonly Seen[]) =>
  requests.map(({ path, body }) => {
    const { repo: _repo, targetBranch: _branch, ...rest } = JSON.parse(body)
    return [path.replace('/v1/', ''), rest]
  })
const byNumber = ['getMergeQueueTestingDetails', { pr: { number: 7 } }]

describe('`pr testing --pr`', () => {
  test.each([
    'pr testing 7',
    'pr testing #7',
    'pr testing https://github.com/acme/web/pull/7/files',
    'pr testing',
  ])('%s means the same; with nothing given the current pull request is asked for', async line => {
    const env = { MERGEQ_PR: '7', MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
    const { requests } = await mergeq(line, { env, answer: () => ({ body: JSON.stringify(run) }) })
    expect(asked(requests)).toEqual([byNumber])
  })

  test.each([
    [{ body: JSON.stringify(run) }, 0],
    [{ status: 404, body: 'no run' }, 5],
  ])('requests by pull request, once unless the service rejects that: %j', async (answer, exit) => {
    const { code, requests } = await mergeq(`pr testing --pr 7 ${where}`, { answer: () => answer })
    const ofRuns = requests.filter(({ path }) => path.endsWith('/getMergeQueueTestingDetails'))
    expect({ code, asked: asked(ofRuns) }).toEqual({ code: exit, asked: [byNumber] })
  })

  test.each([
    ['verifiedByTestRun', { state: 'merged', verifiedByTestRun: id }],
    ['timeline', { state: 'failed', timeline: [{ testRun: { branch: `trunk-merge/pr-7/${id}` } }] }],
    ['timeline', { state: 'tests_passed', timeline: [{ testsPassed: { testRunId: id } }, { testRun: {} }] }],
  ])('otherwise uses the run that the record names, and -v names the field: %s', async (source, record) => {
    const answer = byIdOnly(record)
    const { code, out, err, requests } = await mergeq(`pr testing --pr 7 ${where} --json`, { answer })
    expect({ code, err, document: JSON.parse(out) }).toEqual({ code: 0, err: '', document: run })
    expect(asked(requests)).toEqual([
      byNumber,
      ['getSubmittedPullRequest', { pr: { number: 7 }, includeTimeline: true }],
      ['getMergeQueueTestingDetails', { testRunId: id }],
    ])
    expect((await mergeq(`pr testing --pr 7 ${where} -v`, { answer })).err).toContain(
      `The service does not find test runs by pull request. Using test run ${id}, from the field ${source} of #7.\n`,
    )
  })

  test.each([
    ['a record without a run', { state: 'testing' }],
    ['no record', undefined],
  ])('says with the rejection how to find the id: %s', async (_, record) => {
    const { code, out, err } = await mergeq(`pr testing --pr 7 ${where}`, { answer: byIdOnly(record) })
    expect({ code, out }).toEqual({ code: 6, out: '' })
    expect(err).toContain('No test run of #7 is known.\n')
    expect(err).toContain("git ls-remote origin 'refs/heads/trunk-merge/pr-7/*'")
  })

  test.each([
    ['pending', 'pending'],
    ['not_ready', 'not ready'],
  ])('says that a pull request which is %s has no test run yet', async (state, words) => {
    const { code, out, err } = await mergeq(`pr testing --pr 7 ${where}`, { answer: byIdOnly({ state }) })
    expect({ code, out, err }).toEqual({
      code: 6,
      out: '',
      err: `mergeq: #7 has no test run yet (${words}).\n  To see what #7 is waiting for, run: mergeq pr explain 7 --repo acme/web --target-branch main\n`,
    })
  })

  test('does not look up a test run that was typed', async () => {
    const answer = byIdOnly({ verifiedByTestRun: id })
    const { code, requests } = await mergeq(`pr testing x ${where}`, { answer })
    expect({ code, requests: requests.length }).toEqual({ code: 6, requests: 1 })
  })
})

test.each([
  [
    'which failed check is not required, after those that are',
    {
      requiredStatuses: ['lint'],
      statusChecks: [
        { context: 'preview', state: 'FAILURE' },
        { context: 'lint', state: 'CANCELLED' },
      ],
    },
    [' - check "lint" cancelled\n  ✗ check "preview" failed (not required)\n'],
  ],
  [
    'the required statuses that have not reported',
    {
      requiredStatuses: ['lint', 'build', 'deploy'],
      checkSuites: [{ checkRuns: [{ name: 'build', conclusion: 'SUCCESS' }] }],
    },
    [' ? lint has not reported\n  ? deploy has not reported\n'],
  ],
  [
    'which checks wait for a manual approval',
    {
      checkSuites: [
        {
          checkRuns: [
            { name: 'deploy', status: 'WAITING' },
            { name: 'audit', status: 'REQUESTED' },
            { name: 'unit', status: 'IN_PROGRESS' },
          ],
        },
      ],
      statusChecks: [
        { context: 'license', state: 'PENDING' },
        { context: 'release', state: 'WAITING' },
      ],
    },
    [' deploy, audit, release wait for a manual approval\n', ' unit in progress\n', ' license pending\n'],
  ],
])('says on a terminal %s', async (_, details, lines) => {
  const answer = () => ({ body: JSON.stringify({ ...run, ...details }) })
  const { out } = await mergeq(`pr testing x ${where} --color never`, { answer, terminal: true })
  for (const line of lines) expect(out).toContain(line)
})

/** A run that goes on, of whose required checks one has not reported for three hours. */
const silentRun = {
  ...run,
  status: 'in_progress',
  createdAt: new Date(noon - 190 * 60_000).toISOString(),
  requiredStatuses: ['build', 'e2e'],
  checkSuites: [{ checkRuns: [{ name: 'build', conclusion: 'SUCCESS', url: 'https://ci/1' }] }],
}

test.each([
  ['', /^status\te2e\tMISSING\t\t2026-01-05T08:50:00\.000Z$/m],
  ['-o csv', /^status,e2e,MISSING,,2026-01-05T08:50:00\.000Z\r?$/m],
  ['-o markdown', /\| status \| e2e \| MISSING \|\s*\| 2026-01-05T08:50:00\.000Z \|/],
  ['-o table', /^ {2}\? e2e has not reported for 3h10m$/m],
  ['--json', /^(?!.*MISSING)/],
])('a required check that has not reported while the run goes on: %s', async (format, expected) => {
  const ofRun = async (status: string) => {
    const body = JSON.stringify({ ...silentRun, status })
    const date = new Date(noon).toUTCString()
    return (await mergeq(`pr testing x ${where} ${format}`, { answer: () => ({ headers: { date }, body }) }))
      .out
  }
  expect(await ofRun('in_progress')).toMatch(expected)
  expect(await ofRun('failed')).not.toMatch(/MISSING|reported for/)
})

test('in the hosted dialect the records of the sandbox lead to the test run', async () => {
  const story = await openStory({ dialect: 'hosted' })
  await story.mergeq('pr submit 7')
  for (const [field, after] of [['timeline', 1_500] as const, ['verifiedByTestRun', 20_000] as const]) {
    story.clock.now += after
    const { out, err } = await story.mergeq('pr testing --pr 7 --json -v')
    expect(err).toContain(`from the field ${field} of #7`)
    expect(JSON.parse(out).testedPullRequests).toMatchObject([{ prNumber: 7 }])
  }
})
