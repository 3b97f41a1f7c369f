import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test as plainTest } from 'vitest'
import { isQueued, parsePushes } from '../src/domain/git-push.ts'
import { toMergeqError } from '../src/errors.ts'
import { startSandbox } from '../src/sandbox/sandbox.ts'
import { type Answer, mergeq, noon, type Seen, type Service, serveScript } from './harness.ts'
import { openRaw } from './peers.ts'
import { bareEnvironment, launcher, testWith } from './programs.ts'

const [one, two, none] = ['1'.repeat(40), '2'.repeat(40), '0'.repeat(40)]
const line = (branch: string, from = one) => `refs/heads/${branch} ${two} refs/heads/${branch} ${from}\n`

const record = {
  prNumber: 7,
  state: 'testing',
  stateChangedAt: '2026-01-05T11:56:00.000Z',
  isCurrentlySubmittedToQueue: true,
}
const queue = {
  state: 'running',
  enqueuedPullRequests: [
    { prNumber: 5, state: 'testing' },
    { prNumber: 7, state: 'testing' },
  ],
}
/** A service that knows one pull request, submitted from the branch fix. */
const knows =
  (found: object = record, other: Answer = { body: JSON.stringify(queue) }) =>
  ({ path, body }: Seen): Answer => {
    if (path.endsWith('/getQueue')) return other
    return JSON.parse(body).pr.branch === 'fix'
      ? { body: JSON.stringify(found) }
      : { status: 404, body: 'Not Found' }
  }
const where = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
const guard = (input: string, answer = knows(), flags = '') =>
  mergeq(`guard ${flags} -- origin https://github.com/acme/web.git`, { env: where, input, answer })

describe('what git tells its hook', () => {
  const test = plainTest
  test.each([
    ['nothing', '', []],
    ['a branch that moves', line('fix'), ['fix']],
    ['several, over a CRLF', line('fix').replace('\n', '\r\n') + line('a/b'), ['fix', 'a/b']],
    ['a branch by another name there', `HEAD ${two} refs/heads/fix ${one}\n`, ['fix']],
    ['a deletion', `(delete) ${none} refs/heads/fix ${one}\n`, ['fix']],
    ['a deletion of what is not there', `(delete) ${none} refs/heads/fix ${none}\n`, []],
    ['the deletion of a tag', `(delete) ${none} refs/tags/v1 ${one}\n`, []],
    ['a tag', `refs/tags/v1 ${two} refs/tags/v1 ${one}\n`, []],
    ['a branch that is new there', line('fix', none), []],
    ['a branch that stays', line('fix', two), []],
    ['commits of 64 digits', `refs/heads/x ${'a'.repeat(64)} refs/heads/x ${'b'.repeat(64)}\n`, ['x']],
  ])('%s', (_, text, branches) => {
    expect(parsePushes(text).map(({ branch }) => branch)).toEqual(branches)
  })

  test('anything else is refused, and nothing else is thrown', () => {
    expect(() => parsePushes('fix\n')).toThrow('pre-push hook')
    fc.assert(
      fc.property(fc.string(), text => {
        try {
          parsePushes(text)
        } catch (error) {
          expect(toMergeqError(error).kind).toBe('usage')
        }
      }),
    )
  })

  test.each([
    [{ state: 'NOT_READY', isCurrentlySubmittedToQueue: true }, true],
    [{ state: 'pending' }, true],
    [{ state: 'TESTING' }, true],
    [{ state: 'warming_up', isCurrentlySubmittedToQueue: true }, true],
    [{ state: 'FAILED', isCurrentlySubmittedToQueue: true }, true],
    [{ state: 'PENDING', isCurrentlySubmittedToQueue: false }, false],
    [{ state: 'merged' }, false],
    [{ state: 'FAILED' }, false],
    [{ state: 'CANCELLED', isCurrentlySubmittedToQueue: false }, false],
  ])('%j is in the queue: %s', (found, expected) => {
    expect(isQueued(found)).toBe(expected)
  })
})

describe('the guard', () => {
  const test = plainTest
  test('21: stops the push, says what would be lost, and the ways on', async () => {
    const { code, out, err, requests } = await guard(line('fix'))
    expect({ code, out }).toEqual({ code: 21, out: '' })
    expect(err).toBe(
      [
        'mergeq: the push of fix was stopped: #7 is TESTING for 4m, number 2 of 2 in the queue of main, and a push takes it out: its place and its test run would be lost.',
        '  Wait for it: mergeq pr wait 7',
        '  Cancel #7 first, then push: mergeq pr cancel 7',
        '  Push all the same: MERGEQ_GUARD=off git push (or git push --no-verify)',
        '',
      ].join('\n'),
    )
    expect(requests.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      [
        '/v1/getSubmittedPullRequest',
        {
          repo: { host: 'github.com', owner: 'acme', name: 'web' },
          targetBranch: 'main',
          pr: { branch: 'fix' },
        },
      ],
      ['/v1/getQueue', { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'main' }],
    ])
  })

  test('21: stops the deletion of the head branch, and says how to go on', async () => {
    const deletion = `(delete) ${none} refs/heads/fix ${one}\n`
    const { code, out, err, requests } = await guard(deletion)
    expect({ code, out }).toEqual({ code: 21, out: '' })
    expect(err).toBe(
      [
        'mergeq: the deletion of fix was stopped: #7 is TESTING for 4m, number 2 of 2 in the queue of main, and deleting its head branch takes it out: its place and its test run would be lost.',
        '  Wait for it: mergeq pr wait 7',
        '  Cancel #7 first, then push: mergeq pr cancel 7',
        '  Push all the same: MERGEQ_GUARD=off git push (or git push --no-verify)',
        '',
      ].join('\n'),
    )
    expect(JSON.parse(requests[0]?.body ?? '').pr).toEqual({ branch: 'fix' })
    const other = await guard(deletion.replace('fix', 'other'))
    expect({ code: other.code, err: other.err }).toEqual({ code: 0, err: '' })
  })

  test('a queue that cannot be read costs the place alone', async () => {
    const { code, err } = await guard(line('fix'), knows({ ...record, state: 'PENDING' }, { status: 500 }))
    expect(code).toBe(21)
    expect(err).toContain(
      '#7 is PENDING for 4m, in the queue of main, and a push takes it out: its place would be lost.',
    )
  })

  test.each([
    ['a branch without a pull request', line('other'), knows(), 1],
    [
      'one that was merged',
      line('fix'),
      knows({ ...record, state: 'merged', isCurrentlySubmittedToQueue: false }),
      1,
    ],
    [
      'tags, their deletion and new branches',
      `(delete) ${none} refs/tags/fix ${one}\n${line('fix', none)}`,
      knows(),
      0,
    ],
    ['nothing', '', knows(), 0],
  ])('lets go without a word: %s', async (_, input, answer, asked) => {
    const { code, out, err, requests } = await guard(input, answer)
    expect({ code, out, err, asked: requests.length }).toEqual({ code: 0, out: '', err: '', asked })
  })

  test('of several branches each is asked for', async () => {
    const { code, requests } = await guard(line('a') + line('b') + line('fix'))
    expect({ code, asked: requests.length }).toEqual({ code: 21, asked: 4 })
  })

  test('a branch of the same name in a fork is another one, unless the head is the same', async () => {
    const fork = (prSha: string) =>
      mergeq('guard -- fork git@github.com:ada/web.git', {
        env: where,
        input: line('fix'),
        answer: knows({ ...record, prSha }),
      })
    expect((await fork('3'.repeat(40))).code).toBe(0)
    expect((await fork(one)).code).toBe(21)
    // To the repository itself the head may only show late.
    expect((await guard(line('fix'), knows({ ...record, prSha: '3'.repeat(40) }))).code).toBe(21)
  })

  test.each([
    ['a fault', () => ({ status: 500 }), 7],
    ['a refused token', () => ({ status: 401 }), 4],
    ['a web page', () => ({ status: 404, body: '<html>' }), 5],
    ['no document', () => ({ body: 'OK' }), 15],
  ])('trouble lets go with a line, --fail-closed does not: %s', async (_, answer: () => Answer, strict) => {
    const open = await guard(line('fix'), answer)
    expect({ code: open.code, out: open.out, asked: open.requests.length }).toEqual({
      code: 0,
      out: '',
      asked: 1,
    })
    expect(open.err).toMatch(/^mergeq: guard: the queue could not be asked, and the push goes on: .*\n$/)
    const closed = await guard(line('fix'), answer, '--fail-closed')
    expect(closed.code).toBe(strict)
    expect(closed.err).toMatch(/^mergeq: the push was stopped, because .*\n[\s\S]*MERGEQ_GUARD=off git push/)
  })

  test('nor does it stop for want of settings', async () => {
    for (const [env, told] of [
      [{ MERGEQ_TARGET_BRANCH: 'main' }, 'No repository was given'],
      [{ ...where, MERGEQ_TOKEN: '' }, 'token'],
    ] as const) {
      const { code, err } = await mergeq('guard -- origin x', { env, input: line('fix'), answer: knows() })
      expect(code).toBe(0)
      expect(err).toContain(told)
    }
  })

  test('MERGEQ_GUARD=off asks nothing; --dry-run shows what would be asked', async () => {
    const off = await mergeq('guard', {
      env: { ...where, MERGEQ_GUARD: 'off' },
      input: line('fix'),
      answer: knows(),
    })
    expect({ code: off.code, err: off.err, asked: off.requests.length }).toEqual({
      code: 0,
      err: '',
      asked: 0,
    })
    const dry = await guard(line('fix'), knows(), '--dry-run')
    expect(dry.requests).toEqual([])
    expect(JSON.parse(dry.out)).toMatchObject({
      operation: 'getSubmittedPullRequest',
      body: { pr: { branch: 'fix' } },
    })
  })

  test('typed by a person it says who runs it', async () => {
    const { code, err } = await mergeq('guard', { env: where, inputTerminal: true, answer: knows() })
    expect(code).toBe(2)
    expect(err).toContain('mergeq guard --install')
    expect((await mergeq('guard --install --uninstall')).code).toBe(2)
  })
})

describe('with real repositories', () => {
  const test = testWith('git')
  let place: string
  let service: Service
  let answer: (seen: Seen) => Answer
  const environment = (more: Readonly<Record<string, string>> = {}) => {
    const bare = bareEnvironment(join(place, 'home'))
    return {
      ...bare,
      PATH: `${join(place, 'bin')}:${bare.PATH}`,
      MERGEQ_BASE_URL: service.baseUrl,
      MERGEQ_TOKEN: 'test-token',
      ...where,
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      ...more,
    }
  }
  interface Ran {
    readonly code: number
    readonly out: string
    readonly err: string
  }
  const run = (cwd: string, program: string, args: readonly string[], more = {}): Promise<Ran> =>
    new Promise(resolve =>
      execFile(program, [...args], { cwd, env: environment(more) }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, out, err }),
      ),
    )
  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd,
      env: environment(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'mergeq-guard-'))
    for (const folder of ['home', 'bin']) mkdirSync(join(place, folder))
    writeFileSync(join(place, 'bin', 'mergeq'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`)
    chmodSync(join(place, 'bin', 'mergeq'), 0o755)
    service = await serveScript(seen => answer(seen))
  })
  afterAll(async () => {
    await service.close()
    rmSync(place, { recursive: true, force: true })
  })

  let count = 0
  /** A clone with the branch fix, which its remote has and which has a commit more here. */
  function checkout(): string {
    const folder = join(place, `work-${++count}`)
    git(place, 'init', '-q', '--bare', '-b', 'main', `${folder}.git`)
    git(place, 'clone', '-q', `${folder}.git`, folder)
    git(folder, 'checkout', '-q', '-b', 'fix')
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'one')
    git(folder, 'push', '-q', 'origin', 'fix')
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'two')
    answer = knows()
    return folder
  }
  const isPushed = (folder: string) =>
    git(folder, 'rev-parse', 'fix') === git(`${folder}.git`, 'rev-parse', 'fix')
  const hook = (folder: string) => join(folder, '.git', 'hooks', 'pre-push')

  test('a push is stopped, by hand let through, and free once it is cancelled', async () => {
    const folder = checkout()
    const installed = await run(folder, 'mergeq', ['guard', '--install'])
    expect(installed).toEqual({ code: 0, out: `${hook(folder)}\tinstalled\n`, err: '' })
    expect(statSync(hook(folder)).mode & 0o777).toBe(0o755)
    const stopped = await run(folder, 'git', ['push', 'origin', 'fix'])
    expect(stopped.code).toBe(1)
    expect(stopped.err).toContain('the push of fix was stopped: #7 is TESTING')
    expect(isPushed(folder)).toBe(false)
    expect((await run(folder, 'git', ['push', '--no-verify', '--dry-run', 'origin', 'fix'])).code).toBe(0)
    expect((await run(folder, 'git', ['push', 'origin', 'fix'], { MERGEQ_GUARD: 'off' })).code).toBe(0)
    expect(isPushed(folder)).toBe(true)
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'three')
    answer = knows({ ...record, state: 'CANCELLED', isCurrentlySubmittedToQueue: false })
    expect(await run(folder, 'git', ['push', '-q', 'origin', 'fix'])).toEqual({ code: 0, out: '', err: '' })
    expect(isPushed(folder)).toBe(true)
  })

  test('the deletion of the head branch of a queued pull request is stopped, and free once it has left', async () => {
    const folder = checkout()
    await run(folder, 'mergeq', ['guard', '--install'])
    const stopped = await run(folder, 'git', ['push', '-q', 'origin', '--delete', 'fix'])
    expect(stopped.code).toBe(1)
    expect(stopped.err).toContain('the deletion of fix was stopped: #7 is TESTING')
    expect(git(`${folder}.git`, 'branch', '--list', 'fix')).toContain('fix')
    answer = knows({ ...record, state: 'MERGED', isCurrentlySubmittedToQueue: false })
    expect((await run(folder, 'git', ['push', '-q', 'origin', '--delete', 'fix'])).code).toBe(0)
    expect(git(`${folder}.git`, 'branch', '--list', 'fix')).toBe('')
  })

  test('new branches and tags, and the deletion of a tag, go without a question', async () => {
    const folder = checkout()
    await run(folder, 'mergeq', ['guard', '--install'])
    const asked = service.requests.length
    git(folder, 'tag', 'v1')
    for (const words of [['v1'], ['fix:new'], ['--delete', 'v1']])
      expect((await run(folder, 'git', ['push', '-q', 'origin', ...words])).code).toBe(0)
    expect(service.requests.length).toBe(asked)
  })

  test('trouble lets the push go, whatever it is; --fail-closed does not', async () => {
    const folder = checkout()
    const push = (more = {}) => run(folder, 'git', ['push', '-q', 'origin', 'fix', '--dry-run'], more)
    await run(folder, 'mergeq', ['guard', '--install'])
    const silent = await openRaw('silence')
    const troubles = [
      { MERGEQ_BASE_URL: `http://127.0.0.1:${silent.port}/v1`, MERGEQ_TIMEOUT: '200ms' },
      { MERGEQ_OUTPUT: 'hologram' },
      { MERGEQ_REPO: '' },
      { PATH: bareEnvironment('').PATH ?? '' },
    ]
    for (const trouble of troubles) {
      const { code, err } = await push(trouble)
      expect(code).toBe(0)
      expect(err).toMatch(/mergeq/)
    }
    expect((await run(folder, 'mergeq', ['guard', '--install', '--fail-closed'])).code).toBe(0)
    for (const trouble of troubles) expect((await push(trouble)).code).toBe(1)
    await silent.close()
    expect((await push({ ...troubles[0], MERGEQ_GUARD: 'off' })).code).toBe(0)
  })

  test('installed twice, made strict, and removed again', async () => {
    const folder = checkout()
    const did = async (...flags: readonly string[]) => {
      const { code, out } = await run(folder, 'mergeq', ['guard', ...flags])
      return [code, out.split('\t')[1]?.trim()]
    }
    expect(await did('--uninstall')).toEqual([0, 'nothing'])
    expect(await did('--install')).toEqual([0, 'installed'])
    expect(await did('--install')).toEqual([0, 'nothing'])
    expect(await did('--install', '--fail-closed')).toEqual([0, 'installed'])
    expect(readFileSync(hook(folder), 'utf8')).toContain('--fail-closed')
    expect(await did('--uninstall')).toEqual([0, 'removed'])
    expect(existsSync(hook(folder))).toBe(false)
  })

  test('a hook of somebody else is left as it is; the line to add to it works', async () => {
    const folder = checkout()
    writeFileSync(hook(folder), '#!/bin/sh\ncat >/dev/null\n')
    chmodSync(hook(folder), 0o755)
    const { code, err } = await run(folder, 'mergeq', ['guard', '--install'])
    expect(code).toBe(6)
    expect(readFileSync(hook(folder), 'utf8')).toBe('#!/bin/sh\ncat >/dev/null\n')
    expect((await run(folder, 'mergeq', ['guard', '--uninstall'])).code).toBe(6)
    const [, , added = ''] = err.split('\n')
    writeFileSync(hook(folder), `#!/bin/sh\n${added.trim()}\nprintf '%s' "$refs" | grep -q refs/heads/fix\n`)
    const stopped = await run(folder, 'git', ['push', 'origin', 'fix'])
    expect(stopped.code).toBe(1)
    expect(stopped.err).toContain('the push of fix was stopped')
    answer = () => ({ status: 500 })
    expect((await run(folder, 'git', ['push', '-q', 'origin', 'fix'])).code).toBe(0)
  })

  test('core.hooksPath, relative or not, and worktrees', async () => {
    const folder = checkout()
    mkdirSync(join(folder, 'sub'))
    git(folder, 'config', 'core.hooksPath', 'tools/hooks')
    const relative = await run(join(folder, 'sub'), 'mergeq', ['guard', '--install', '--json'])
    expect(JSON.parse(relative.out)).toEqual({ hook: join(folder, 'tools/hooks/pre-push'), did: 'installed' })
    expect((await run(folder, 'git', ['push', 'origin', 'fix'])).code).toBe(1)
    git(folder, 'config', 'core.hooksPath', join(place, 'shared'))
    expect((await run(folder, 'mergeq', ['guard', '--install'])).out).toBe(
      `${join(place, 'shared/pre-push')}\tinstalled\n`,
    )
    git(folder, 'config', '--unset', 'core.hooksPath')
    const tree = `${folder}-tree`
    git(folder, 'worktree', 'add', '-q', '-b', 'other', tree)
    const shared = await run(tree, 'mergeq', ['guard', '--install'])
    expect(shared.out).toBe(`${hook(folder)}\tinstalled\n`)
    expect((await run(tree, 'git', ['push', 'origin', 'fix'])).code).toBe(1)
    expect((await run(join(folder, 'sub'), 'mergeq', ['guard', '--uninstall'])).out).toBe(
      `${hook(folder)}\tremoved\n`,
    )
    expect((await run(place, 'mergeq', ['guard', '--install'])).code).toBe(2)
  })

  test.each(['document', 'hosted'] as const)('against the sandbox, %s', async dialect => {
    const folder = checkout()
    const clock = { now: noon }
    const sandbox = await startSandbox({ dialect, scenario: 'paused', now: () => clock.now })
    const more = { MERGEQ_BASE_URL: sandbox.baseUrl, MERGEQ_TOKEN: sandbox.token }
    await run(folder, 'mergeq', ['guard', '--install'], more)
    expect((await run(folder, 'mergeq', ['pr', 'submit', '7'], more)).code).toBe(0)
    clock.now += 5_000
    const { prBranch = 'pr-7' } = JSON.parse(
      (await run(folder, 'mergeq', ['pr', 'get', '7', '--json'], more)).out,
    )
    git(folder, 'push', '-q', '--no-verify', 'origin', `fix~1:refs/heads/${prBranch}`)
    const stopped = await run(folder, 'git', ['push', 'origin', `fix:${prBranch}`], more)
    expect(stopped.err).toContain('#7 is PENDING')
    expect(stopped.code).toBe(1)
    expect((await run(folder, 'mergeq', ['pr', 'cancel', '7'], more)).code).toBe(0)
    expect((await run(folder, 'git', ['push', '-q', 'origin', `fix:${prBranch}`], more)).code).toBe(0)
    await sandbox.close()
  })
})
