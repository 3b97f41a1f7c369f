import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect } from 'vitest'
import { isMergeqError } from '../../src/base/errors.ts'
import { openCheckout } from '../../src/config/checkout.ts'
import { listParents } from '../../src/config/git.ts'
import type { SourceContext } from '../../src/config/source-context.ts'
import type { GitOptions, Host } from '../../src/host/host.ts'
import { createNodeHost } from '../../src/host/node-host.ts'
import { bareEnvironment, testWith } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const test = testWith('git')
const { git: runGit } = createNodeHost(process, '0.0.0-test', new AbortController().signal)

/** Everything of these tests: a home, checkouts, markers. */
const place = temporaryFolder('mergeq-git-')
const home = join(place, 'home')
/** A bare repository with the branches main and release/2.4, of which main is the default. */
const parent = join(place, 'parent.git')
let head = ''

/** Runs git for a test's own preparations. */
const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', args, {
    cwd,
    env: {
      ...bareEnvironment(home),
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
    },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

beforeAll(() => {
  mkdirSync(home)
  const work = join(place, 'work')
  git(place, 'init', '-q', '-b', 'main', work)
  git(work, 'commit', '-q', '--allow-empty', '-m', 'one')
  git(work, 'branch', 'release/2.4')
  git(place, 'clone', '-q', '--bare', work, parent)
  head = git(parent, 'rev-parse', 'HEAD')
})

let count = 0
/** A fresh clone whose `origin` then says that it is somewhere else. */
function checkout(address = 'https://github.com/acme/web.git', ...options: readonly string[]): string {
  const folder = join(place, `checkout-${++count}`)
  git(place, 'clone', '-q', ...options, parent, folder)
  git(folder, 'remote', 'set-url', 'origin', address)
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
      ...bareEnvironment(home),
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
  const context: Partial<SourceContext> = {
    host,
    changes,
    give: (name, value) => `--${name} ${value}`,
    nameOf: name => `--${name}`,
    notify: async text => {
      if (!said.includes(text)) said.push(text)
    },
    namedRepo: async () => (repo === undefined ? undefined : { host: 'github.com', owner, name }),
  }
  const source = openCheckout(context as SourceContext)
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

const nothing = { repo: undefined, targetBranch: undefined, sha: undefined }

describe('settings from a checkout', () => {
  test('a clone: the repository, the branch of origin/HEAD, the commit, each with its origin', async () => {
    const { all, source } = open(checkout())
    expect(await all()).toEqual({ repo: 'github.com/acme/web', targetBranch: 'main', sha: head })
    expect((await source.find('repo'))?.origin).toBe('git remote origin')
    expect((await source.find('targetBranch'))?.origin).toBe('git origin/HEAD')
    expect((await source.find('sha'))?.origin).toBe('git HEAD')
  })

  const changed = (...args: readonly string[]) => {
    const folder = checkout()
    git(folder, ...args)
    return folder
  }
  const shapes: readonly (readonly [string, () => string, targetBranch?: string])[] = [
    [
      'a folder below the root, in a path with blanks and umlauts',
      () => {
        const folder = join(place, 'ein Ordner für "alles"')
        git(place, 'clone', '-q', parent, folder)
        git(folder, 'remote', 'set-url', 'origin', 'https://github.com/acme/web')
        mkdirSync(join(folder, 'a/b'), { recursive: true })
        return join(folder, 'a/b')
      },
      'main',
    ],
    [
      'a worktree',
      () => {
        changed('worktree', 'add', '-q', '-b', 'side', join(place, 'worktree'))
        return join(place, 'worktree')
      },
      'main',
    ],
    [
      'a partial clone, whose remotes are listed with their filter',
      () => {
        const folder = changed('config', 'remote.origin.promisor', 'true')
        git(folder, 'config', 'remote.origin.partialclonefilter', 'blob:none')
        return folder
      },
      'main',
    ],
    ['a bare clone, which has no origin/HEAD', () => checkout(undefined, '--bare')],
  ]
  for (const [name, make, targetBranch] of shapes)
    test(name, async () => {
      expect(await open(make()).all()).toEqual({ repo: 'github.com/acme/web', targetBranch, sha: head })
    })

  test('an origin/HEAD that leads nowhere: no target branch', async () => {
    const dangling = changed('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/gone')
    expect(await open(dangling).find('targetBranch')).toBeUndefined()
  })

  test('a local path, a file address and the name of an ssh setting name no repository, but have a default branch', async () => {
    for (const address of [parent, `file://${parent}`, '../parent.git', 'git@github-work:acme/web.git'])
      expect(await open(checkout(address)).all()).toEqual({
        repo: undefined,
        targetBranch: 'main',
        sha: head,
      })
  })
})

describe('without output of git there are no settings, and no crash', () => {
  test("no git program, no repository, no such folder, someone else's checkout", async () => {
    expect(await open(checkout(), { env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } }).all()).toEqual(nothing)
    expect(await open(checkout(), { env: { PATH: join(place, 'empty') } }).all()).toEqual(nothing)
    expect(await open(home).all()).toEqual(nothing)
    expect(await open(join(place, 'gone')).all()).toEqual(nothing)
  })

  test('the git program answers nonsense or fails', async () => {
    const folder = checkout()
    for (const script of ['echo nonsense', 'exit 1', 'kill -9 $$'])
      expect(await open(folder, { env: { PATH: pathWith('git', script) } }).all()).toEqual(nothing)
  })
})

/** A search path that begins with a folder that holds one program more. */
function pathWith(program: string, script: string): string {
  const folder = join(place, `bin-${++count}`)
  mkdirSync(folder)
  writeFileSync(join(folder, program), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return `${folder}:${process.env.PATH}`
}

describe('git itself applies insteadOf', () => {
  test('that of the user, not that of pushes, and not one to a local path', async () => {
    const config = join(place, 'user.gitconfig')
    writeFileSync(
      config,
      '[url "https://github.com/"]\n\tinsteadOf = gh:\n[url "git@evil.example:"]\n\tpushInsteadOf = gh:\n',
    )
    const env = { GIT_CONFIG_GLOBAL: config }
    expect(await open(checkout('gh:acme/web'), { env }).find('repo')).toBe('github.com/acme/web')
    const mirrored = checkout('git@github.com:acme/web.git')
    git(mirrored, 'config', `url.${parent}.insteadOf`, 'git@github.com:acme/web.git')
    expect(await open(mirrored).find('repo')).toBe('github.com/acme/web')
  })
})

describe('a fork and its parent', () => {
  test('a read takes upstream, with its branch, and says so once', async () => {
    const { all, said } = open(fork())
    expect(await all()).toEqual({ repo: 'github.com/acme/web', targetBranch: 'release/2.4', sha: head })
    expect(said).toEqual([
      'The remotes origin (github.com/ada/web) and upstream (github.com/acme/web) point to different repositories: using upstream. To choose, use --repo.',
    ])
  })

  test('with a repository given elsewhere the branch is that of its own remote, and nothing is reported', async () => {
    for (const [repo, targetBranch] of [
      ['Acme/web', 'release/2.4'],
      ['ada/web', 'main'],
      ['other/thing', undefined],
    ] as const)
      for (const changes of [true, false]) {
        const { find, said } = open(fork(), { changes, repo })
        expect({ said, repo, targetBranch: await find('targetBranch') }).toEqual({
          said: [],
          repo,
          targetBranch,
        })
      }
    expect(await open(fork(), { repo: 'other/thing' }).find('pr')).toBeUndefined()
    expect(
      await open(checkout('git@github-work:acme/web.git'), { repo: 'acme/web' }).find('targetBranch'),
    ).toBe('main')
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
    const { env, called } = lookup(line(other, 1) + line(head, 123) + line(other, 124))
    const { source, started } = open(fork(), { env: { ...env, GIT_DIR: '.git', GIT_COMMON_DIR: '.git' } })
    expect(await source.find('pr')).toEqual({
      value: '123',
      origin: 'the pull requests at git remote upstream',
      guess: 'branch main',
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

  test('is none if the remote lists other refs than heads, or nonsense', async () => {
    const refs = `${line(head, 7, 'merge')}${head}\trefs/heads/7\n${head}\trefs/pull/x/head\n`
    for (const answer of [refs, `${head} refs/pull/7/head\n<html>\n`])
      expect(await open(checkout(), { env: lookup(answer).env }).find('pr')).toBeUndefined()
  })

  test.each([
    ['https://ada:s3cret%2Fword@github.com/acme/web.git', 'https://github.com/acme/web.git'],
    ['https://ada:s3cret@p@github.com/acme/web.git', 'https://github.com/acme/web.git'],
    ['ssh://git:s3cret@github.com/acme/web.git', 'ssh://git@github.com/acme/web.git'],
  ])('a credential in %s is in no argument', async (address, asked) => {
    const { env } = lookup(line(head, 123))
    const { find, started, said } = open(checkout(address), { env })
    expect(await find('repo')).toBe('github.com/acme/web')
    expect(await find('pr')).toBe('123')
    expect(started.find(({ args }) => args.includes('ls-remote'))?.args).toContain(asked)
    expect(JSON.stringify([started.map(({ args }) => args), said])).not.toMatch(/s3cret|ada/)
  })

  test('what the real git says outside a checkout, before the first commit, and in the checkout of another user', async () => {
    const look = (folder: string) => open(folder).source.lookUp()
    expect(await look(home)).toEqual({
      isCiJob: false,
      problem: 'this is not a git checkout',
      unpushed: 0,
    })
    const fresh = join(place, 'fresh-3')
    git(place, 'init', '-q', '-b', 'fix-cart', fresh)
    expect(await look(fresh)).toEqual({ isCiJob: false, problem: 'the checkout has no remote', unpushed: 0 })
    git(fresh, 'remote', 'add', 'origin', 'http://127.0.0.1:1/acme/web')
    expect(await look(fresh)).toEqual({
      isCiJob: false,
      commitProblem: expect.stringMatching(/^ambiguous argument 'HEAD': /),
      branch: 'fix-cart',
      unpushed: 0,
    })
    const foreign = { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' }
    expect(await open(checkout(), { env: foreign }).source.lookUp()).toMatchObject({
      problem: expect.stringMatching(/^detected dubious ownership in repository at /),
    })
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
    const helper = await run('echo two >&2; sleep 15 >/dev/null & exit 3', 10_000)
    expect(helper).toEqual({ code: 3, out: '', err: 'two\n', timedOut: false })
  })
})

describe('A commit that is given by its first digits', () => {
  const find = (folder: string, digits: string) => open(folder).source.findCommit(digits)
  const none = (digits: string) => ({ problem: `the checkout has no commit that begins with ${digits}` })

  test('is the commit of the real git, and never a branch, a tag or another object', async () => {
    const folder = checkout()
    expect(await find(folder, head.slice(0, 7))).toEqual({ commit: head })
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'two')
    git(folder, 'tag', '-a', '-m', 'v1', 'v1')
    for (const name of ['deadbee', head.slice(0, 8)]) {
      git(folder, 'branch', name)
      git(folder, 'tag', name)
    }
    expect(await find(folder, 'deadbee')).toEqual(none('deadbee'))
    expect(await find(folder, head.slice(0, 8))).toEqual({ commit: head })
    for (const object of ['v1', 'HEAD^{tree}']) {
      const digits = git(folder, 'rev-parse', object).slice(0, 7)
      expect(await find(folder, digits)).toEqual(none(digits))
    }
  })

  test('has 64 digits in a repository with SHA-256', async () => {
    const folder = join(place, 'sha256')
    git(place, 'init', '-q', '--object-format=sha256', folder)
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'one')
    const commit = git(folder, 'rev-parse', 'HEAD')
    expect(commit).toHaveLength(64)
    expect(await open(folder).source.readHead()).toEqual({ commit })
    expect(await find(folder, commit.slice(0, 50))).toEqual({ commit })
  })
})

test('The head of a pull request is not known that the remote of its repository does not list', async () => {
  const { source } = open(checkout(), { env: lookup(line(other, 7)).env })
  const repo = { host: 'github.com', owner: 'acme', name: 'web' }
  expect(await source.findHead({ repo, pr: 7 })).toEqual({ commit: other })
  const problem = 'the git remote has no pull request #8'
  expect(await source.findHead({ repo, pr: 8 })).toEqual({ problem })
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
      ['core.alternateRefsCommand', `touch ${mark}`],
      ['pager.ls-remote', `touch ${mark}`],
      ['alias.ls-remote', `!touch ${mark}`],
      ['credential.helper', `!touch ${mark}`],
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
    const included = join(folder, '.git', 'included')
    writeFileSync(included, `[core]\n\tsshCommand = "touch ${mark}; false"\n`)
    const lines = [...settingsThatRun(mark), ['include.path', included] as const].map(([name, value]) => {
      const [section, ...rest] = name.split('.')
      const key = rest.pop()
      return `[${section}${rest.length === 0 ? '' : ` "${rest}"`}]\n\t${key} = ${JSON.stringify(value)}\n`
    })
    appendFileSync(join(folder, '.git', 'config'), lines.join(''))
    mkdirSync(join(place, 'hooks'), { recursive: true })
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'fsmonitor-watchman'])
      writeFileSync(join(place, 'hooks', hook), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
  }

  const everything = async (cwd: string, env: Record<string, string> = {}) => {
    for (const changes of [false, true]) {
      const { all, source, find, started } = open(cwd, { changes, env })
      await all()
      await find('pr')
      await source.readHead()
      await source.findCommit(head.slice(0, 7))
      await source.findHead({ repo: { host: '127.0.0.1:1', owner: 'acme', name: 'web' }, pr: 7 })
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

  test.each(['https://127.0.0.1:1/acme/web.git', 'git@127.0.0.1:acme/web.git'])(
    'a checkout armed in every way, with the remote %s',
    async address => {
      const mark = join(place, `mark-${++count}`)
      const folder = checkout(address)
      arm(folder, mark)
      // No ssh of this machine is to be started either: this one says what it was asked, and refuses.
      const asked = join(place, `ssh-${count}`)
      await everything(folder, {
        PATH: pathWith('ssh', `echo "$@" >> '${asked}'; env >> '${asked}'; exit 255`),
      })
      expect(existsSync(mark)).toBe(false)
      expect(existsSync(asked)).toBe(address.startsWith('git@'))
      if (existsSync(asked)) expect(readFileSync(asked, 'utf8')).not.toContain('secret-')
    },
  )

  test('remotes that are programs, missing objects of a partial clone, and merge commits looked at', async () => {
    const mark = join(place, 'mark-ext')
    for (const address of [`ext::touch ${mark}`, `ext::sh -c touch% ${mark}`, parent, `file://${parent}`]) {
      const folder = checkout(address)
      arm(folder, mark)
      git(folder, 'config', `url.ext::touch ${mark} .insteadOf`, 'https://github.com/')
      rmSync(join(folder, '.git', 'objects'), { recursive: true })
      mkdirSync(join(folder, '.git', 'objects'))
      await everything(folder)
      const runtime = { platform: 'linux', nullDevice: '/dev/null' }
      const host = { cwd: folder, env: bareEnvironment(home), runtime, git: runGit } as unknown as Host
      expect(await listParents(host, head)).toBeUndefined()
    }
    expect(existsSync(mark)).toBe(false)
  })
})

test('each git command runs once, also for several pull requests', async () => {
  const { source, started } = open(checkout())
  for (const name of ['repo', 'targetBranch', 'sha', 'repo'] as const) await source.find(name)
  await source.listRepositories()
  expect(started.map(({ args }) => args.slice(args.indexOf('core.hooksPath=/dev/null') + 1))).toEqual([
    ['remote', '-v'],
    ['rev-parse', '--symbolic-full-name', 'refs/remotes/origin/HEAD'],
    ['rev-parse', 'HEAD'],
    ['rev-parse', '--show-toplevel'],
  ])
  for (const { options } of started) {
    expect(options.timeout).toBeLessThanOrEqual(5_000)
    expect(options.env).toMatchObject({
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
    })
  }
})
