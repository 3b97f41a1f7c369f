import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { leaves } from '../src/commands/index.ts'
import { endings, worst } from '../src/errors.ts'
import { scriptFiles, scriptOf } from '../src/cli/completion/scripts.ts'
import { manPage } from '../src/cli/help/man-page.ts'
import { own, shells } from '../src/cli/help/builtin-commands.ts'
import { pageOf } from '../src/cli/help/command-doc.ts'
import { commandTable, exitCodeTable, settingsTable, withParts } from '../src/cli/help/readme-tables.ts'
import { treeOf } from '../src/cli/help/render-help.ts'
import { globalWords } from '../src/cli/global-options.ts'
import { settingTable } from '../src/config/setting-definitions.ts'
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
