import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expandFiles, openInput } from '../../src/cli/input-files.ts'
import type { ParseContext } from '../../src/config/settings.ts'
import { files } from '../../src/host/files.ts'

test('a directory that is read as a file is named as one', async () => {
  const host = { files, interrupted: new AbortController().signal }
  const input = openInput(tmpdir(), { host } as unknown as ParseContext)
  await expect(input[Symbol.asyncIterator]().next()).rejects.toThrow(
    `${tmpdir()} cannot be read: it is a directory.`,
  )
})

test.each([true, false])('an empty directory has no file with the ending (deep: %s)', async isDeep => {
  const directory = mkdtempSync(join(tmpdir(), 'mergeq-'))
  const context = { host: { files } } as unknown as ParseContext
  await expect(expandFiles(directory, ['.xml'], context, isDeep)).rejects.toThrow('contains no .xml file.')
})
