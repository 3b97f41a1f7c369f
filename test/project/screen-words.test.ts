import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { shownHeadings, shownSettings, shownStates } from '../../scripts/generate/screen-words.ts'

const folder = new URL('../golden/screens/', import.meta.url)

/** The lines of all golden screens without command lines. */
const lines = readdirSync(folder).flatMap(name =>
  readFileSync(new URL(name, folder), 'utf8')
    .split('\n')
    .filter(line => !line.startsWith('$ ')),
)

/** Whether a line is the head of a table. */
const isHead = (line: string): boolean =>
  /^ *[A-Z\d]+(?: [A-Z\d]+)*(?: {2,}[A-Z\d]+(?: [A-Z\d]+)*)+$/.test(line)

/** The lines of tables: those below a head, up to a line without cells. */
let isTable = false
const rows = lines.filter(line => {
  const isRow = isTable && !isHead(line) && line.includes('  ')
  isTable = isHead(line) || isRow
  return isRow
})

const cellsOf = (line: string): readonly string[] => line.trim().split(/ {2,}/)

test('every heading on a screen stands in the reference', () => {
  const headings = new Set(lines.filter(isHead).flatMap(cellsOf))
  expect(headings.size).toBeGreaterThan(20)
  const known = new Set(shownHeadings.map(({ heading }) => heading))
  expect([...headings].filter(heading => !known.has(heading))).toEqual([])
})

test('every state in a table on a screen stands in the reference, in lower case', () => {
  const known = new Set(shownStates.map(({ words }) => words))
  const states = rows
    .flatMap(cellsOf)
    .flatMap(cell => /^[✓✗◐◕●►○] ([a-z]+(?: [a-z]+)?)$/.exec(cell)?.[1] ?? [])
  expect(new Set(states).size).toBeGreaterThan(8)
  expect(states.filter(state => !known.has(state))).toEqual([])
  const names = shownStates.map(({ name }) => name).filter(name => name.length > 4)
  const machineName = new RegExp(`\\b(?:${names.join('|')})\\b`)
  expect(
    lines.filter(line => !isHead(line) && !line.startsWith('Left out: ') && machineName.test(line)),
  ).toEqual([])
})

test('every setting of a queue on a screen is written as its flag is', () => {
  const inJson = shownSettings.filter(({ words, name }) => words !== name).map(({ name }) => name)
  const name = new RegExp(`\\b(?:${inJson.join('|')})\\b`)
  expect(lines.filter(line => name.test(line))).toEqual([])
})

test('a heading is the name of one thing', () => {
  const csv = new Map<string, Set<string>>()
  for (const { heading, field, csv: name } of shownHeadings)
    if (name !== undefined && heading !== field) csv.set(heading, (csv.get(heading) ?? new Set()).add(name))
  expect([...csv].filter(([, names]) => names.size > 1)).toEqual([])
})
