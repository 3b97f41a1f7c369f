import { describe, expect, test } from 'vitest'
import type { Environment, Host } from '../../../src/host/host.ts'
import { answerGit, type Git, gitFails, prints } from '../../support/checkout.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { clientOf, nodeHost } from '../../support/library-client.ts'

const head = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
const merge = '9d1c2b3a4f5e60718293a4b5c6d7e8f901234567'
const other = '1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e'
const zeros = '0'.repeat(40)

const atRemote = (commit: string, pr = 7) => prints(`${commit}\trefs/pull/${pr}/head\n`)
const denied = gitFails('git@github.com: Permission denied (publickey).\n')

const askRemote = 'ls-remote -- git@github.com:acme/web.git refs/pull/7/head'

/** What git says in a checkout of the head of #7 of acme/web, by the words of the command. */
const checkout: Git = {
  'remote -v': prints('origin\tgit@github.com:acme/web.git (fetch)\n'),
  'rev-parse HEAD': prints(`${head}\n`),
  [askRemote]: atRemote(head),
}

const record = (prSha: string, isCurrentlySubmittedToQueue = true): Answer => ({
  body: JSON.stringify({ state: 'TESTING', prNumber: 7, prSha, isCurrentlySubmittedToQueue }),
})

interface World {
  /** By default `pr targets 7 a`. */
  readonly line?: string
  readonly git?: Git
  readonly env?: Environment
  readonly event?: object
  readonly record?: Answer
}

/** Runs a command line in the checkout; returns the commits that were sent, and the names of the other requests. */
async function run(line: string, { git = {}, env = {}, event = {}, record, ...world }: World & Setting = {}) {
  const { code, out, err, requests } = await mergeq(line, {
    answer: ({ path }: Seen) =>
      path.endsWith('/getSubmittedPullRequest') ? (record ?? { status: 404 }) : { body: 'OK' },
    spawn: (_, args) => answerGit({ ...checkout, ...git }, args),
    env: { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', ...env },
    files: { '/event.json': JSON.stringify(event) },
    ...world,
  })
  const sent = requests.flatMap(({ path, body }) =>
    path.endsWith('/setImpactedTargets') ? [JSON.parse(body).pr.sha] : [],
  )
  return { code, out, err, sent, reads: requests.length - sent.length }
}

const inCheckoutOf = (commit: string): Git => ({ 'rev-parse HEAD': prints(`${commit}\n`) })

const event = { pull_request: { number: 7, head: { sha: head }, base: { ref: 'main' } } }
/** A job of #7 on GitHub, whose checkout is the merge commit. */
const githubJob: World = {
  git: inCheckoutOf(merge),
  event,
  env: {
    GITHUB_ACTIONS: 'true',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: '/event.json',
    GITHUB_REPOSITORY: 'acme/web',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: merge,
  },
}
const job = (env: Environment, git: Git = {}): World => ({
  ...githubJob,
  env: { ...githubJob.env, ...env },
  git: { ...githubJob.git, ...git },
})
const commentJob = {
  ...job({ GITHUB_EVENT_NAME: 'issue_comment', GITHUB_SHA: other }),
  event: { issue: { pull_request: { url: 'https://api.github.com/repos/acme/web/pulls/7' } } },
}
const bitbucketJob = (commits: readonly string[]): World => ({
  env: {
    BITBUCKET_BUILD_NUMBER: '1',
    BITBUCKET_GIT_HTTP_ORIGIN: 'https://github.com/acme/web',
    BITBUCKET_PR_ID: '7',
    BITBUCKET_COMMIT: head.slice(0, 12),
  },
  git: {
    ...inCheckoutOf(merge),
    '--disambiguate=4f2a9c1d0e8b': prints(commits.map(commit => `${commit}\n`).join('')),
    'cat-file -t': prints('commit\n'),
  },
})

const unknownToGit: Git = { 'remote -v': prints('origin\tgit@github.com:ada/web.git (fetch)\n') }
const withoutGit: Git = { ...checkout, 'remote -v': gitFails(), 'rev-parse HEAD': gitFails() }

describe('the commit that `pr targets` sends', () => {
  test.each<[string, World, reads?: number]>([
    ['is HEAD of the checkout if the remote says that it is the head', {}],
    [
      'is HEAD if the remote of the repository has any name',
      {
        git: {
          'remote -v': prints('company\tgit@github.com:Acme/Web.git (fetch)\n'),
          'ls-remote -- git@github.com:Acme/Web.git refs/pull/7/head': atRemote(head),
        },
      },
    ],
    [
      'is HEAD if the record says that it is the head, whatever the remotes are',
      { git: unknownToGit, record: record(head.toUpperCase()) },
      1,
    ],
    [
      'is HEAD if the remote cannot be asked and the record says that it is the head',
      { git: { [askRemote]: denied }, record: record(head) },
      1,
    ],
    ['is MERGEQ_SHA', { env: { MERGEQ_SHA: head }, git: inCheckoutOf(merge) }],
    [
      'is MERGEQ_SHA of the pull request in MERGEQ_PR',
      { line: 'pr targets a', env: { MERGEQ_PR: '7', MERGEQ_SHA: head }, git: inCheckoutOf(merge) },
    ],
    [
      'is MERGEQ_SHA of the pull request in MERGEQ_PR, which is given in another form',
      {
        line: 'pr targets https://github.com/Acme/web/pull/7 a',
        env: { MERGEQ_PR: '#7', MERGEQ_SHA: head },
        git: inCheckoutOf(merge),
      },
    ],
    ['is the head that the CI job of the pull request states', githubJob],
    ['is MERGEQ_SHA rather than that of the job', job({ MERGEQ_SHA: head, GITHUB_EVENT_NAME: 'push' })],
    ['is HEAD if the job states no head and HEAD is it', { ...commentJob, git: inCheckoutOf(head) }],
    ['is what the job abbreviates', bitbucketJob([head])],
  ])('%s', async (_, { line = 'pr targets 7 a', ...world }, reads = 0) => {
    expect(await run(line, world)).toMatchObject({ code: 0, err: '', sent: [head], reads })
  })

  const missing: Readonly<Record<string, World>> = {
    'HEAD is another commit': { git: inCheckoutOf(merge) },
    'HEAD is another commit than in the record': { git: unknownToGit, record: record(other) },
    'the record is of a pull request that is not submitted': {
      git: unknownToGit,
      record: record(head, false),
    },
    'there is no checkout': { git: withoutGit, record: record(head) },
    'MERGEQ_SHA belongs to another pull request': {
      env: { MERGEQ_PR: '8', MERGEQ_SHA: merge },
      git: inCheckoutOf(merge),
    },
    'MERGEQ_SHA belongs to a pull request of another repository': {
      env: { MERGEQ_PR: 'https://github.com/acme/api/pull/7', MERGEQ_SHA: merge },
      git: inCheckoutOf(merge),
    },
    'MERGEQ_SHA belongs to the pull request of the repository that no argument names': {
      line: 'pr targets https://github.com/acme/web/pull/7 a',
      env: { MERGEQ_REPO: 'acme/api', MERGEQ_PR: '7', MERGEQ_SHA: merge },
      git: inCheckoutOf(merge),
    },
    'the CI job belongs to another pull request': {
      ...githubJob,
      event: { pull_request: { ...event.pull_request, number: 8 } },
    },
    'the CI job belongs to another repository': job({ GITHUB_REPOSITORY: 'acme/api' }),
    'the CI job does not state its repository': job({ GITHUB_REPOSITORY: '' }),
    'the CI job does not state the head': commentJob,
    'the CI job states zeros': {
      ...githubJob,
      event: { pull_request: { ...event.pull_request, head: { sha: zeros } } },
    },
    'git cannot complete what the job abbreviates': bitbucketJob([]),
  }
  test('is not found for a reason that the error says, and nothing is sent', async () => {
    const pieces: string[] = []
    for (const [title, { line = 'pr targets 7 a', ...world }] of Object.entries(missing)) {
      const { code, out, err, sent } = await run(line, world)
      expect({ title, code, out, sent }).toEqual({ title, code: 2, out: '', sent: [] })
      pieces.push(`=== ${title}\n${err}`)
    }
    await expect(pieces.join('\n')).toMatchFileSnapshot('../../golden/no-head-commit.txt')
  })

  test('is looked up before a program starts, and after an error of the record nothing is sent', async () => {
    const started: string[] = []
    const spawn: Setting['spawn'] = (program, args) => {
      if (program !== 'git') started.push(program)
      return answerGit({ ...checkout, ...unknownToGit }, args)
    }
    for (const [answer, exit] of [
      [{ status: 503, body: 'down' }, 7],
      [{ status: 401, body: 'bad token' }, 4],
      [record(other), 2],
    ] as const) {
      const line = 'pr targets 7 --retries 0 --exec -- list'
      expect(await run(line, { record: answer, spawn })).toMatchObject({ code: exit, sent: [] })
    }
    expect(started).toEqual([])
  })

  test.each(['', 'a --all', '--none --if-empty all', '--sha main a', '--sha 4f2a9c1 --no-sha a'])(
    'is not looked up if something else is wrong: pr targets 7 %s',
    async words => {
      const asked: string[] = []
      const spawn: Setting['spawn'] = (_, args) => {
        asked.push(...args.filter(word => word === 'ls-remote'))
        return answerGit({ ...checkout, [askRemote]: denied }, args)
      }
      const { code, reads } = await run(`pr targets 7 ${words}`, { spawn, record: record(head) })
      expect({ code, reads, asked }).toEqual({ code: 2, reads: 0, asked: [] })
    },
  )

  test('is not looked up in a record by a run of a fork, which has no token', async () => {
    const { code, reads, sent } = await run('pr targets 7 a --forked-run 42', {
      git: unknownToGit,
      env: { MERGEQ_TOKEN: '' },
      record: record(head),
    })
    expect({ code, reads, sent }).toEqual({ code: 2, reads: 0, sent: [] })
  })

  test('is told by -v with its source', async () => {
    expect((await run('pr targets 7 a -v', githubJob)).err).toContain(
      `sha: ${head} (the event file of GitHub Actions)\n`,
    )
    expect((await run('pr targets 7 a -v')).err).toContain(`sha: ${head} (git HEAD)\n`)
    const typed = await run(`pr targets 7 a -v --sha ${other}`)
    expect(typed.err).toContain(`sha: ${other} (--sha)\n`)
  })
})

test('a dry run of `pr targets` asks the remote only, and prints HEAD if that does not know the head', async () => {
  const line = 'pr targets 7 a --dry-run'
  const known = await run(line)
  expect(known).toMatchObject({ code: 0, err: '', out: expect.stringContaining(head), reads: 0 })
  const unknown = await run(line, { git: unknownToGit, record: record(other) })
  expect(unknown).toMatchObject({ code: 0, out: expect.stringContaining(head), reads: 0 })
  expect(unknown.err).toMatch(
    /^The head of #7 is not known \(no remote of the checkout belongs to github\.com\/acme\/web\): the request has the commit of HEAD, which must be the head when it is sent\.\n$/,
  )
  expect(await run(line, { git: inCheckoutOf(merge) })).toMatchObject({ code: 2, out: '', reads: 0 })
})

/** Objects of the checkout, by what they begin with, with their types. */
const objects = (digits: string, found: Readonly<Record<string, string>>): Git => ({
  [`--disambiguate=${digits}`]: prints(Object.keys(found).join('\n')),
  ...Object.fromEntries(
    Object.entries(found).map(([object, type]) => [`cat-file -t ${object}`, prints(`${type}\n`)]),
  ),
})

describe.each(['--sha', 'MERGEQ_SHA', '--match-head'])('a commit that %s names', given => {
  const use = (commit: string, world: World = {}) => {
    if (given === '--match-head') return run(`pr submit 7 --match-head ${commit}`, world)
    if (given === '--sha') return run(`pr targets 7 a --sha ${commit}`, world)
    return run('pr targets 7 a', { ...world, env: { MERGEQ_SHA: commit } })
  }

  test.each([head, head.toUpperCase()])('is complete: %s', async commit => {
    expect(await use(commit)).toMatchObject({ code: 0, sent: given === '--match-head' ? [] : [head] })
  })

  test('is a SHA-256 hash', async () => {
    const commit = head.padEnd(64, 'f')
    const { code, sent } = await use(commit)
    // The remote of the checkout has a SHA-1 hash, with which it begins.
    expect({ code, sent }).toEqual(
      given === '--match-head' ? { code: 14, sent: [] } : { code: 0, sent: [commit] },
    )
  })

  test('is the one commit that begins with at least 7 digits, whatever else does', async () => {
    const found = { [merge]: 'tree', [head]: 'commit', [other]: 'tag' }
    const { code, sent } = await use('4F2A9C1', { git: objects('4f2a9c1', found) })
    expect({ code, sent }).toEqual({ code: 0, sent: given === '--match-head' ? [] : [head] })
  })

  test.each<[string, Git, string]>([
    [zeros, {}, `${given}: '${zeros}' is not a commit hash.`],
    ['main', {}, `${given}: 'main' is not a commit hash.`],
    ['4f2a9c', {}, `${given}: '4f2a9c' is not a commit hash.`],
    ['f'.repeat(65), {}, `${given}: '${'f'.repeat(65)}' is not a commit hash.`],
    ['deadbee', objects('deadbee', {}), `${given}: the checkout has no commit that begins with deadbee.`],
    [
      '4f2a9c1',
      objects('4f2a9c1', { [head]: 'commit', [other]: 'commit' }),
      `${given}: the checkout has 2 commits that begin with 4f2a9c1.`,
    ],
    ['4f2a9c1', {}, `${given}: odd.`],
  ])('is refused, and nothing is sent: %s', async (commit, git, message) => {
    const { code, err, sent, reads } = await use(commit, { git })
    expect({ code, sent, reads, first: err.split('\n')[0] }).toEqual({
      code: 2,
      sent: [],
      reads: 0,
      first: `mergeq: ${message}`,
    })
  })
})

test.each(['--sha HEAD', ''])(
  '`pr targets %s` does not take HEAD from an option or MERGEQ_SHA',
  async option => {
    const { code, err, sent } = await run(`pr targets 7 a ${option}`, { env: { MERGEQ_SHA: 'HEAD' } })
    expect({ code, sent }).toEqual({ code: 2, sent: [] })
    expect(err).toMatch(/: HEAD is not a commit hash\.\n {2}To use HEAD of the checkout, leave it out\.\n$/)
  },
)

describe('`pr submit --match-head HEAD` compares the head with HEAD of the checkout', () => {
  test.each<[string, number, World]>([
    ['the same goes on', 0, {}],
    ['another one is 14', 14, { git: inCheckoutOf(merge) }],
    ['MERGEQ_SHA and the CI job do not count', 14, job({ MERGEQ_SHA: head })],
    ['an unknown head is 2', 2, { git: unknownToGit }],
    ['a known record is enough', 0, { git: { [askRemote]: denied }, record: record(head) }],
    ['another head in the record is 14', 14, { git: unknownToGit, record: record(other) }],
    ['an unknown HEAD is 2, whatever the head is', 2, { git: withoutGit, record: record(head) }],
  ])('%s', async (_, exit, world) => {
    const { code, out } = await run('pr submit 7 --match-head HEAD --json', world)
    expect({ code, isSent: out !== '' }).toEqual({ code: exit, isSent: exit === 0 })
  })
})

describe('the library', () => {
  const open = (git: Git, record: Answer = { status: 404 }, options = {}) => {
    const host = {
      ...nodeHost,
      cwd: '/repo',
      git: async (args: readonly string[]) => answerGit({ ...checkout, ...git }, args),
    } as Host
    const answer = ({ path }: Seen) => (path.endsWith('/getSubmittedPullRequest') ? record : { body: 'OK' })
    return clientOf(answer, { repo: 'acme/web', targetBranch: 'main', ...options }, host)
  }
  const short = objects('4f2a9c1', { [head]: 'commit' })

  test('sends a commit that git completes, and HEAD if it is the head', async () => {
    for (const [options, git] of [
      [{}, {}],
      [{ sha: '4f2a9c1' }, { ...inCheckoutOf(merge), ...short }],
    ] as const) {
      const { client, requests } = await open(git)
      await client.setImpactedTargets({ pr: 7, targets: ['a'], ...options })
      expect(requests.map(({ body }) => JSON.parse(body).pr)).toEqual([{ number: 7, sha: head }])
    }
  })

  test.each<[string, object, object, string]>([
    ['a branch', { sha: 'main' }, {}, "setImpactedTargets: sha: 'main' is not a commit hash."],
    [
      'an abbreviated commit where nothing is looked up',
      { sha: '4f2a9c1' },
      { discover: false },
      'sha: 4f2a9c1 is abbreviated.',
    ],
  ])('does not send %s', async (_, options, settings, message) => {
    const { client, requests } = await open({ ...inCheckoutOf(merge), ...short }, undefined, settings)
    await expect(client.setImpactedTargets({ pr: 7, targets: ['a'], ...options })).rejects.toMatchObject({
      kind: 'usage',
      message,
    })
    expect(requests).toEqual([])
  })

  test('compares matchHead with a complete commit', async () => {
    for (const [matchHead, git, outcome] of [
      ['4f2a9c1', short, 'merged'],
      ['HEAD', {}, 'merged'],
      ['HEAD', inCheckoutOf(merge), 'stale'],
    ] as const) {
      const body = JSON.stringify({ state: 'MERGED', prSha: head })
      const { client } = await open(git, { body })
      expect(await client.waitForPullRequests({ prs: [7], matchHead })).toMatchObject([{ outcome }])
    }
  })
})
