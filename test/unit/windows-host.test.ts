import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { joinPath, platformPath } from '../../src/config/file-paths.ts'
import { withoutTokens } from '../../src/config/git.ts'
import { accessProblems } from '../../src/config/store.ts'
import { changeFile, files, readLockedFile } from '../../src/host/files.ts'
import { windowsEnvironment } from '../../src/host/node-process.ts'

describe('a file that another program holds', () => {
  const path = 'C:\\Users\\dev\\config.json'
  const refuse = (code: string, times: number) => {
    let calls = 0
    const change = () => {
      calls++
      if (calls <= times) throw Object.assign(new Error(`${code}: rename`), { code })
      return calls
    }
    const sleeps: number[] = []
    const sleep = async (ms: number) => {
      sleeps.push(ms)
    }
    return { change, sleep, sleeps }
  }

  test.each(['EBUSY', 'EPERM', 'EACCES'])('%s is repeated until it is free', async code => {
    const { change, sleep, sleeps } = refuse(code, 3)
    expect(await changeFile(path, change, 'win32', sleep)).toBe(4)
    expect(sleeps).toEqual([50, 50, 50])
  })

  test('after two seconds it is named', async () => {
    const { change, sleep, sleeps } = refuse('EBUSY', 1_000)
    await expect(changeFile(path, change, 'win32', sleep)).rejects.toThrow(
      `${path} is in use by another program (EBUSY)`,
    )
    expect(sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(2_000)
  })

  test('a reading is repeated while another program does not share the file, and no other', async () => {
    const { change, sleep, sleeps } = refuse('EBUSY', 2)
    expect(await readLockedFile(path, change, 'win32', sleep)).toBe(3)
    expect(sleeps).toEqual([50, 50])
    await expect(readLockedFile(path, refuse('EACCES', 1).change, 'win32', sleep)).rejects.toThrow('EACCES')
    expect(sleeps).toHaveLength(2)
  })

  test.each([
    ['ENOSPC', 'win32'],
    ['EBUSY', 'linux'],
    ['EACCES', 'darwin'],
  ])('%s on %s is not repeated', async (code, platform) => {
    const { change, sleep, sleeps } = refuse(code, 1)
    await expect(changeFile(path, change, platform, sleep)).rejects.toThrow(`${code}: rename`)
    expect(sleeps).toEqual([])
  })

  test('a read-only file is named at once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mergeq-held-'))
    const file = join(folder, 'config.json')
    writeFileSync(file, '{}')
    chmodSync(file, 0o444)
    const { change, sleep, sleeps } = refuse('EPERM', 1_000)
    await expect(changeFile(file, change, 'win32', sleep)).rejects.toThrow(`${file} is read-only`)
    expect(sleeps).toEqual([])
    rmSync(folder, { recursive: true })
  })
})

describe('the environment on Windows', () => {
  const env = windowsEnvironment({ Path: 'C:\\Windows', mergeq_token: 'secret', Empty: '' })

  test('has names in any case', () => {
    expect([env.PATH, env.path, env.MERGEQ_TOKEN, env.EMPTY, env.HOME]).toEqual([
      'C:\\Windows',
      'C:\\Windows',
      'secret',
      '',
      undefined,
    ])
    expect(Object.keys(env)).toEqual(['Path', 'mergeq_token', 'Empty'])
  })

  test('is passed to child processes without tokens, however they are written', () => {
    expect(withoutTokens(env)).toEqual({ Path: 'C:\\Windows', Empty: '' })
  })
})

describe('settings outside the profile of a Windows user', () => {
  const runtime = { version: '', node: '', platform: 'win32', nullDevice: '\\\\.\\nul' }
  const env = windowsEnvironment({ UserProfile: 'C:\\Users\\Dev', APPDATA: 'D:\\Roaming\\' })
  const problemsAt = (path: string) => accessProblems({ files, runtime, env }, path)

  test.each(['c:/users/dev/mergeq/config.json', 'D:\\Roaming\\mergeq\\config.json'])(
    '%s is closed to others',
    async path => {
      expect(await problemsAt(path)).toEqual([])
    },
  )

  test.each(['C:\\Users\\Developer\\mergeq\\config.json', 'C:\\shared\\config.json'])(
    '%s may be read by others',
    async path => {
      expect(await problemsAt(path)).toEqual([
        {
          path: path.replace(/\\[^\\]*$/, ''),
          kind: 'place',
          description: 'is outside your user profile, so other users may be able to read it',
          isForeign: false,
        },
      ])
    },
  )
})

describe('paths', () => {
  test('have the separator of the platform', () => {
    expect([
      joinPath('C:\\repo', '.mergeq.json', 'win32'),
      joinPath('C:\\', '.git', 'win32'),
      joinPath('/repo', '.mergeq.json', 'darwin'),
      joinPath('/', '.git', 'linux'),
      platformPath('C:/repo/.git/hooks/pre-push', 'win32'),
      platformPath('/repo/a\\b', 'linux'),
    ]).toEqual([
      'C:\\repo\\.mergeq.json',
      'C:\\.git',
      '/repo/.mergeq.json',
      '/.git',
      'C:\\repo\\.git\\hooks\\pre-push',
      '/repo/a\\b',
    ])
  })
})
