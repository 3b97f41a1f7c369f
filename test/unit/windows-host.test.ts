import { describe, expect, test } from 'vitest'
import { withoutTokens } from '../../src/config/git.ts'
import { joinPath } from '../../src/config/store.ts'
import { windowsEnvironment } from '../../src/host/host.ts'

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

describe('paths', () => {
  test('have the separator of the platform', () => {
    expect([
      joinPath('C:\\repo', '.mergeq.json', 'win32'),
      joinPath('C:\\', '.git', 'win32'),
      joinPath('/repo', '.mergeq.json', 'darwin'),
      joinPath('/', '.git', 'linux'),
    ]).toEqual(['C:\\repo\\.mergeq.json', 'C:\\.git', '/repo/.mergeq.json', '/.git'])
  })
})
