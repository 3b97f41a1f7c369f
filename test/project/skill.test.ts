import { readdirSync, readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { exitCodeList } from '../../src/base/errors.ts'
import { openStory, type Story } from '../support/harness.ts'

const path = 'skills/mergeq/SKILL.md'
const text = readFileSync(path, 'utf8')

const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** The rows of the tables with a command and the fields of its JSON. */
const rows = [...text.matchAll(/^\| [^|]+ \| `(mergeq [^`]+)` \| (`[^|]+) \|$/gm)].map(
  ([, line = '', cell = '']) => ({ line, fields: codeIn(cell) }),
)

/** Commands that do not end with 0 in the sandbox, and why. */
const otherCodes: Readonly<Record<string, number>> = {
  // The reports contain failures that the sandbox does not know.
  'mergeq flaky match --since 7d reports/*.xml --json': 21,
}

/** The commands outside the tables, and their exit codes in a sandbox. */
const otherCommands: Readonly<Record<string, number>> = {
  'mergeq auth token': 0,
  'mergeq help --json': 0,
  'mergeq pr get --help --json': 0,
  // Only names: they need settings, files or a confirmation.
  'mergeq queue apply': 2,
  'mergeq queue delete': 2,
  'mergeq queue update': 2,
  'mergeq queue drain': 0,
  'mergeq queue pause': 0,
}

/** These need files and programs; other documents have them too, and test/process/documentation.test.ts runs them. */
const commandsWithPrograms = ['mergeq guard install', 'mergeq sandbox exec -- mergeq pr get 7 --json']

const reports = readdirSync('test/fixtures/junit')
  .filter(name => name.endsWith('.xml'))
  .map(name => `reports/${name}`)
const files = Object.fromEntries(
  reports.map(name => [name, readFileSync(name.replace('reports', 'test/fixtures/junit'), 'utf8')]),
)

describe(path, () => {
  let story: Story
  beforeEach(async () => {
    story = await openStory()
  })
  const run = (line: string) =>
    story.mergeq(line.replace(/^mergeq /, '').replace('reports/*.xml', reports.join(' ')), { files })

  test('has the commands for every question', () => expect(rows.length).toBeGreaterThanOrEqual(15))

  test.each(rows)('$line prints the fields of its row', async ({ line, fields }) => {
    if (line.includes(' 7 ') && !/ submit /.test(line)) {
      await run('mergeq pr submit 7')
      story.clock.now += 1_000
    }
    const { code, out, err } = await run(line)
    const due = otherCodes[line] ?? 0
    expect({ line, code, err: code === due ? '' : err }).toEqual({ line, code: due, err: '' })
    const last = JSON.parse(out.trim().split('\n').at(-1) ?? '')
    const record = Array.isArray(last) ? last[0] : last
    const empty = fields.filter(field => record[field] === undefined || record[field] === null)
    expect({ line, empty }).toEqual({ line, empty: [] })
  })

  test('a short wait ends with 124 while the pull request is queued, and the next one with its result', async () => {
    await run('mergeq pr submit 7')
    const waits = [...text.matchAll(/`(mergeq pr wait [^`]*--timeout (\d+)s[^`]*)`/g)]
    expect(waits.map(([, line, seconds]) => [line, Number(seconds) <= 90])).toEqual(
      waits.map(() => [waits[0]?.[1], true]),
    )
    const line = waits[0]?.[1] ?? ''
    const short = await run(line.replace('90s', '2s'))
    expect({ code: short.code, ...JSON.parse(short.out) }).toMatchObject({ code: 124, outcome: 'timed-out' })
    const next = await run(line)
    expect({ code: next.code, ...JSON.parse(next.out) }).toMatchObject({ code: 0, outcome: 'merged' })
  })

  test('an error is one line with the fields that it names', async () => {
    const [, named = ''] = /`\{"error": \{([^}]*)\}\}`/.exec(text) ?? []
    const { err } = await run('mergeq pr get 7 --json')
    const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '')
    expect(Object.keys(error)).toEqual(expect.arrayContaining(JSON.parse(`[${named}]`)))
  })

  test('every other command in it runs as it stands', async () => {
    const inTables = rows.map(({ line }) => line)
    const others = codeIn(text.replace(/\n/g, ' '))
      .filter(code => /^(?:mergeq|queue) /.test(code) && !inTables.includes(code))
      .map(code => (code.startsWith('mergeq ') ? code : `mergeq ${code}`))
    expect(others).toEqual(expect.arrayContaining(commandsWithPrograms))
    const codes: Record<string, number> = {}
    for (const line of others.filter(line => !commandsWithPrograms.includes(line)))
      codes[line] = (await run(line)).code
    expect(codes).toEqual(otherCommands)
  })

  test('its exit codes are those of the program', () => {
    const named = [...text.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, cell = '']) =>
      cell.split(', ').map(Number),
    )
    expect(named).toContain(124)
    expect(exitCodeList.map(({ code }) => code)).toEqual(expect.arrayContaining(named))
  })

  test('names MERGEQ_READ_ONLY, and no way around the guard', () => {
    expect(text).toContain('`MERGEQ_READ_ONLY`')
    expect(text).not.toMatch(/no-verify|GUARD=off/)
  })
})
