import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { openInput } from '../../src/command/input-files.ts'
import type { ParseContext } from '../../src/config/settings.ts'
import { files } from '../../src/host/files.ts'

test('a directory that is read as a file is named as one', async () => {
  const host = { files, interrupted: new AbortController().signal }
  const input = openInput(tmpdir(), { host } as unknown as ParseContext)
  await expect(input[Symbol.asyncIterator]().next()).rejects.toThrow(
    `${tmpdir()} cannot be read: it is a directory.`,
  )
})
