import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { allCommands } from '../support/commands.ts'
import { projectTest } from '../support/sample.ts'

projectTest('the tests of each command are in a file of its name', () => {
  const files = allCommands.map(({ command }) => `test/commands/${command.replaceAll(' ', '/')}.test.ts`)
  expect(files.filter(file => !existsSync(file))).toEqual([])
})

projectTest('the slow files that vitest.config.ts starts first exist', () => {
  const [, list = ''] = readFileSync('vitest.config.ts', 'utf8').split('const slowFiles = [')
  const files = [...(list.split(']')[0] ?? '').matchAll(/'(.+)'/g)].map(([, name]) => `test/${name}.test.ts`)
  expect(files.length).toBeGreaterThan(5)
  expect(files.filter(file => !existsSync(file))).toEqual([])
})
