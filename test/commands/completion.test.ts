import { expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'

// The scripts are in test/cli/completion-values.test.ts, what they offer is in test/cli/completion.test.ts, and in shells
// in test/process/completion.test.ts.
test('`completion` of another shell is a usage error that names those it has', async () => {
  expect(await mergeq('completion tcsh')).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining("'tcsh' is not valid; must be one of: bash, zsh, fish, powershell.\n"),
  })
})
