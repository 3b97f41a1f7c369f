import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedFiles, markedParts } from '../../scripts/generate/generated-files.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { exitCodeList, mostSevere } from '../../src/errors.ts'
import { blocksOf } from '../support/code-blocks.ts'
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

test('the page about errors has the errors that people meet first', () => {
  const blocks = blocksOf('docs/troubleshooting.md').filter(({ language }) => language === 'text')
  expect(blocks.length).toBeGreaterThanOrEqual(10)
})

test('a command of one word has the same summary in the list of groups', () => {
  for (const { name, summary } of commandGroups.filter(({ isCommand }) => isCommand === true))
    expect(allCommands.find(({ command }) => command === name)?.summary).toBe(summary)
})

test('the picture of a terminal session in the README loads nothing', () => {
  // An image loads what its attributes name; a URL in the text of the screen is only text.
  const addresses = readFileSync('docs/session.svg', 'utf8').match(/="https?:[^"]*/g)
  expect(addresses).toEqual(['="http://www.w3.org/2000/svg'])
  expect(readFileSync('README.md', 'utf8')).toContain('](docs/session.svg)')
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
