import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedFiles, markedParts } from '../../scripts/generate/generated-files.ts'
import { exitCodeList, mostSevere } from '../../src/base/errors.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq } from '../support/harness.ts'

test.each(Object.entries(generatedFiles))('%s is current', async (path, render) => {
  const message = `${path} is not current; run \`npm run generate\``
  expect(readFileSync(path, 'utf8'), message).toBe(await render())
})

test.each(Object.entries(markedParts))('%s has the marks of its generated parts', (path, parts) => {
  const page = readFileSync(path, 'utf8')
  for (const name of Object.keys(parts)) expect(page).toContain(`<!-- ${name} -->`)
})

test('a command of one word has the same summary in the list of groups', () => {
  for (const { name, summary } of commandGroups.filter(({ isCommand }) => isCommand === true))
    expect(allCommands.find(({ command }) => command === name)?.summary).toBe(summary)
})

test('every exit code has its place among the worst, and is reported by `help exit-codes`', async () => {
  const { code, out } = await mergeq('help exit-codes')
  expect(code).toBe(0)
  for (const ending of exitCodeList) {
    expect(mostSevere([0, ending.code])).toBe(ending.code)
    expect(mostSevere([99, ending.code])).toBe(ending.code === 0 ? 99 : ending.code)
    expect(exitCodeList.filter(({ code }) => code === ending.code)).toHaveLength(1)
    expect(out).toMatch(new RegExp(`^ *${ending.code}  ${ending.kind} `, 'm'))
  }
})
