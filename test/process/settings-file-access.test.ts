import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, test } from 'vitest'
import { accessProblems } from '../../src/config/store.ts'
import { files } from '../../src/host/files.ts'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { serve, token } from '../support/settings-file-access.ts'

const places: string[] = []
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

describe('on this machine', () => {
  function openPlace() {
    const place = mkdtempSync(join(tmpdir(), 'mergeq-access-'))
    places.push(place)
    chmodSync(place, 0o755)
    const path = join(place, 'home/.config/mergeq/config.json')
    mkdirSync(dirname(path), { recursive: true })
    chmodSync(dirname(path), 0o700)
    return { home: join(place, 'home'), path, place }
  }
  const user = process.getuid?.() ?? 0
  const problemsAt = async (path: string) =>
    (
      await accessProblems(
        {
          files,
          runtime: { version: '', node: '', platform: 'linux', nullDevice: '/dev/null', user },
        },
        path,
      )
    ).map(({ problem }) => problem)

  test('modes and owners are those of the file that a link leads to', async () => {
    const { path, place } = openPlace()
    const target = join(place, 'settings.json')
    writeFileSync(target, '{}', { mode: 0o600 })
    symlinkSync(target, path)
    expect(await problemsAt(path)).toEqual([])
    chmodSync(target, 0o640)
    expect(await problemsAt(path)).toEqual([`${path} is readable by other users (mode 640)`])
    chmodSync(target, 0o600)
    chmodSync(place, 0o777)
    expect(await problemsAt(path)).toEqual([`${place} is writable by other users (mode 777)`])
  })

  test('no file, no folder: nothing is wrong', async () => {
    const { place } = openPlace()
    expect(await problemsAt(join(place, 'none/config.json'))).toEqual([])
  })

  const asRoot = user === 0 ? test : test.skip
  const start = (
    home: string,
    words: readonly string[],
    env: Readonly<Record<string, string>>,
    by: readonly string[] = [],
  ) => {
    const [command = '', ...args] = [...by, launcher, ...words]
    return execa(command, args, {
      env: { ...bareEnvironment(home), ...env },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      cwd: '/',
    })
  }

  asRoot(
    'root with the home of another user: a read says why it sends nothing, and works once the address is given',
    async () => {
      const service = await serve()
      const { home, path } = openPlace()
      writeFileSync(
        path,
        JSON.stringify({ profiles: { default: { 'base-url': service.baseUrl, repo: 'acme/web' } } }),
        {
          mode: 0o600,
        },
      )
      for (const one of [home, dirname(dirname(path)), dirname(path), path]) chownSync(one, 1_000, 1_000)
      const words = ['queue', 'get', '-b', 'main']
      const refused = await start(home, words, { MERGEQ_TOKEN: token })
      expect(refused.exitCode).toBe(2)
      expect(refused.stderr).toContain('is owned by another user (uid 1000; you are uid 0)')
      expect(service.requests).toEqual([])
      const args = await start(home, words, { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: service.baseUrl })
      expect({ code: args.exitCode, err: args.stderr }).toEqual({ code: 0, err: '' })
      expect(service.requests).toHaveLength(1)
    },
  )

  testWith('setpriv')('a file that only root can read says whose it is', async () => {
    if (user !== 0) return
    const service = await serve()
    const { home, path } = openPlace()
    writeFileSync(path, '{}', { mode: 0o600 })
    for (const one of [home, dirname(dirname(path)), dirname(path)]) chownSync(one, 1_000, 1_000)
    const by = ['setpriv', '--reuid', '1000', '--regid', '1000', '--clear-groups']
    const { exitCode, stderr } = await start(
      home,
      ['queue', 'get', '-R', 'acme/web', '-b', 'main'],
      { MERGEQ_BASE_URL: service.baseUrl },
      by,
    )
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`The settings file ${path} cannot be read: `)
    expect(stderr).toContain(`${path} is owned by another user (uid 0; you are uid 1000)`)
    expect(stderr).toContain('chown')
  })
})
