import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { git, place, sh, type Variables } from '../support/documentation-runs.ts'
import { bareEnvironment } from '../support/programs.ts'

const script = resolve('docs/recipes/impacted-targets.mjs')
const root = join(place, 'targets')
const programs = join(root, 'programs')
const origin = join(root, 'origin')

const packages = ['app', 'lib', 'site']
const folderOf = (name: string) => `packages/${name}`
const files: Readonly<Record<string, string>> = {
  'package.json': '{"private":true,"workspaces":["packages/*"]}',
  'packages/app/package.json': '{"name":"app","dependencies":{"lib":"1.0.0"}}',
  'packages/lib/package.json': '{"name":"lib","version":"1.0.0"}',
  'packages/site/package.json': '{"name":"site"}',
  'packages/lib/old.js': '',
  'packages/site/index.js': '',
}

/** Prints the packages that the paths on standard input are in, and those that depend on them, one on a line. */
const affected = `
affected() {
  paths=$(git diff --name-only --no-renames -z "$1" HEAD | tr '\\0' '\\n')
  for name in app lib site; do
    needs="^packages/$name/"; [ $name = app ] && needs='^packages/(app|lib)/'
    if printf '%s\\n' "$paths" | grep -qE "$needs"; then printf "$2\\n" $name; fi
  done
}`

const json = (value: unknown) => `cat <<'END'\n${JSON.stringify(value, null, 2)}\nEND`
const goPackage = (path: string, more: object = {}) =>
  JSON.stringify({ Dir: join(root, 'work', path), ImportPath: `acme.example/${path}`, ...more }, null, '\t')

/** What the tools print about the repository, in the forms that they have printed when they ran for real. */
const tools: Readonly<Record<string, string>> = {
  npm: json(
    packages.map(name => ({ name, location: folderOf(name), path: join(root, 'work', folderOf(name)) })),
  ),
  pnpm: json(['', ...packages.map(folderOf)].map(path => ({ name: path, path: join(root, 'work', path) }))),
  yarn: ['.', ...packages.map(folderOf)].map(location => `echo '${JSON.stringify({ location })}'`).join('\n'),
  npx: `${affected}
shift 2
case "$1 $2 $3" in
  'turbo ls --affected') affected "$TURBO_SCM_BASE" '{"name":"%s"}' | jq -s '{packages:{items:.}}' ;;
  turbo*) ${json({ packages: { items: packages.map(name => ({ name, path: folderOf(name) })) } })}
    ;;
  'nx graph '*) cat > "\${3#--file=}" <<'END'
${JSON.stringify({ graph: { nodes: Object.fromEntries(packages.map(name => [name, { name, data: { root: folderOf(name) } }])) } })}
END
    ;;
  *) base=\${5#--base=}; affected "$base" '"%s"' | jq -s . ;;
esac`,
  go: `cat <<'END'\n${[
    goPackage('packages/app', { Deps: ['acme.example/packages/lib', 'fmt'] }),
    goPackage('packages/lib'),
    goPackage('packages/site'),
    goPackage('packages/app', {
      ImportPath: 'acme.example/packages/app [acme.example/packages/app.test]',
      ForTest: 'acme.example/packages/app',
      Deps: ['acme.example/packages/lib', 'testing'],
    }),
  ].join('\n')}\nEND`,
  'bazel-diff': `${affected}
[ "$1" = generate-hashes ] && { git -C "$3" rev-parse HEAD > "$6"; exit; }
base=$(cat "$3") out=$(eval echo "\\\${11}")
{
  affected "$base" '//packages/%s'
  git diff --name-only --no-renames --diff-filter=d -z "$base" HEAD | tr '\\0' '\\n' | grep '^packages/' |
    grep -vE '/new/|BUILD$' | sed -E 's|^(packages/[^/]*)/|//\\1:|'
} > "$out"`,
  pants: `${affected}
case $1 in
  filedeps) git ls-files -z | tr '\\0' '\\n' | grep '^packages/' | grep -v /new/ ;;
  *) affected "\${1#--changed-since=}" '//packages/%s' ;;
esac`,
}

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

/** A checkout with a branch for each row of the table, whose commit changes what the row names. */
function createBranches(changes: readonly string[], folder: string): void {
  cpSync(origin, folder, { recursive: true })
  const commits = changes.map((changed, index) => {
    const [, path = '', moved] = /^`([^`]+)`(?:, moved to `([^`]+)`)?/.exec(changed) ?? []
    const text = `${files[path] ?? ''}\n`
    let change = `M 100644 inline ${JSON.stringify(path)}\ndata ${Buffer.byteLength(text)}\n${text}`
    if (moved !== undefined) change = `R ${path} ${moved}`
    else if (changed.endsWith(', deleted')) change = `D ${path}`
    const head = `commit refs/heads/row${index}\ncommitter Ada <ada@example.com> 0 +0000\ndata 6\nChange`
    return `${head}\nfrom refs/heads/base^0\n${change}\n`
  })
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: folder,
    env: bareEnvironment(root),
    input: commits.join('\n'),
  })
}

/** A checkout with a commit that changes what a row names. */
function commitRow(changed: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  createBranches([changed], folder)
  git(folder, 'checkout', 'row0')
}

beforeAll(() => {
  mkdirSync(programs, { recursive: true })
  for (const [name, text] of Object.entries(tools))
    writeFileSync(join(programs, name), `#!/bin/sh\n[ -z "$MERGEQ_TOKEN" ] || exit 9\n${text}\n`, {
      mode: 0o755,
    })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(origin, path)), { recursive: true })
    writeFileSync(join(origin, path), text)
  }
  git(origin, 'init', '--template=', '-b', 'main')
  git(origin, 'add', '.')
  git(origin, 'commit', '-m', 'Begin')
  git(origin, 'branch', 'base')
})

describe('impacted-targets.mjs', { timeout: 90_000 }, () => {
  const asNpm = ['npm', 'pnpm', 'yarn', 'turbo', 'nx']
  const folder = join(root, 'work')

  describe('the table', () => {
    beforeAll(() =>
      createBranches(
        rows.map(([changed = '']) => changed),
        folder,
      ),
    )

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
  })

  test('places no file with a line break in its name', async () => {
    commitRow('`\nNONE/b.js`', folder)
    const err = 'ALL:  NONE/b.js has a line break in its name\n'
    expect(await run(['folders', 'base'], folder)).toMatchObject({ code: 0, out: '"ALL"\n', err })
  })

  test('finds the workspaces with the real npm, though nothing is installed', async () => {
    commitRow('`packages/lib/index.js`', folder)
    const real = { PATH: process.env.PATH ?? '' }
    await sh(['npm', 'install', '--package-lock-only', '--offline'], folder, { ...env, ...real })
    expect(await run(['npm', 'base'], folder, real)).toMatchObject({ code: 0, out: '["app","lib"]\n' })
  })

  test('prints nothing if a tool fails after some output', async () => {
    commitRow('`packages/lib/index.js`', folder)
    const broken = join(root, 'broken')
    mkdirSync(broken)
    writeFileSync(join(broken, 'bazel-diff'), '#!/bin/sh\necho "[]"\nexit 1\n', { mode: 0o755 })
    const { code, out, err } = await run(['bazel', 'base'], folder, { PATH: `${broken}:${env.PATH}` })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^impacted-targets\.mjs: /m)
  })

  test('sends what was printed, and nothing of a file that is empty', async () => {
    writeFileSync(join(programs, 'mergeq'), '#!/bin/sh\necho "$@"\nexit 7\n', { mode: 0o755 })
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
