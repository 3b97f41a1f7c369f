import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../../support/command-checks.ts'
import { hookGit, hookPath } from '../../support/guard.ts'
import { mergeq } from '../../support/harness.ts'

const unnamed = 'mergeq: Pushes cannot be checked: No repository was given.\n'

describe('`guard install`', () => {
  test('installs the hook once, and makes it strict', async () => {
    const disk = new Map<string, string>()
    const did = async (flags = '') => {
      const { code, out } = await mergeq(`guard install ${flags}`, { disk, spawn: hookGit('/repo') })
      expect({ code, path: out.split('\t')[0] }).toEqual({ code: 0, path: hookPath })
      return out.split('\t')[1]?.trim()
    }
    expect(await did()).toBe('installed')
    expect(await did()).toBe('nothing')
    expect(disk.get(hookPath)).toContain('mergeq guard hook -- "$@"')
    expect(await did('--fail-closed')).toBe('installed')
    expect(disk.get(hookPath)).toContain('mergeq guard hook --fail-closed -- "$@"')
  })

  test('replaces an older hook of mergeq', async () => {
    const disk = new Map([[hookPath, '#!/bin/sh\n# mergeq guard: old\nmergeq guard -- "$@"\n']])
    const { out } = await mergeq('guard install', { disk, spawn: hookGit('/repo') })
    expect(out).toBe(`${hookPath}\tinstalled\n`)
    expect(disk.get(hookPath)).toContain('mergeq guard hook -- "$@"')
  })

  test('ends with a sentence', async () => {
    const setting = {
      disk: new Map(),
      spawn: hookGit('/repo'),
      terminal: true,
      columns: 200,
      env: { NO_COLOR: '1' },
    }
    const run = async () => (await mergeq('guard install', setting)).out
    expect(await run()).toBe(`Installed the guard in ${hookPath}; git runs it before each push.\n`)
    expect(await run()).toBe(`The guard is already installed in ${hookPath}.\n`)
  })

  test('leaves the hook of another program, and shows the line to add', async () => {
    const disk = new Map([[hookPath, '#!/bin/sh\n']])
    expect(await mergeq('guard install', { disk, spawn: hookGit('/repo') })).toMatchObject({
      code: 6,
      err: expect.stringContaining('mergeq guard hook -- "$@"'),
    })
    expect(disk.get(hookPath)).toBe('#!/bin/sh\n')
  })

  test('is in its directory on Windows', async () => {
    const changes: string[] = []
    const { code, err } = await mergeq('guard install', {
      platform: 'win32',
      disk: new Map(),
      onChange: (change, name) => changes.push(`${change} ${name}`),
      spawn: hookGit('C:/repo/shop'),
    })
    const folder = 'C:\\repo\\shop\\.git\\hooks'
    expect({ code, err }).toEqual({ code: 0, err: unnamed })
    expect(changes).toEqual([`createDirectory ${folder}`, `replace ${folder}\\pre-push`])
  })

  test('is a usage error outside a checkout', async () => {
    expect((await mergeq('guard install', { spawn: () => ({ code: 128, out: '' }) })).code).toBe(2)
  })
})

describe('where core.hooksPath is set, `guard install` writes nothing', () => {
  test.each([
    ['husky', '.husky/_', 'local', '/repo/.husky/pre-push', '.git/config'],
    ['an old husky', '.husky', 'local', '/repo/.husky/pre-push', '.git/config'],
    ['another folder', 'tools/hooks', 'local', '/repo/tools/hooks/pre-push', 'tools/gitconfig'],
    [
      'a folder of a worktree',
      'tools/hooks',
      'worktree',
      '/repo/tools/hooks/pre-push',
      '.git/config.worktree',
    ],
  ] as const)('and prints the line to add: %s', async (_, folder, scope, hook, setIn) => {
    const disk = new Map<string, string>()
    const setting = { disk, spawn: hookGit('/repo', { folder, scope, setIn }) }
    const install = async () => JSON.parse((await mergeq('guard install --json', setting)).out)
    const { line, ...others } = await install()
    expect(line).toContain('mergeq guard hook -- "$@"')
    expect(others).toEqual({ hook, did: 'nothing', setIn })
    const screen = await mergeq('guard install --color never', { ...setting, terminal: true, columns: 200 })
    expect(screen.out).toContain(
      `core.hooksPath is set in ${setIn}: nothing was written. Add this line to ${hook}:\n`,
    )
    expect(disk.size).toBe(0)
    disk.set(hook, line)
    expect(await install()).toEqual({ hook, did: 'nothing', line: null, setIn })
  })

  test('and refuses a folder for other checkouts with 2, naming the file that sets it', async () => {
    const disk = new Map<string, string>()
    const hooks = { folder: '/home/me/hooks', scope: 'global', setIn: '/home/me/work.gitconfig' } as const
    const ran = await mergeq('guard install', { disk, spawn: hookGit('/repo', hooks) })
    expectUsageError(ran, 'core.hooksPath is set in /home/me/work.gitconfig, not only for this checkout')
    expect(disk.size).toBe(0)
  })
})

test.each(['guard origin https://github.com/acme/web', 'guard --install', 'guard -- origin'])(
  'another word than a verb is a usage error: %s',
  async line => {
    expect((await mergeq(line)).code).toBe(2)
  },
)
