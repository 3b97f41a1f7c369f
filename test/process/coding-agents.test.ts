import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import {
  checkout,
  environmentOf,
  inSandbox,
  place,
  sh,
  type Variables,
} from '../support/documentation-runs.ts'
import { launcher } from '../support/programs.ts'

const path = 'docs/skill/SKILL.md'
const text = readFileSync(path, 'utf8')
const folder = join(place, 'agent')

interface Row {
  readonly line: string
  readonly fields: readonly string[]
}

const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** The rows of the tables with a command and the fields of its JSON. */
const rows: readonly Row[] = [...text.matchAll(/^\| [^|]+ \| `(mergeq [^`]+)` \| (`[^|]+) \|$/gm)].map(
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
  'mergeq guard --install': 0,
  'mergeq help --json': 0,
  'mergeq pr get --help': 0,
  // Only names: they need a pull request, settings, files or a confirmation.
  'mergeq pr wait': 2,
  'mergeq queue apply': 2,
  'mergeq queue delete': 2,
  'mergeq queue update': 2,
  'mergeq queue drain': 0,
  'mergeq queue pause': 0,
  'mergeq sandbox exec -- mergeq pr get 7 --json': 5,
}

/** The sandbox is faster than a queue. */
const withShortInterval = (line: string): string => line.replace(/ (?:wait|--wait) .*/, '$& --interval 1s')

describe(path, () => {
  let sandbox: Sandbox
  let env: Variables
  beforeAll(() => void checkout('agent'))
  beforeEach(async () => {
    sandbox = await startSandbox({ speed: 4, now: Date.now })
    env = { ...environmentOf(sandbox, folder), ...inSandbox(sandbox) }
  })
  afterEach(() => sandbox.close())
  const run = (line: string) => sh(['bash', '-c', line], folder, env)

  test('has the commands for every question', () => expect(rows.length).toBeGreaterThanOrEqual(16))

  test.each(rows)('$line prints the fields of its row', async ({ line, fields }) => {
    if (line.includes(' 7 ') && !/ submit /.test(line)) await run('mergeq pr submit 7')
    if (/ testing /.test(line)) await run('until mergeq pr testing --pr 7 --json; do sleep 0.2; done')
    const { code, out, err } = await run(withShortInterval(line))
    expect({ line, code, err: code === 0 ? '' : err }).toEqual({
      line,
      code: otherCodes[line] ?? 0,
      err: otherCodes[line] === undefined ? '' : expect.any(String),
    })
    const last = JSON.parse(out.trim().split('\n').at(-1) ?? '')
    const record = Array.isArray(last) ? last[0] : last
    expect(Object.keys(record)).toEqual(expect.arrayContaining([...fields]))
  })

  test('every other command in it runs as it stands', async () => {
    const inTables = rows.map(({ line }) => line)
    const others = codeIn(text.replace(/\n/g, ' ')).filter(
      code => /^(?:mergeq|queue) /.test(code) && !inTables.includes(code),
    )
    const codes: Record<string, number | undefined> = {}
    for (const code of others) {
      const line = code.startsWith('mergeq ') ? code : `mergeq ${code}`
      const words = line.split(' ').slice(1, 3)
      const { code: exit } = await run(`mergeq ${words.join(' ')} --help`)
      expect({ line, exit }).toEqual({ line, exit: 0 })
      codes[line] = (await run(line)).code
    }
    expect(codes).toEqual(otherCommands)
  })

  test('its exit codes are those of the program', async () => {
    const { exitCodes } = JSON.parse((await sh([launcher, 'help', '--json'], folder, env)).out)
    const known = exitCodes.map(({ code }: { readonly code: number }) => code)
    const named = [...text.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, cell = '']) =>
      cell.split(', ').map(Number),
    )
    expect(named).toContain(124)
    for (const code of named) expect(known).toContain(code)
  })

  test('its rules are true in the sandbox: a held pull request is not to be submitted again', async () => {
    await sandbox.close()
    sandbox = await startSandbox({ speed: 1, now: Date.now, scenario: 'batch-failure' })
    env = { ...environmentOf(sandbox, folder), ...inSandbox(sandbox) }
    await run('mergeq pr submit 7; until mergeq pr get 7 --json | grep PENDING_FAILURE; do sleep 0.2; done')
    const { submitAgain } = JSON.parse((await run('mergeq pr explain 7 --json')).out)
    expect(submitAgain).toMatchObject({ safe: false })
  })

  test('docs/agents.md links it and names the machine-readable source', () => {
    const guide = readFileSync('docs/agents.md', 'utf8')
    expect(guide).toContain('](skill/SKILL.md)')
    expect(guide).toContain('`mergeq help --json`')
  })
})
