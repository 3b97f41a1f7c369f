import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { completionScripts } from '../../src/commands/completion.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { exitCodeList, mostSevere } from '../../src/errors.ts'
import { allCommands } from '../support/commands.ts'
import { completionScriptPaths, shells } from '../support/completion-scripts.ts'
import { mergeq } from '../support/harness.ts'
import { type ProgramHelp, renderManPage } from '../support/man-page.ts'
import { queueFileSchema, schemaPath } from '../support/queue-file-schema.ts'
import { renderCommandTable, replaceMarkedParts } from '../support/readme-tables.ts'
import { referenceParts, renderFormats } from '../support/reference-tables.ts'
import { drawReadmeSession } from '../support/session-picture.ts'

const help: ProgramHelp = JSON.parse((await mergeq('help --json')).out)
const write = process.env.MERGEQ_WRITE_REFERENCE === '1'

/** Compares a file with its generated content; `npm run reference` writes the file. */
function holds(path: string, made: string): void {
  if (write) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, made)
  } else
    expect(readFileSync(path, 'utf8'), `${path} is not current; \`npm run reference\` writes it`).toBe(made)
}

test('the tables of commands and of output formats in the README are current', () => {
  const made = replaceMarkedParts(readFileSync('README.md', 'utf8'), {
    commands: renderCommandTable(allCommands),
    formats: renderFormats(),
  })
  holds('README.md', made)
  for (const { command } of allCommands) expect(made).toContain(`mergeq ${command}`)
})

test('the README names only exit codes that exist, and links to the complete table', () => {
  const readme = readFileSync('README.md', 'utf8')
  const [, section = ''] = /^## Exit codes\n([\s\S]*?)\n## /m.exec(readme) ?? []
  const named = [...section.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = '']) => codes.split(', '))
  expect(named).not.toEqual([])
  expect(exitCodeList.map(({ code }) => String(code))).toEqual(expect.arrayContaining(named))
  expect(section).toContain('](docs/reference/cli.md#exit-codes)')
})

test('a command of one word has the same summary in the list of groups', () => {
  for (const { name, summary } of commandGroups.filter(({ isCommand }) => isCommand === true))
    expect(allCommands.find(({ command }) => command === name)?.summary).toBe(summary)
})

test('the picture of a terminal session in the README is current and loads nothing', async () => {
  const picture = await drawReadmeSession()
  holds('docs/session.svg', picture)
  // An image loads what its attributes name; a URL in the text of the screen is only text.
  expect(picture.match(/="https?:[^"]*/g)).toEqual(['="http://www.w3.org/2000/svg'])
  expect(readFileSync('README.md', 'utf8')).toContain('](docs/session.svg)')
})

test.each(shells)('the completion script of %s is current', shell => {
  holds(completionScriptPaths[shell], completionScripts[shell])
})

test('the manual page is current: it has what `mergeq help --json` prints', () => {
  holds('man/mergeq.1', renderManPage(help))
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

test('the schema of queue files has the settings of the program', () => {
  holds(schemaPath, `${JSON.stringify(queueFileSchema, null, 2)}\n`)
})

test('the tables of the reference pages are those of the program', () => {
  for (const [path, parts] of Object.entries(referenceParts(help))) {
    const page = readFileSync(path, 'utf8')
    for (const name of Object.keys(parts)) expect(page).toContain(`<!-- ${name} -->`)
    holds(path, replaceMarkedParts(page, parts))
  }
  const page = readFileSync('docs/reference/cli.md', 'utf8')
  for (const { code, kind } of exitCodeList) expect(page).toContain(`| ${code} | ${kind} |`)
})
