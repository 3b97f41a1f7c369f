import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { record, serviceKnowing, where } from '../support/guard.ts'
import { type Answer, type Seen, type Service, serveScript } from '../support/harness.ts'
import { bareEnvironment, launcher, runProgram, testWith } from '../support/programs.ts'
import { startRawServer } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('with real repositories', () => {
  const test = testWith('git')
  const place = temporaryFolder('mergeq-guard-')
  let service: Service
  let answer: (seen: Seen) => Answer
  const environment = (more: Readonly<Record<string, string>> = {}) => {
    const bare = bareEnvironment(join(place, 'home'))
    return {
      ...bare,
      PATH: `${join(place, 'bin')}:${bare.PATH}`,
      MERGEQ_BASE_URL: service.baseUrl,
      MERGEQ_TOKEN: 'qj7-token',
      ...where,
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      ...more,
    }
  }
  const run = (cwd: string, program: string, args: readonly string[], more = {}) =>
    runProgram([program, ...args], { cwd, env: environment(more) })
  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd,
      env: environment(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()

  beforeAll(async () => {
    for (const folder of ['home', 'bin']) mkdirSync(join(place, folder))
    const script = `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`
    writeFileSync(join(place, 'bin', 'mergeq'), script, { mode: 0o755 })
    service = await serveScript(seen => answer(seen))
  })
  afterAll(() => service.close())

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
    answer = serviceKnowing()
    return folder
  }
  const isPushed = (folder: string) =>
    git(folder, 'rev-parse', 'fix') === git(`${folder}.git`, 'rev-parse', 'fix')
  const hook = (folder: string) => join(folder, '.git', 'hooks', 'pre-push')

  test('a push or deletion is stopped, by hand let through, and free once it has left', async () => {
    const folder = checkout()
    const push = (...words: readonly string[]) => run(folder, 'git', ['push', '-q', 'origin', ...words])
    const installed = await run(folder, 'mergeq', ['guard', 'install'])
    const reason =
      'by the name of the branch only: no remote of the checkout belongs to github.com/acme/web.\n'
    expect(installed).toEqual({
      code: 0,
      out: `${hook(folder)}\tinstalled\n`,
      err: `mergeq: Pushes will be checked ${reason}`,
    })
    expect(statSync(hook(folder)).mode & 0o777).toBe(0o755)
    const stopped = await push('fix')
    expect(stopped.code).toBe(1)
    expect(stopped.err).toContain('The push of fix was blocked: #7 has been testing')
    const undeleted = await push('--delete', 'fix')
    expect(undeleted.code).toBe(1)
    expect(undeleted.err).toContain('The deletion of fix was blocked: #7 has been testing')
    expect(isPushed(folder)).toBe(false)
    const asked = service.requests.length
    git(folder, 'tag', 'v1')
    for (const words of [
      ['v1', 'fix:new'],
      ['--delete', 'v1'],
      ['--no-verify', '--dry-run', 'fix'],
    ])
      expect((await push(...words)).code).toBe(0)
    expect((await run(folder, 'git', ['push', 'origin', 'fix'], { MERGEQ_GUARD: 'off' })).code).toBe(0)
    expect(isPushed(folder)).toBe(true)
    expect(service.requests.length).toBe(asked)
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'three')
    answer = serviceKnowing({ ...record, state: 'CANCELLED', isCurrentlySubmittedToQueue: false })
    expect(await push('fix')).toEqual({
      code: 0,
      out: '',
      err: `mergeq: The push of fix was checked ${reason}`,
    })
    expect(isPushed(folder)).toBe(true)
    expect((await push('--delete', 'fix')).code).toBe(0)
    expect(git(`${folder}.git`, 'branch', '--list', 'fix')).toBe('')
  })

  test('any error lets the push continue, also in a shell with -e, unless --fail-closed is set', async () => {
    const folder = checkout()
    const push = (more = {}) => run(folder, 'git', ['push', '-q', 'origin', 'fix', '--dry-run'], more)
    await run(folder, 'mergeq', ['guard', 'install'])
    writeFileSync(hook(folder), readFileSync(hook(folder), 'utf8').replace('#!/bin/sh', '#!/bin/sh -eu'))
    const silent = await startRawServer('silence')
    const silence = { MERGEQ_BASE_URL: `http://127.0.0.1:${silent.port}/v1`, MERGEQ_TIMEOUT: '200ms' }
    const troubles = [silence, { MERGEQ_OUTPUT: 'hologram' }, { PATH: bareEnvironment('').PATH ?? '' }]
    for (const trouble of troubles) {
      const { code, err } = await push(trouble)
      expect(code).toBe(0)
      expect(err).toMatch(/mergeq/)
    }
    expect((await run(folder, 'mergeq', ['guard', 'install', '--fail-closed'])).code).toBe(0)
    for (const trouble of troubles) expect((await push(trouble)).code).toBe(1)
    await silent.close()
  })

  test('the line that is suggested for an existing hook works in it, with -e and without mergeq', async () => {
    for (const shell of ['/bin/sh', '/bin/sh -e']) {
      const folder = checkout()
      writeFileSync(hook(folder), '#!/bin/sh\ncat >/dev/null\n')
      const { err } = await run(folder, 'mergeq', ['guard', 'install'])
      const added = err.split('\n').find(text => text.includes('mergeq guard hook')) ?? ''
      const rest = `printf '%s' "$refs" | grep -q refs/heads/fix`
      writeFileSync(hook(folder), `#!${shell}\n${added.trim()}\n${rest}\n`)
      chmodSync(hook(folder), 0o755)
      const stopped = await run(folder, 'git', ['push', 'origin', 'fix'])
      expect(stopped.code).toBe(1)
      expect(stopped.err).toContain('The push of fix was blocked')
      const PATH = bareEnvironment('').PATH ?? ''
      expect((await run(folder, 'git', ['push', '--dry-run', 'origin', 'fix'], { PATH })).code).toBe(0)
      answer = () => ({ status: 500 })
      expect((await run(folder, 'git', ['push', '-q', 'origin', 'fix'])).code).toBe(0)
    }
  })

  test('the hook says in one line what to run where mergeq is another one', async () => {
    const folder = checkout()
    const other = join(place, 'other')
    mkdirSync(other, { recursive: true })
    const PATH = `${other}:${bareEnvironment('').PATH}`
    const push = () => run(folder, 'git', ['push', '-q', '--dry-run', 'origin', 'fix'], { PATH })
    for (const [words, end, code] of [
      [['guard', 'install'], 'continues', 0],
      [['guard', 'install', '--fail-closed'], 'is blocked', 1],
    ] as const) {
      await run(folder, 'mergeq', words)
      for (const ended of [1, 2, 64]) {
        writeFileSync(join(other, 'mergeq'), `#!/bin/sh\nexit ${ended}\n`)
        chmodSync(join(other, 'mergeq'), 0o755)
        const { code: pushed, err } = await push()
        expect(pushed).toBe(code)
        expect(err).toContain(
          `mergeq guard: the push was not checked and ${end}: mergeq ended with ${ended}. Update mergeq, then run: mergeq guard install\n`,
        )
      }
    }
    const { code, err } = await run(folder, 'mergeq', [
      'guard',
      '--',
      'origin',
      'https://github.com/acme/web',
    ])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('mergeq guard install') })
  })

  test('with husky, the line works in .husky/pre-push', async () => {
    const folder = checkout()
    const [own, user] = [join(folder, '.husky', '_'), join(folder, '.husky', 'pre-push')]
    mkdirSync(own, { recursive: true })
    // As husky 9 does.
    writeFileSync(join(own, 'pre-push'), '#!/bin/sh\nsh -e "$(dirname "$(dirname "$0")")/pre-push" "$@"\n', {
      mode: 0o755,
    })
    git(folder, 'config', 'core.hooksPath', '.husky/_')
    const {
      hook: path,
      did,
      line,
    } = JSON.parse((await run(folder, 'mergeq', ['guard', 'install', '--json'])).out)
    expect({ path, did }).toEqual({ path: user, did: 'nothing' })
    writeFileSync(user, `${line}\n`)
    const stopped = await run(folder, 'git', ['push', 'origin', 'fix'])
    expect(stopped.code).toBe(1)
    expect(stopped.err).toContain('The push of fix was blocked')
    expect((await run(folder, 'mergeq', ['guard', 'install'])).out).toBe(`${user}\tnothing\n`)
  })

  test('a core.hooksPath in a file that the checkout includes is one of the checkout', async () => {
    const folder = checkout()
    writeFileSync(join(folder, 'team.gitconfig'), '[core]\n\thooksPath = tools/hooks\n')
    git(folder, 'config', 'include.path', '../team.gitconfig')
    const { code, out } = await run(folder, 'mergeq', ['guard', 'install', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      did: 'nothing',
      setIn: expect.stringContaining('team.gitconfig'),
    })
  })

  test('the hook is shared by worktrees', async () => {
    const folder = checkout()
    const [sub, tree] = [join(folder, 'sub'), `${folder}-tree`]
    mkdirSync(sub)
    git(folder, 'worktree', 'add', '-q', '-b', 'other', tree)
    expect((await run(tree, 'mergeq', ['guard', 'install'])).out).toBe(`${hook(folder)}\tinstalled\n`)
    expect((await run(tree, 'git', ['push', 'origin', 'fix'])).code).toBe(1)
    expect((await run(sub, 'mergeq', ['guard', 'uninstall'])).out).toBe(`${hook(folder)}\tremoved\n`)
  })
})
