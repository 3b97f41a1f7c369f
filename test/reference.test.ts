import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { leaves } from '../src/commands/leaves.ts'
import { endings, worst } from '../src/failure.ts'
import { scriptFiles, scriptOf } from '../src/reference/completions/scripts.ts'
import { manPage } from '../src/reference/man.ts'
import { own, shells } from '../src/reference/own.ts'
import { pageOf } from '../src/reference/page.ts'
import { commandTable, exitCodeTable, settingsTable, withParts } from '../src/reference/readme.ts'
import { treeOf } from '../src/reference/reference.ts'
import { globalWords } from '../src/settings/options.ts'
import { settingTable } from '../src/settings/table.ts'
import { mergeq } from './harness.ts'

const write = process.env.MERGEQ_WRITE_REFERENCE === '1'
const settings = Object.values(settingTable)

/** Holds a file to what the program makes of it; `npm run reference` writes it anew. */
function holds(path: string, made: string): void {
  if (write) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, made)
  } else expect(readFileSync(path, 'utf8')).toBe(made)
}

test('the tables of the README are those of the program (npm run reference writes them)', () => {
  const made = withParts(readFileSync('README.md', 'utf8'), {
    commands: commandTable([...leaves, ...own]),
    settings: settingsTable(settings),
    'exit codes': exitCodeTable(),
  })
  holds('README.md', made)
  for (const { command } of leaves) expect(made).toContain(`mergeq ${command}`)
  for (const { code, kind } of endings) expect(made).toContain(`| ${code} | ${kind} |`)
})

test('the README is under 300 lines', () => {
  expect(readFileSync('README.md', 'utf8').split('\n').length).toBeLessThan(300)
})

test.each(shells)('the completion script of %s is current', shell => {
  holds(scriptFiles[shell], scriptOf(shell, leaves, globalWords))
})

test('the manual page is current', () => {
  holds(
    'man/mergeq.1',
    manPage(treeOf({ leaves, globalWords, settings }), [...leaves, ...own].map(pageOf), settings),
  )
})

test('the whole command tree, as `mergeq help --json` prints it, is current', async () => {
  const { code, out, err } = await mergeq('help --json', { terminal: true })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  holds('test/golden/help.json', out)
})

test('every exit code has its place among the worst, and is told by `help exit-codes`', async () => {
  const { code, out } = await mergeq('help exit-codes')
  expect(code).toBe(0)
  for (const ending of endings) {
    expect(worst([0, ending.code])).toBe(ending.code)
    expect(out).toMatch(new RegExp(`^ *${ending.code}  ${ending.kind} `, 'm'))
  }
})
