import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { leaves } from '../src/commands/leaves.ts'
import { endings, worst } from '../src/failure.ts'
import { commandTable, exitCodeTable, settingsTable, withParts } from '../src/reference/readme.ts'
import { settingTable } from '../src/settings/table.ts'
import { mergeq } from './harness.ts'

const write = process.env.MERGEQ_WRITE_REFERENCE === '1'

test('the tables of the README are those of the program (npm run reference writes them)', () => {
  const readme = readFileSync('README.md', 'utf8')
  const made = withParts(readme, {
    commands: commandTable(leaves),
    settings: settingsTable(Object.values(settingTable)),
    'exit codes': exitCodeTable(),
  })
  if (write) writeFileSync('README.md', made)
  else expect(made).toBe(readme)
  for (const { command } of leaves) expect(made).toContain(`mergeq ${command}`)
  for (const { code, kind } of endings) expect(made).toContain(`| ${code} | ${kind} |`)
})

test('the README is under 300 lines', () => {
  expect(readFileSync('README.md', 'utf8').split('\n').length).toBeLessThan(300)
})

test('every exit code has its place among the worst, and is told by `help exit-codes`', async () => {
  const { code, out } = await mergeq('help exit-codes')
  expect(code).toBe(0)
  for (const ending of endings) {
    expect(worst([0, ending.code])).toBe(ending.code)
    expect(out).toMatch(new RegExp(`^ *${ending.code}  ${ending.kind} `, 'm'))
  }
})

test.each(['environment', 'formatting'])('`help %s` is a topic', async topic => {
  const { code, out, err } = await mergeq(`help ${topic}`)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain(topic === 'environment' ? 'MERGEQ_REPO' : 'ndjson')
})

test('`help` and a command print its help', async () => {
  const [help, flag] = [await mergeq('help pr get'), await mergeq('pr get --help')]
  expect(help.out).toBe(flag.out)
  expect(help.out).toContain('Examples:')
})
