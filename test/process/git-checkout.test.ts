import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { gitSource } from '../../src/config/discovery.ts'
import { isMergeqError } from '../../src/errors.ts'
import type { GitOptions, Host } from '../../src/host/host.ts'
import { createNodeHost } from '../../src/host/node-host.ts'
import { bareEnvironment, testWith } from '../support/programs.ts'

const test = testWith('git')
const { git: runGit } = createNodeHost(process, '0.0.0-test', new AbortController().signal)

/** Everything of these tests: homes, checkouts, markers. */
let place: string
/** A bare repository with the branches main and release/2.4, of which main is the default. */
let parent: string
const home = () => join(place, 'home')

/** Runs git for a test's own preparations. */
const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', args, {
    cwd,
    env: {
      ...bareEnvironment(home()),
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
    },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'mergeq-git-'))
  mkdirSync(home())
  const work = join(place, 'work')
  git(place, 'init', '-q', '-b', 'main', work)
  git(work, 'commit', '-q', '--allow-empty', '-m', 'one')
  git(work, 'branch', 'release/2.4')
  parent = join(place, 'parent.git')
  git(place, 'clone', '-q', '--bare', work, parent)
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

let count = 0
/** A fresh clone whose `origin` then says that it is somewhere else. */
function checkout(address = 'https://github.com/acme/web.git', ...options: readonly string[]): string {
  const folder = join(place, `checkout-${++count}`)
  git(place, 'clone', '-q', ...options, parent, folder)
  git(folder, 'remote', 'set-url', options.includes('-o') ? 'company' : 'origin', address)
  return folder
}

/** A fork, with its parent as `upstream`. */
function fork(upstream = 'git@github.com:acme/web.git'): string {
  const folder = checkout('git@github.com:ada/web.git')
  git(folder, 'remote', 'add', 'upstream', upstream)
  git(folder, 'update-ref', 'refs/remotes/upstream/release/2.4', 'HEAD')
  git(folder, 'symbolic-ref', 'refs/remotes/upstream/HEAD', 'refs/remotes/upstream/release/2.4')
  return folder
}

interface Started {
  readonly args: readonly string[]
  readonly options: GitOptions
}

/** The source in a folder, with the real git; what it starts and says is remembered. */
function open(
  cwd: string,
  {
    changes = false,
    env = {},
    repo,
  }: { changes?: boolean; env?: Record<string, string>; repo?: string } = {},
) {
  const started: Started[] = []
  const said: string[] = []
  const host = {
    env: {
      ...bareEnvironment(home()),
      MERGEQ_TOKEN: 'secret-one',
      TRUNK_API_TOKEN: 'secret-two',
      ...env,
    },
    cwd,
    runtime: { platform: 'linux', nullDevice: '/dev/null' },
    git(args: readonly string[], options: GitOptions) {
      started.push({ args, options })
      return runGit(args, options)
    },
  } as unknown as Host
  const [owner = '', name = ''] = repo?.split('/') ?? []
  const source = gitSource(host, {
    changes,
    notify: async text => {
      said.push(text)
    },
    ...(repo === undefined ? {} : { repo: async () => ({ host: 'github.com', owner, name }) }),
  })
  const find = async (setting: 'repo' | 'targetBranch' | 'sha' | 'pr'): Promise<string | undefined> => {
    try {
      return (await source.find(setting))?.value
    } catch (error) {
      if (!isMergeqError(error)) throw error
      return `! ${error.message}`
    }
  }
  const all = async () => ({
    repo: await find('repo'),
    targetBranch: await find('targetBranch'),
    sha: await find('sha'),
  })
  return { source, find, all, started, said }
}

const head = () => git(parent, 'rev-parse', 'HEAD')
const nothing = { repo: undefined, targetBranch: undefined, sha: undefined }

describe('settings from a checkout', () => {
  test('a clone: the repository, the branch of origin/HEAD, the commit, each with its origin', async () => {
    const { all, source } = open(checkout())
    expect(await all()).toEqual({ repo: 'github.com/acme/web', targetBranch: 'main', sha: head() })
    expect((await source.find('repo'))?.origin).toBe('git remote origin')
    expect((await source.find('targetBranch'))?.origin).toBe('git origin/HEAD')
    expect((await source.find('sha'))?.origin).toBe('git HEAD')
  })

  const shapes: readonly (readonly [string, () => string, Partial<Record<string, string>>])[] = [
    [
      'a folder below the root',
      () => {
        const folder = join(checkout(), 'a/b')
        mkdirSync(folder, { recursive: true })
        return folder
      },
      {},
    ],
    [
      'a path with blanks and umlauts',
      () => {
        const folder = join(place, 'ein Ordner für "alles"')
        git(place, 'clone', '-q', parent, folder)
        git(folder, 'remote', 'set-url', 'origin', 'https://github.com/acme/web')
        return folder
      },
      {},
    ],
    [
      'a worktree',
      () => {
        const folder = join(place, `worktree-${++count}`)
        git(checkout(), 'worktree', 'add', '-q', '-b', 'side', folder)
        return folder
      },
      {},
    ],
    [
      'a detached HEAD',
      () => {
        const folder = checkout()
        git(folder, 'checkout', '-q', '--detach')
        return folder
      },
      {},
    ],
    ['a shallow clone', () => checkout(undefined, '--depth', '1', '--no-local'), {}],
    [
      'a bare clone, which has no origin/HEAD',
      () => checkout(undefined, '--bare'),
      { targetBranch: undefined as unknown as string },
    ],
    ['inside the .git folder', () => join(checkout(), '.git'), {}],
    [
      'a default branch with a slash',
      () => {
        const folder = checkout()
        git(folder, 'remote', 'set-head', 'origin', 'release/2.4')
        return folder
      },
      { targetBranch: 'release/2.4' },
    ],
    ['a branch checked out that is not the default', () => checkout(undefined, '-b', 'release/2.4'), {}],
    ['the only remote, under another name', () => checkout(undefined, '-o', 'company'), {}],
    ['an address in the scp form', () => checkout('git@github.com:acme/web.git'), {}],
  ]
  for (const [name, make, differs] of shapes)
    test(name, async () => {
      const usual = { repo: 'github.com/acme/web', targetBranch: 'main', sha: head() }
      expect(await open(make()).all()).toEqual({ ...usual, ...differs })
    })

  test('no origin/HEAD, or one that leads nowhere: no target branch', async () => {
    const without = checkout()
    git(without, 'remote', 'set-head', 'origin', '--delete')
    expect(await open(without).find('targetBranch')).toBeUndefined()
    const dangling = checkout()
    git(dangling, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/gone')
    expect(await open(dangling).find('targetBranch')).toBeUndefined()
  })

  test('a local path, a file address and the name of an ssh setting name no repository, but have a default branch', async () => {
    for (const address of [parent, `file://${parent}`, '../parent.git', 'git@github-work:acme/web.git'])
      expect(await open(checkout(address)).all()).toEqual({
        repo: undefined,
        targetBranch: 'main',
        sha: head(),
      })
  })

  test('no commit yet, no remote, two remotes of other names', async () => {
    const fresh = join(place, 'fresh')
    git(place, 'init', '-q', fresh)
    expect(await open(fresh).all()).toEqual(nothing)
    git(fresh, 'remote', 'add', 'one', 'https://github.com/acme/one')
    git(fresh, 'remote', 'add', 'two', 'https://github.com/acme/two')
    expect(await open(fresh).all()).toEqual(nothing)
  })

  test('a partial clone, whose remotes are listed with their filter', async () => {
    const folder = checkout()
    git(folder, 'config', 'remote.origin.promisor', 'true')
    git(folder, 'config', 'remote.origin.partialclonefilter', 'blob:none')
    expect(await open(folder).find('repo')).toBe('github.com/acme/web')
  })
})

describe('without output of git there are no settings, and no crash', () => {
  test('no git program, no repository, no such folder', async () => {
    expect(await open(checkout(), { env: { PATH: join(place, 'empty') } }).all()).toEqual(nothing)
    expect(await open(home()).all()).toEqual(nothing)
    expect(await open(join(place, 'gone')).all()).toEqual(nothing)
  })

  test('a broken .git', async () => {
    const breakages: readonly ((folder: string) => void)[] = [
      folder => writeFileSync(join(folder, '.git/config'), '[remote "origin'),
      folder => rmSync(join(folder, '.git/HEAD')),
      folder => {
        rmSync(join(folder, '.git'), { recursive: true })
        writeFileSync(join(folder, '.git'), 'gitdir: /nowhere\n')
      },
      folder => {
        rmSync(join(folder, '.git'), { recursive: true })
        writeFileSync(join(folder, '.git'), '\0garbage')
      },
    ]
    for (const damage of breakages) {
      const folder = checkout()
      damage(folder)
      expect(await open(folder).all()).toEqual(nothing)
    }
  })

  test("someone else's checkout", async () => {
    expect(await open(checkout(), { env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } }).all()).toEqual(nothing)
  })

  test('the git program answers nonsense or fails', async () => {
    const folder = checkout()
    for (const script of [
      'echo nonsense',
      'exit 1',
      'kill -9 $$',
      'printf "\\001\\002"; exit 3',
      'echo origin',
    ])
      expect(await open(folder, { env: { PATH: pathWith('git', script) } }).all()).toEqual(nothing)
  })
})

/** A search path that begins with a folder that holds one program more. */
function pathWith(program: string, script: string): string {
  const folder = join(place, `bin-${++count}`)
  mkdirSync(folder)
  writeFileSync(join(folder, program), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, program), 0o755)
  return `${folder}:${process.env.PATH}`
}

describe('git itself applies insteadOf', () => {
  test('that of the checkout, that of the user, and not that of pushes', async () => {
    const own = checkout('gh:acme/web')
    git(own, 'config', 'url.https://github.com/.insteadOf', 'gh:')
    expect(await open(own).find('repo')).toBe('github.com/acme/web')
    const config = join(place, 'user.gitconfig')
    writeFileSync(
      config,
      '[url "ssh://git@git.example.com:2222/"]\n\tinsteadOf = https://github.com/\n[url "git@evil.example:"]\n\tpushInsteadOf = https://github.com/\n',
    )
    expect(await open(checkout(), { env: { GIT_CONFIG_GLOBAL: config } }).find('repo')).toBe(
      'git.example.com/acme/web',
    )
  })

  test('a URL that git rewrites to another program names no repository', async () => {
    const folder = checkout()
    git(folder, 'config', 'url.ext::touch%20/tmp/x .insteadOf', 'https://github.com/')
    expect(await open(folder).find('repo')).toBeUndefined()
  })
})

describe('a fork and its parent', () => {
  test('a change is a usage failure that lists both', async () => {
    const { find, source, said } = open(fork(), { changes: true })
    expect(await find('repo')).toBe(
      '! The remotes origin (github.com/ada/web) and upstream (github.com/acme/web) point to different repositories.',
    )
    await expect(source.find('repo')).rejects.toMatchObject({
      kind: 'usage',
      details: { hint: 'Choose one with --repo owner/name, or set MERGEQ_REPO.' },
    })
    expect(said).toEqual([])
  })

  test('a read takes upstream, with its branch, and says so once', async () => {
    const { all, said } = open(fork())
    expect(await all()).toEqual({ repo: 'github.com/acme/web', targetBranch: 'release/2.4', sha: head() })
    expect(said).toEqual([
      'The remotes origin (github.com/ada/web) and upstream (github.com/acme/web) point to different repositories: using upstream. To choose, use --repo.',
    ])
  })

  test('with a repository given elsewhere the branch is that of its own remote, and nothing is reported', async () => {
    for (const changes of [true, false]) {
      const parents = open(fork(), { changes, repo: 'Acme/web' })
      expect(await parents.find('targetBranch')).toBe('release/2.4')
      const own = open(fork(), { changes, repo: 'ada/web' })
      expect(await own.find('targetBranch')).toBe('main')
      const other = open(fork(), { changes, repo: 'other/thing' })
      expect(await other.find('targetBranch')).toBeUndefined()
      expect(await other.find('pr')).toBeUndefined()
      expect([...parents.said, ...own.said, ...other.said]).toEqual([])
    }
    expect(await open(checkout(), { repo: 'other/thing' }).find('targetBranch')).toBeUndefined()
    expect(
      await open(checkout('git@github-work:acme/web.git'), { repo: 'acme/web' }).find('targetBranch'),
    ).toBe('main')
  })

  test('a change with a repository given elsewhere takes no branch and no pull request from git', async () => {
    const { find } = open(fork(), { changes: true })
    expect(await find('targetBranch')).toBeUndefined()
    expect(await find('pr')).toBeUndefined()
  })

  test('two spellings of one repository, and a parent that names none, are no fork', async () => {
    for (const upstream of ['https://github.com/Ada/Web/', parent, 'git@github-work:acme/web.git'])
      expect(await open(fork(upstream), { changes: true }).find('repo')).toBe('github.com/ada/web')
  })

  test('upstream names the repository where origin names none, or is not there', async () => {
    const local = fork()
    git(local, 'remote', 'set-url', 'origin', parent)
    expect(await open(local, { changes: true }).find('repo')).toBe('github.com/acme/web')
    const without = fork()
    git(without, 'remote', 'remove', 'origin')
    expect(await open(without, { changes: true }).all()).toMatchObject({
      repo: 'github.com/acme/web',
      targetBranch: 'release/2.4',
    })
  })
})

/**
 * A git on the search path that answers `ls-remote` from a file, writes down how it was called, and else is
 * the real one.
 */
function lookup(answer: string) {
  const folder = join(place, `answer-${++count}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'refs'), answer)
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const path = pathWith(
    'git',
    `case " $* " in *" ls-remote "*) pwd > '${folder}/cwd'; env > '${folder}/env'; cat '${folder}/refs';; *) exec '${real}' "$@";; esac`,
  )
  return { env: { PATH: path }, called: (what: 'cwd' | 'env') => readFileSync(join(folder, what), 'utf8') }
}

const line = (sha: string, number: number, kind = 'head') => `${sha}\trefs/pull/${number}/${kind}\n`
const other = '1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e'

describe('The pull request whose head is the current commit', () => {
  test('it is looked for at the address of the remote that named the repository, outside the checkout', async () => {
    const { env, called } = lookup(line(other, 1) + line(head(), 123) + line(other, 124))
    const { source, started } = open(fork(), { env: { ...env, GIT_DIR: '.git', GIT_COMMON_DIR: '.git' } })
    expect(await source.find('pr')).toEqual({
      value: '123',
      origin: 'the pull requests at git remote upstream',
    })
    const asked = started.filter(({ args }) => args.includes('ls-remote'))
    expect(asked.map(({ args }) => args.slice(args.indexOf('ls-remote')))).toEqual([
      ['ls-remote', '--', 'git@github.com:acme/web.git', 'refs/pull/*/head'],
    ])
    expect(asked[0]?.options.timeout).toBeLessThanOrEqual(10_000)
    expect(called('cwd')).toBe(`${env.PATH.split(':')[0]}\n`)
    expect(called('env')).toMatch(/^GIT_DIR=\/dev\/null$/m)
    expect(called('env')).toMatch(/^GIT_ALLOW_PROTOCOL=https:ssh$/m)
    expect(called('env')).not.toMatch(/GIT_COMMON_DIR|secret-/)
  })

  test.each([
    ['no pull request has this head', line(other, 1), undefined],
    ['nothing answers', '', undefined],
    [
      'other refs than heads',
      `${line('HEAD', 7, 'merge')}HEAD\trefs/heads/7\nHEAD\trefs/pull/x/head\n`,
      undefined,
    ],
    ['nonsense', 'HEAD refs/pull/7/head\n<html>\n', undefined],
  ])('%s', async (_, answer, pr) => {
    const { env } = lookup(answer.replaceAll('HEAD', head()))
    expect(await open(checkout(), { env }).find('pr')).toBe(pr)
  })

  test('several are ambiguous, and the error says so', async () => {
    const { env } = lookup(line(head(), 7) + line(other, 8) + line(head(), 123))
    const { find, source } = open(checkout(), { env })
    expect(await find('pr')).toBeUndefined()
    expect(await source.lookUpCheckout()).toEqual({
      isCiJob: false,
      commit: head(),
      commitProblem: 'it is the head of several pull requests in github.com/acme/web: #7, #123',
      branch: 'main',
    })
  })

  test.each([
    'http://github.com/acme/web.git',
    'git://github.com/acme/web.git',
    'file:///srv/acme/web.git',
    'ext::sh -c id',
    'git@github-work:acme/web.git',
    '/srv/acme/web.git',
  ])('%s is not asked', async address => {
    const { env } = lookup(line(head(), 123))
    const { find, started } = open(checkout(address), { env })
    expect(await find('pr')).toBeUndefined()
    expect(started.some(({ args }) => args.includes('ls-remote'))).toBe(false)
  })

  const plain = 'https://github.com/acme/web.git'
  test.each([
    ['https://ada:s3cret%2Fword@github.com/acme/web.git', plain],
    ['https://s3cret:x-oauth-basic@github.com/acme/web.git', plain],
    ['https://s3cret:@github.com/acme/web.git', plain],
    ['https://s3cret@github.com/acme/web.git', plain],
    ['https://ada:s3cret@p@github.com/acme/web.git', plain],
    ['ssh://git:s3cret@github.com/acme/web.git', 'ssh://git@github.com/acme/web.git'],
    ['ssh://git@github.com:22/acme/web.git', 'ssh://git@github.com:22/acme/web.git'],
  ])('a credential in %s is in no argument', async (address, asked) => {
    const { env } = lookup(line(head(), 123))
    const { find, started, said } = open(checkout(address), { env })
    expect(await find('repo')).toBe('github.com/acme/web')
    expect(await find('pr')).toBe('123')
    expect(started.find(({ args }) => args.includes('ls-remote'))?.args).toContain(asked)
    expect(JSON.stringify([started.map(({ args }) => args), said])).not.toMatch(/s3cret|ada/)
  })

  const refusals: readonly (readonly [text: string, problem: string])[] = [
    [
      'git@127.0.0.1: Permission denied (publickey).',
      'git ls-remote origin failed: git@127.0.0.1: Permission denied (publickey)',
    ],
    ['Host key verification failed.', 'git ls-remote origin failed: Host key verification failed'],
  ]
  test.each(refusals)('what the real git says when ssh says "%s"', async (text, commitProblem) => {
    const env = { PATH: pathWith('ssh', `echo '${text}' >&2; exit 255`), LC_ALL: 'de_DE.UTF-8' }
    const { find, source } = open(checkout('git@127.0.0.1:acme/web.git'), { env })
    expect(await find('pr')).toBeUndefined()
    expect(await source.lookUpCheckout()).toMatchObject({ commitProblem, branch: 'main' })
  })

  test('what the real git says outside a checkout, before the first commit, and on a detached HEAD', async () => {
    const look = (folder: string) => open(folder).source.lookUpCheckout()
    expect(await look(home())).toEqual({
      isCiJob: false,
      problem: 'not a git repository (or any of the parent directories): .git',
    })
    const fresh = join(place, 'fresh-3')
    git(place, 'init', '-q', '-b', 'fix-cart', fresh)
    expect(await look(fresh)).toEqual({ isCiJob: false, problem: 'the checkout has no remote' })
    git(fresh, 'remote', 'add', 'origin', 'http://127.0.0.1:1/acme/web')
    expect(await look(fresh)).toEqual({
      isCiJob: false,
      commitProblem: expect.stringMatching(/^ambiguous argument 'HEAD': /),
      branch: 'fix-cart',
    })
    const detached = checkout(parent)
    git(detached, 'checkout', '-q', '--detach')
    expect(await look(detached)).toEqual({
      isCiJob: false,
      commit: head(),
      commitProblem: 'the URL of remote origin does not name a repository',
    })
    expect(
      await open(checkout(), { env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } }).source.lookUpCheckout(),
    ).toMatchObject({ problem: expect.stringMatching(/^detected dubious ownership in repository at /) })
  })

  test('a program that does not end is ended, also if it left a helper with its standard error', async () => {
    const run = (script: string, timeout: number) =>
      runGit([], { env: { PATH: pathWith('git', script) }, timeout })
    expect(await run('echo one >&2; exec sleep 60', 200)).toEqual({
      code: 137,
      out: '',
      err: 'one\n',
      timedOut: true,
    })
    const started = Date.now()
    const helper = await run('echo two >&2; sleep 5 >/dev/null & exit 3', 4_000)
    expect(helper).toEqual({ code: 3, out: '', err: 'two\n', timedOut: false })
    expect(Date.now() - started).toBeLessThan(3_000)
  })

  test('without a commit or a remote no request is sent', async () => {
    const fresh = join(place, 'fresh-2')
    git(place, 'init', '-q', fresh)
    git(fresh, 'remote', 'add', 'origin', 'https://github.com/acme/web')
    const { find, started } = open(fresh)
    expect(await find('pr')).toBeUndefined()
    expect(started.some(({ args }) => args.includes('ls-remote'))).toBe(false)
  })
})

describe('nothing that a repository can configure is run', () => {
  /** Every setting by which git runs a program, each to leave the same mark. */
  const settingsThatRun = (mark: string): readonly (readonly [string, string])[] => {
    const run = `sh -c 'touch ${mark}'`
    return [
      ['core.fsmonitor', `touch ${mark}; false`],
      ['core.hooksPath', join(place, 'hooks')],
      ['core.sshCommand', `touch ${mark}; false`],
      ['core.gitProxy', run],
      ['core.askPass', `touch ${mark}`],
      ['core.pager', `touch ${mark}`],
      ['core.editor', `touch ${mark}`],
      ['core.alternateRefsCommand', `touch ${mark}`],
      ['pager.remote', `touch ${mark}`],
      ['pager.ls-remote', `touch ${mark}`],
      ['pager.rev-parse', `touch ${mark}`],
      ['alias.remote', `!touch ${mark}`],
      ['alias.rev-parse', `!touch ${mark}`],
      ['alias.ls-remote', `!touch ${mark}`],
      ['credential.helper', `!touch ${mark}`],
      ['gpg.program', `touch ${mark}`],
      ['log.showSignature', 'true'],
      ['diff.external', `touch ${mark}`],
      ['uploadpack.packObjectsHook', `touch ${mark}`],
      ['remote.origin.uploadpack', `touch ${mark};`],
      ['remote.origin.promisor', 'true'],
      ['extensions.partialClone', 'origin'],
      ['protocol.allow', 'always'],
      ['protocol.ext.allow', 'always'],
      ['protocol.file.allow', 'always'],
    ]
  }

  const arm = (folder: string, mark: string) => {
    for (const [name, value] of settingsThatRun(mark)) git(folder, 'config', name, value)
    for (const hook of [
      'post-checkout',
      'reference-transaction',
      'post-index-change',
      'fsmonitor-watchman',
    ]) {
      mkdirSync(join(place, 'hooks'), { recursive: true })
      writeFileSync(join(place, 'hooks', hook), `#!/bin/sh\ntouch ${mark}\n`)
      chmodSync(join(place, 'hooks', hook), 0o755)
    }
    const included = join(folder, '.git', 'included')
    writeFileSync(included, `[core]\n\tsshCommand = "touch ${mark}; false"\n`)
    git(folder, 'config', 'include.path', included)
  }

  const everything = async (cwd: string, env: Record<string, string> = {}) => {
    for (const changes of [false, true]) {
      const { all, find, started } = open(cwd, { changes, env })
      await all()
      await find('pr')
      for (const { options } of started) expect(JSON.stringify(options)).not.toContain('secret-')
    }
  }

  test('the marks are real: git itself runs what is configured here', async () => {
    const mark = join(place, 'control')
    const folder = checkout('ssh://git@127.0.0.1:1/acme/web.git')
    arm(folder, mark)
    git(folder, 'status')
    expect(existsSync(mark)).toBe(true)
    rmSync(mark)
    expect(() => git(folder, 'ls-remote', 'origin')).toThrow()
    expect(existsSync(mark)).toBe(true)
  })

  test.each([
    'https://127.0.0.1:1/acme/web.git',
    'ssh://git@127.0.0.1:1/acme/web.git',
    'git@127.0.0.1:acme/web.git',
    'git://127.0.0.1:1/acme/web.git',
    'http://127.0.0.1:1/acme/web.git',
  ])('a checkout armed in every way, with the remote %s', async address => {
    const mark = join(place, `mark-${++count}`)
    const folder = checkout(address)
    arm(folder, mark)
    // No ssh of this machine is to be started either: this one says what it was asked, and refuses.
    const asked = join(place, `ssh-${count}`)
    await everything(folder, {
      PATH: pathWith('ssh', `echo "$@" >> '${asked}'; env >> '${asked}'; exit 255`),
    })
    expect(existsSync(mark)).toBe(false)
    expect(existsSync(asked)).toBe(/^(?:ssh|git@)/.test(address))
    if (existsSync(asked)) expect(readFileSync(asked, 'utf8')).not.toContain('secret-')
  })

  test('remotes that are programs, missing objects of a partial clone, and merge commits looked at', async () => {
    const mark = join(place, 'mark-ext')
    for (const address of [`ext::touch ${mark}`, `ext::sh -c touch% ${mark}`, parent, `file://${parent}`]) {
      const folder = checkout(address)
      arm(folder, mark)
      git(folder, 'config', `url.ext::touch ${mark} .insteadOf`, 'https://github.com/')
      rmSync(join(folder, '.git', 'objects'), { recursive: true })
      mkdirSync(join(folder, '.git', 'objects'))
      await everything(folder)
      const { countParents } = await import('../../src/config/git.ts')
      const runtime = { platform: 'linux', nullDevice: '/dev/null' }
      const host = { cwd: folder, env: bareEnvironment(home()), runtime, git: runGit } as unknown as Host
      expect(await countParents(host, head())).toBeUndefined()
    }
    expect(existsSync(mark)).toBe(false)
  })

  test("an address that the user's own settings turn into a program is refused by git", async () => {
    const mark = join(place, 'mark-twice')
    const config = join(place, 'twice.gitconfig')
    writeFileSync(
      config,
      `[protocol "ext"]\n\tallow = always\n[protocol "file"]\n\tallow = always\n` +
        `[url "https://second.example/"]\n\tinsteadOf = https://first.example/\n` +
        `[url "ext::touch ${mark} "]\n\tinsteadOf = https://second.example/\n`,
    )
    const { find, started } = open(checkout('https://first.example/acme/web'), {
      env: { GIT_CONFIG_GLOBAL: config },
    })
    expect(await find('repo')).toBe('second.example/acme/web')
    expect(await find('pr')).toBeUndefined()
    expect(started.some(({ args }) => args.includes('ls-remote'))).toBe(true)
    expect(existsSync(mark)).toBe(false)
  })

  test('a program called git in the checkout is not the one that runs', async () => {
    const mark = join(place, 'mark-git')
    const folder = checkout()
    writeFileSync(join(folder, 'git'), `#!/bin/sh\ntouch ${mark}\n`)
    chmodSync(join(folder, 'git'), 0o755)
    expect(await open(folder, { env: { PATH: `.:${process.env.PATH}` } }).find('repo')).toBe(
      'github.com/acme/web',
    )
    expect(existsSync(mark)).toBe(false)
  })
})

describe('Asking costs little', () => {
  test('git is not started before a setting is read, nor for other settings', async () => {
    const { source, started } = open(checkout())
    for (const name of ['org', 'baseUrl', 'testRun', 'output', 'profile'] as const)
      expect(source.find(name)).toBeUndefined()
    expect(started).toEqual([])
  })

  test('each git command runs once, also for several pull requests', async () => {
    const { source, started } = open(checkout())
    for (const name of ['repo', 'targetBranch', 'sha', 'repo', 'targetBranch', 'sha'] as const)
      await source.find(name)
    expect(started.map(({ args }) => args.slice(args.indexOf('core.hooksPath=/dev/null') + 1))).toEqual([
      ['remote', '-v'],
      ['rev-parse', '--symbolic-full-name', 'refs/remotes/origin/HEAD'],
      ['rev-parse', 'HEAD'],
    ])
    for (const { options } of started) {
      expect(options.timeout).toBeLessThanOrEqual(5_000)
      expect(options.env).toMatchObject({ GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' })
    }
  })
})
