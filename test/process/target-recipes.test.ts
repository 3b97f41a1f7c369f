import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { git, place, sh, type Variables } from '../support/documentation-runs.ts'
import { bareEnvironment } from '../support/programs.ts'

const script = resolve('docs/recipes/impacted-targets.mjs')
const root = join(place, 'targets')
/** What the tools print about the repository, in the forms that they have printed when they ran for real. */
const programs = resolve('test/fixtures/targets/programs')
const repository = 'test/fixtures/targets/repository'
const folder = join(root, 'work')

/** How the targets of a tool look in the table: the names of packages, in order. */
function shortOf(out: string): string {
  const targets: 'ALL' | readonly string[] = JSON.parse(out)
  if (targets === 'ALL') return targets
  if (targets.length === 0) return 'NONE'
  return targets
    .filter(target => !target.includes(':'))
    .map(target => target.replace(/^.*packages\//, ''))
    .sort()
    .join(' ')
}

const table = /<!-- changed files -->\n\n([\s\S]*?)\n\n<!--/.exec(
  readFileSync('docs/impacted-targets.md', 'utf8'),
)
const [header = [], , ...rows] = (table?.[1] ?? '').split('\n').map(row => row.slice(2, -2).split(' | '))

const env: Variables = { ...bareEnvironment(root), PATH: `${programs}:${process.env.PATH}` }
const run = (words: readonly string[], cwd: string, more: Variables = {}) =>
  sh([process.execPath, script, ...words], cwd, { ...env, ...more })

function changeOf(path: string, moved: string | undefined, isDeleted: boolean): string {
  if (moved !== undefined) return `R ${path} ${moved}`
  if (isDeleted) return `D ${path}`
  const file = join(repository, path)
  const text = existsSync(file) ? `${readFileSync(file, 'utf8')}\n` : '\n'
  return `M 100644 inline ${JSON.stringify(path)}\ndata ${Buffer.byteLength(text)}\n${text}`
}

/** Makes a branch for each change, whose commit changes what a row of the table names. */
function createBranches(changes: readonly string[]): void {
  const commits = changes.map((changed, index) => {
    const [, path = '', moved] = /^`([^`]+)`(?:, moved to `([^`]+)`)?/.exec(changed) ?? []
    const head = `commit refs/heads/row${index}\ncommitter Ada <ada@example.com> 0 +0000\ndata 6\nChange`
    return `${head}\nfrom refs/heads/base^0\n${changeOf(path, moved, changed.endsWith(', deleted'))}\n`
  })
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: folder,
    env: bareEnvironment(root),
    input: commits.join('\n'),
  })
}

/** The changes whose branches come after those of the table. */
const changesOfTests = ['`packages/lib/index.js`', '`\nNONE/b.js`']
const checkOut = (change: string) =>
  git(folder, 'checkout', `row${rows.length + changesOfTests.indexOf(change)}`)

beforeAll(() => {
  cpSync(repository, folder, { recursive: true })
  git(folder, 'init', '--template=', '-b', 'base')
  git(folder, 'add', '.')
  git(folder, 'commit', '-m', 'Begin')
  createBranches([...rows.map(([changed = '']) => changed), ...changesOfTests])
})

describe('impacted-targets.mjs', { timeout: 90_000 }, () => {
  const asNpm = ['npm', 'pnpm', 'yarn', 'turbo', 'nx']

  test.each(rows.map((row, index) => [row[0] ?? '', row, index] as const))('%s', async (_, row, index) => {
    git(folder, 'checkout', `row${index}`)
    // Where a file is not placed by its name alone, all tools with workspaces find the same.
    const toolsOf = (column: string) => (column === 'npm' && row[1] === 'packages' ? asNpm : [column])
    const due = header
      .slice(1)
      .flatMap((column, at) => toolsOf(column).map(tool => [tool, row[at + 1] ?? ''] as const))
    const found = due.map(async ([tool]) => {
      const { code, out, err } = await run([tool, 'base'], folder, { MERGEQ_TOKEN: 'secret' })
      expect({ tool, code, said: err !== '' }).toEqual({ tool, code: 0, said: out === '"ALL"\n' })
      return [tool, shortOf(String(out))]
    })
    expect(await Promise.all(found)).toEqual(due)
  })

  test('places no file with a line break in its name', async () => {
    checkOut('`\nNONE/b.js`')
    const err = 'ALL:  NONE/b.js has a line break in its name\n'
    expect(await run(['folders', 'base'], folder)).toMatchObject({ code: 0, out: '"ALL"\n', err })
  })

  test('finds the workspaces with the real npm, though nothing is installed', async () => {
    checkOut('`packages/lib/index.js`')
    const real = { PATH: process.env.PATH ?? '' }
    await sh(['npm', 'install', '--package-lock-only', '--offline'], folder, { ...env, ...real })
    expect(await run(['npm', 'base'], folder, real)).toMatchObject({ code: 0, out: '["app","lib"]\n' })
  })

  test('prints nothing if a tool fails after some output', async () => {
    checkOut('`packages/lib/index.js`')
    const broken = join(root, 'broken')
    mkdirSync(broken)
    writeFileSync(join(broken, 'bazel-diff'), '#!/bin/sh\necho "[]"\nexit 1\n', { mode: 0o755 })
    const { code, out, err } = await run(['bazel', 'base'], folder, { PATH: `${broken}:${env.PATH}` })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^impacted-targets\.mjs: /m)
  })

  test('sends what was printed, and nothing of a file that is empty', async () => {
    const send = (text: string) => {
      writeFileSync(join(root, 'targets.json'), text)
      return run(['send', 'targets.json'], root)
    }
    for (const [text, words] of [
      ['"ALL"', '--all'],
      ['[]', '--none'],
      ['["app"]', '--from-json targets.json'],
    ] as const)
      expect(await send(text)).toMatchObject({ code: 7, out: `pr targets ${words}\n` })
    expect(await send('')).toMatchObject({ code: 1, out: '' })
  })
})
