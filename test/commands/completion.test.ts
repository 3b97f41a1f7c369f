import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'

// What the scripts offer is in test/cli/completion.test.ts, and in shells in test/process/completion.test.ts.
describe('`completion`', () => {
  test.each([
    ['bash', 'mergeq.bash'],
    ['zsh', '_mergeq'],
    ['fish', 'mergeq.fish'],
    ['PowerShell', 'mergeq.ps1'],
  ])('%s prints the script %s of the package', async (shell, file) => {
    expect(await mergeq(`completion ${shell}`)).toMatchObject({
      code: 0,
      out: readFileSync(`completions/${file}`, 'utf8'),
      err: '',
      requests: [],
    })
  })

  test('of another shell is a usage error that names those it has', async () => {
    expect(await mergeq('completion tcsh')).toMatchObject({
      code: 2,
      out: '',
      err: "mergeq: There is no completion script for 'tcsh'.\n  Supported shells: bash, zsh, fish, powershell.\n",
    })
  })
})
