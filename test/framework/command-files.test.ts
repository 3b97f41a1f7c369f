import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allCommands } from '../support/commands.ts'

test('the tests of each command are in a file of its name', () => {
  const files = allCommands.map(({ command }) => `test/commands/${command.replaceAll(' ', '/')}.test.ts`)
  expect(files.filter(file => !existsSync(file))).toEqual([])
})
