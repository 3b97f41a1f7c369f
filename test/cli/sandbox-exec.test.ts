import { expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'

test.each([
  ['ENOENT', 'Command not found: tool.\n  Check the command name and your PATH.\n'],
  ['EACCES', 'EACCES'],
])('a command that cannot be started with %s is a usage error', async (startError, text) => {
  const message = text.includes('\n')
    ? text
    : `The command cannot be started: tool (${text}).\n  Check the command and the permissions of its file.\n`
  expect(
    await mergeq('sandbox exec -- tool --option', {
      spawn: () => ({ code: 127, out: '', startError }),
    }),
  ).toMatchObject({ code: 2, out: '', err: `mergeq: ${message}` })
})
