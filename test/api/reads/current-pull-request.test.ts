import { describe, expect, test } from 'vitest'
import type { Host } from '../../../src/host/host.ts'
import { answerGit, type Git, gitFails, prints } from '../../support/checkout.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { clientOf, nodeHost } from '../../support/library-client.ts'

const commit = '2ff2b16c0ffee0123456789abcdef0123456789a'
const other = '1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e'
const ref = (sha: string, number: number) => `${sha}\trefs/pull/${number}/head\n`
const denied = gitFails(
  'git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n',
)

/** What git says in a checkout of the branch fix-cart, by the words of the command. */
const checkout: Git = {
  'remote -v': prints(
    'origin\tgit@github.com:acme/web.git (fetch)\norigin\tgit@github.com:acme/web.git (push)\n',
  ),
  'rev-parse HEAD': prints(`${commit}\n`),
  'symbolic-ref --quiet HEAD': prints('refs/heads/fix-cart\n'),
  'rev-parse --symbolic-full-name refs/remotes/origin/HEAD': prints('refs/remotes/origin/main\n'),
  'ls-remote': denied,
}

const record = (fields: object = {}) =>
  JSON.stringify({
    state: 'pending',
    isCurrentlySubmittedToQueue: true,
    prNumber: 123,
    prSha: commit,
    ...fields,
  })
const unknown: Answer = { status: 404, body: 'not found' }

/** A service that knows the pull request by its branch, or what it answers instead. */
const service =
  (byBranch: Answer = { body: record() }) =>
  ({ body, path }: Seen): Answer => {
    if (JSON.parse(body).pr?.branch !== undefined) return byBranch
    return path.endsWith('/getSubmittedPullRequest') ? { body: record() } : { body: 'OK' }
  }

/** Runs a command line in a checkout where git also says something else. */
async function inCheckout(line: string, git: Git = {}, setting: Setting = {}) {
  const results = { ...checkout, ...git }
  const { code, out, err, requests } = await mergeq(line, {
    answer: service(),
    spawn: (_, args) => answerGit(results, args),
    ...setting,
  })
  const sent = requests.map(({ path, body }) => ({ path, pr: JSON.parse(body).pr }))
  return { code, out, err, sent }
}

test('git gets no variable of a checkout when it asks a remote, in any case of letters', async () => {
  const seen: string[] = []
  await inCheckout(
    'pr get',
    {},
    {
      platform: 'win32',
      env: { Git_Dir: '.git', git_common_dir: '.git' },
      spawn: (_, args, { env }) => {
        if (args.includes('ls-remote'))
          seen.push(...Object.keys(env).filter(name => /^git_.*dir$/i.test(name)))
        return answerGit(checkout, args)
      },
    },
  )
  expect(seen).toEqual(['GIT_DIR'])
})

const byBranch = { path: '/v1/getSubmittedPullRequest', pr: { branch: 'fix-cart' } }

test.each([
  ['core.sshcommand\n', 'core.sshCommand of the checkout is left out for safety; set it in the global'],
  [
    'credential.https://ann:secret@github.com.helper\nhttp.proxy\n',
    'credential.https://github.com.helper, http.proxy of the checkout are left out for safety; set them in the global',
  ],
])('a failed git ls-remote names the settings of the checkout that it lacks: %j', async (names, said) => {
  const git = { 'config --get-regexp --local --includes --name-only': prints(names) }
  const { code, err } = await inCheckout('pr submit', git, { answer: service(unknown) })
  expect(code).toBe(2)
  expect(err).toContain(`failed: git@github.com: Permission denied (publickey) (${said}`)
  expect(err).toContain('includeIf for some folders only, or give the number of the pull request).\n')
})

describe('the pull request of the current branch', () => {
  test('is used if none has the current commit as its head', async () => {
    for (const lsRemote of [denied, prints(ref(other, 7)), prints('')]) {
      const { code, out, err, sent } = await inCheckout('pr get --json', { 'ls-remote': lsRemote })
      expect({ code, out, err }).toEqual({ code: 0, out: `${record({ state: 'PENDING' })}\n`, err: '' })
      expect(sent).toEqual([byBranch, { path: '/v1/getSubmittedPullRequest', pr: { number: 123 } }])
    }
  })

  test('is not looked up if the current commit is the head of one pull request', async () => {
    const { code, sent } = await inCheckout('pr get', {
      'ls-remote': prints(ref(commit, 123) + ref(other, 8)),
    })
    expect({ code, sent }).toEqual({
      code: 0,
      sent: [{ path: '/v1/getSubmittedPullRequest', pr: { number: 123 } }],
    })
  })

  test.each([
    ['is found by the commit of the upstream, if the current commit is not pushed', commit, 8],
    ['is not the one that the target branch came from, if the branch was not pushed', other, 123],
  ])('%s', async (_, main, pr) => {
    const { sent } = await inCheckout('pr get', {
      'ls-remote': prints(ref(other, 8)),
      'rev-parse @{upstream}': prints(`${other}\n`),
      'rev-parse refs/remotes/origin/HEAD': prints(`${main}\n`),
    })
    expect(sent.at(-1)).toEqual({ path: '/v1/getSubmittedPullRequest', pr: { number: pr } })
  })

  const ahead = {
    'ls-remote': prints(ref(other, 8)),
    'rev-parse refs/remotes/origin/HEAD': prints(`${commit}\n`),
    [`rev-list --count ${other}..HEAD`]: prints('2\n'),
  }

  test.each([
    ['the upstream', '@{upstream}', ahead['ls-remote'], 8],
    [
      'the branch of the same name, without an upstream',
      'refs/remotes/origin/fix-cart',
      ahead['ls-remote'],
      8,
    ],
    ['the branch alone, if the remote cannot be asked', '@{upstream}', denied, 123],
  ])(
    'a read goes on with the pull request of %s and says so, a change sends nothing',
    async (_, ref, lsRemote, pr) => {
      const git = { ...ahead, [`rev-parse ${ref}`]: prints(`${other}\n`), 'ls-remote': lsRemote }
      const sentence = `Your branch has 2 commits that are not pushed. The pull request of the pushed commits is #${pr}.`
      const answer = service({ body: record({ prNumber: pr }) })
      const read = await inCheckout('pr get --exit-status', git, {
        answer: seen => (seen.body.includes('"number"') ? { body: record({ prNumber: pr }) } : answer(seen)),
      })
      expect(read.code).toBe(8)
      expect(read.sent.at(-1)).toEqual({ path: '/v1/getSubmittedPullRequest', pr: { number: pr } })
      expect(read.err).toContain(sentence)
      const change = await inCheckout('pr submit --repo acme/web', git)
      expect({ code: change.code, out: change.out }).toEqual({ code: 2, out: '' })
      expect(change.sent.filter(({ path }) => !path.includes('getSubmitted'))).toEqual([])
      expect(change.err).toBe(
        `mergeq: ${sentence}\n  Push first, or run: mergeq pr submit ${pr} --repo acme/web\n`,
      )
    },
  )

  const remoteForms = [
    'https://github.com/acme/web.git',
    'https://ann:secret@github.com/acme/web',
    'ssh://git@github.com/acme/web.git',
    'ssh://git@ssh.github.com:443/acme/web.git',
    'git@github.com:acme/web.git',
    'work-alias:acme/web',
    'git://github.com/acme/web.git',
    'http://github.com/acme/web.git',
    'file:///srv/web.git',
    '/srv/web.git',
    '../web.git',
  ]

  test.each(remoteForms)('is that of the pushed commits of a branch with one more, at %s', async address => {
    // Only https and ssh are asked for the heads of pull requests; the others leave it to the branch.
    const isAsked = /^https:|^ssh:|^git@/.test(address)
    const { code, out, err, sent } = await inCheckout(
      'pr submit --repo acme/web',
      {
        ...ahead,
        'remote -v': prints(`origin\t${address} (fetch)\norigin\t${address} (push)\n`),
        'rev-parse @{upstream}': prints(`${other}\n`),
        [`rev-list --count ${other}..HEAD`]: prints('1\n'),
      },
      { answer: service({ body: record({ prNumber: 8 }) }) },
    )
    expect({ code, out, sent }).toEqual({ code: 2, out: '', sent: isAsked ? [] : [byBranch] })
    expect(err).toBe(
      'mergeq: Your branch has 1 commit that is not pushed. The pull request of the pushed commits is #8.\n  Push first, or run: mergeq pr submit 8 --repo acme/web\n',
    )
  })

  test.each([
    ['its commit', prints(ref(other, 8)), unknown],
    ['its branch', denied, { body: record({ prNumber: 8 }) }],
  ])('is that of the commits that were pushed to a fork, found by %s', async (_, lsRemote, byBranch) => {
    const addresses = [
      ['origin', 'git@github.com:me/web.git'],
      ['upstream', 'git@github.com:acme/web.git'],
    ]
    const { code, err } = await inCheckout(
      'pr submit --repo acme/web --target-branch main',
      {
        ...ahead,
        'ls-remote': lsRemote,
        'remote -v': prints(addresses.map(([name, url]) => `${name}\t${url} (fetch)\n`).join('')),
        'rev-parse refs/remotes/origin/fix-cart': prints(`${other}\n`),
      },
      { answer: service(byBranch) },
    )
    expect(code).toBe(2)
    expect(err).toContain('2 commits that are not pushed. The pull request of the pushed commits is #8.')
  })

  test('decides between several pull requests with the current commit', async () => {
    const several = { 'ls-remote': prints(ref(commit, 7) + ref(other, 8) + ref(commit, 123)) }
    const { code, sent } = await inCheckout('pr restart --yes', several)
    expect({ code, sent }).toEqual({
      code: 0,
      sent: [byBranch, { path: '/v1/restartTestsOnPullRequest', pr: { number: 123 } }],
    })
    const { err } = await inCheckout('pr restart --yes', several, { answer: service(unknown) })
    expect(err).toContain(
      '  Commit 2ff2b16 is the head of several pull requests in github.com/acme/web: #7, #123.\n',
    )
  })

  test('-v says where the number came from, and why the commit did not give it', async () => {
    const { err } = await inCheckout('pr get -v')
    expect(err).toContain(
      'pull request by commit 2ff2b16: git ls-remote git@github.com:acme/web.git, without the settings of the checkout, failed: git@github.com: Permission denied (publickey)\n',
    )
    expect(err).toContain('\npr: 123 (branch fix-cart)\n')
    const { err: byCommit } = await inCheckout('pr get -v', { 'ls-remote': prints(ref(commit, 7)) })
    expect(byCommit).toContain('pr: 7 (the pull requests at git remote origin)\n')
    expect((await inCheckout('pr get -v', {}, { env: { MERGEQ_PR: '9' } })).err).toContain(
      'pr: 9 (MERGEQ_PR)\n',
    )
  })

  test('with --dry-run the service is not asked, and the error says so', async () => {
    const { code, out, err, sent } = await inCheckout('pr cancel --dry-run')
    expect({ code, out, sent }).toEqual({ code: 2, out: '', sent: [] })
    expect(err).toBe(
      `mergeq: No pull request was found for branch fix-cart.
  git ls-remote git@github.com:acme/web.git, without the settings of the checkout, failed: git@github.com: Permission denied (publickey).
  --dry-run does not ask the service by branch.
  MERGEQ_PR is not set. Name the pull request as an argument of pr cancel.
`,
    )
    const { code: found } = await inCheckout('pr cancel --dry-run', { 'ls-remote': prints(ref(commit, 7)) })
    expect(found).toBe(0)
  })

  test.each([
    [{ status: 401, body: 'bad token' }, 4],
    [{ status: 503, body: 'down' }, 7],
    [{ status: 404, body: '<html>', headers: { 'content-type': 'text/html' } }, 5],
  ] as const)('an error of the service is that error: %j', async (answer, code) => {
    const result = await inCheckout('pr get --retries 0', {}, { answer: service(answer) })
    expect({ code: result.code, sent: result.sent }).toEqual({ code, sent: [byBranch] })
    expect(result.err).not.toContain('No pull request')
  })

  test('without a token the error is that of the token', async () => {
    const { code, err, sent } = await inCheckout('pr get', {}, { env: { MERGEQ_TOKEN: '' } })
    expect({ code, sent }).toEqual({ code: 4, sent: [] })
    expect(err).not.toContain('No pull request')
  })
})

describe('if no pull request is found, the error says what was tried and why it failed', () => {
  const refused = (err: string) => ({ 'ls-remote': gitFails(err) })
  /** What git says otherwise; the service is asked by the branch, and does not know it. */
  const cases: Readonly<Record<string, Git>> = {
    'ls-remote is denied': {},
    'ls-remote times out': { 'ls-remote': { code: 137, out: '', timedOut: true } },
    'git fails with a credential in its message': refused(
      "remote: hello\nfatal: unable to access 'https://ada:s3cret@github.com/acme/web/': odd.\n",
    ),
    'git fails without a word': { 'ls-remote': gitFails('', 3) },
    'no pull request has the commit': { 'ls-remote': prints(ref(other, 7)) },
    'the remote has no pull requests': { 'ls-remote': prints('') },
    'the remote is not asked over http': {
      'remote -v': prints('origin\thttp://github.com/acme/web.git (fetch)\n'),
    },
    'the commit is missing': {
      'rev-parse HEAD': gitFails("fatal: ambiguous argument 'HEAD': unknown revision or path"),
    },
  }
  /** The line and what git says otherwise; the service is not asked. */
  const unasked: Readonly<Record<string, readonly [line: string, git: Git]>> = {
    'on the target branch': ['pr cancel', { 'symbolic-ref --quiet HEAD': prints('refs/heads/main\n') }],
    'on no branch': ['pr cancel', { 'symbolic-ref --quiet HEAD': gitFails('', 1) }],
    'without a remote': ['pr cancel', { 'remote -v': prints('') }],
    'with remotes of other names': [
      'pr cancel',
      { 'remote -v': prints('one\tgit@x.com:a/b (fetch)\ntwo\tgit@x.com:a/b (fetch)\n') },
    ],
    'outside of a checkout': [
      'pr cancel',
      { 'remote -v': gitFails('fatal: not a git repository (or any of the parent directories): .git\n') },
    ],
    'without git': ['pr cancel', { 'remote -v': { code: 127, out: '' } }],
    'in a checkout of another repository': ['pr get -R acme/api -b main', {}],
    'a change between a fork and its parent': [
      'pr submit',
      {
        'remote -v': prints(
          'origin\tgit@github.com:ada/web (fetch)\nupstream\tgit@github.com:acme/web (fetch)\n',
        ),
      },
    ],
  }
  test('in whole sentences, and nothing is changed', async () => {
    const pieces: string[] = []
    const see = async (title: string, line: string, git: Git, due: object[]) => {
      const { code, out, err, sent } = await inCheckout(line, git, { answer: service(unknown) })
      expect({ title, code, out, sent }).toEqual({ title, code: 2, out: '', sent: due })
      pieces.push(`=== ${title}: ${line}\n${err}`)
    }
    for (const [title, git] of Object.entries(cases)) await see(title, 'pr get', git, [byBranch])
    for (const [title, [line, git]] of Object.entries(unasked)) await see(title, line, git, [])
    const text = pieces.join('\n')
    expect(text).not.toContain('s3cret')
    await expect(text).toMatchFileSnapshot('../../golden/no-pull-request.txt')
  })

  test('the record has no number', async () => {
    const { code, err } = await inCheckout('pr get', {}, { answer: service({ body: '{"state":"pending"}' }) })
    expect(code).toBe(2)
    expect(err).toContain('  The record of the service has no pull request number.\n')
  })

  test('in a CI job that names none', async () => {
    const { err } = await inCheckout('pr get', {}, { env: { CI: 'true' }, answer: service(unknown) })
    expect(err).toContain('branch fix-cart.\n  The CI job has no pull request number.\n  git ls-remote ')
  })
})

test('a method of the library without a pull request asks by the branch, and says what was tried', async () => {
  const git: Host['git'] = async args => answerGit(checkout, args)
  const { client, requests } = await clientOf(service(unknown), {}, { ...nodeHost, cwd: '/repo', git })
  await expect(client.cancelPullRequest()).rejects.toMatchObject({
    message: 'No pull request was found for branch fix-cart.',
    hint: `git ls-remote git@github.com:acme/web.git, without the settings of the checkout, failed: git@github.com: Permission denied (publickey).
The service has no pull request for branch fix-cart.
MERGEQ_PR is not set. Set the option pr.`,
  })
  expect(requests.map(({ path, body }) => ({ path, pr: JSON.parse(body).pr }))).toEqual([byBranch])
})
