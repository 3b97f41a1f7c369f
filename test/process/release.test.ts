import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { temporaryFolder } from '../support/temporary-folder.ts'

const { version } = manifest
const place = temporaryFolder('mergeq-release-test-')
const original = join(place, 'original')
const root = join(place, 'copy')
const parts = [
  ...['package.json', 'package-lock.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'Dockerfile'],
  ...['bin', 'dist', 'man', 'docs', '.github'],
]

/** Runs the script on the copy; its exit code and its lines on standard output. */
async function check(...words: readonly string[]) {
  const script = ['scripts/check-release.mjs', '--root', root, ...words]
  const { exitCode, stdout, stderr } = await execa(process.execPath, script, { reject: false })
  return { code: exitCode, lines: stdout.split('\n'), err: stderr }
}

const edit = (path: string, change: (text: string) => string) => {
  const before = readFileSync(join(root, path), 'utf8')
  const after = change(before)
  expect(after).not.toBe(before)
  writeFileSync(join(root, path), after)
}

const withoutPart = (path: string) => () => rmSync(join(root, path))

describe('the release check', () => {
  beforeAll(async () => {
    for (const part of parts) cpSync(resolve(part), join(original, part), { recursive: true })
    const text = readFileSync(join(original, 'CHANGELOG.md'), 'utf8')
    // The copy is a release, whether the changelog is cut already or not.
    if (!text.includes(`\n## [${version}] - `)) {
      const cut = ['scripts/check-release.mjs', '--root', original, '--cut', '--date', '2026-11-22']
      await execa(process.execPath, cut)
    }
  })
  beforeEach(() => {
    rmSync(root, { recursive: true, force: true })
    cpSync(original, root, { recursive: true })
  })

  test('passes with the files of a release, and prints the changes of the version', async () => {
    const only = 'version,changelog,metadata,provenance,contents'
    expect(await check('--only', only, '--tag', `v${version}`)).toEqual({
      code: 0,
      lines: only.split(',').map(name => `ok    ${name}`),
      err: '',
    })
    const { code, lines } = await check('--notes')
    expect({ code, first: lines[0] }).toEqual({ code: 0, first: expect.stringMatching(/\S/) })
    expect(lines.join('\n')).toMatch(/^### Added$/m)
    expect(lines.join('\n')).not.toMatch(/^## |^\[/m)
  })

  test('installs the tarball and runs it with this version of Node', async () => {
    expect(await check('--only', 'install', '--nodes', 'current')).toEqual({
      code: 0,
      lines: ['ok    install'],
      err: '',
    })
  }, 60_000)

  const wrong: readonly (readonly [name: string, check: string, change: () => void, problem: RegExp])[] = [
    [
      'a version that the lock file does not have',
      'version',
      () => edit('package.json', text => text.replace(`"version": "${version}"`, '"version": "9.9.9"')),
      /^FAIL {2}version: package-lock\.json has \S+, package\.json has 9\.9\.9$/,
    ],
    [
      'a version that is not one',
      'version',
      () => edit('package.json', text => text.replace(`"version": "${version}"`, '"version": "next"')),
      /'next' is not a version/,
    ],
    [
      'a version that the changelog does not have',
      'changelog',
      () => edit('package.json', text => text.replace(`"version": "${version}"`, '"version": "9.9.9"')),
      /the newest release is \S+, not 9\.9\.9: run npm run release:check -- --cut/,
    ],
    [
      'entries that are not released',
      'changelog',
      () => edit('CHANGELOG.md', text => text.replace('## [Unreleased]\n', '$&\n### Added\n\n- More.\n')),
      /entries are below 'Unreleased'/,
    ],
    [
      'a date that does not exist',
      'changelog',
      () => edit('CHANGELOG.md', text => text.replace(/\] - \d{4}-\d\d-\d\d/, '] - 2026-02-30')),
      /the date of \S+ is invalid: 2026-02-30/,
    ],
    [
      'a section with another name',
      'changelog',
      () => edit('CHANGELOG.md', text => text.replace('### Added', '### Bugs')),
      /the section 'Bugs' is not one of Added, Changed/,
    ],
    [
      'another repository in one place',
      'metadata',
      () => edit('package.json', text => text.replace('mergeq/mergeq/issues', 'other/mergeq/issues')),
      /bugs\.url is not https:\/\/github\.com\/mergeq\/mergeq\/issues/,
    ],
    [
      'no keywords',
      'metadata',
      () => edit('package.json', text => text.replace('"keywords"', '"words"')),
      /package\.json has no keywords/,
    ],
    [
      'no provenance in the manifest',
      'provenance',
      () => edit('package.json', text => text.replace('"provenance": true', '"provenance": false')),
      /publishConfig\.provenance is not true/,
    ],
    [
      'a workflow that may not sign',
      'provenance',
      () => edit('.github/workflows/release.yml', text => text.replace('id-token: write', 'id-token: none')),
      /lacks the permission 'id-token: write'/,
    ],
    ['no release workflow', 'provenance', withoutPart('.github/workflows/release.yml'), /is missing/],
    ['no license', 'contents', withoutPart('LICENSE'), /the tarball lacks LICENSE/],
    ['no library', 'contents', withoutPart('dist/library.mjs'), /the tarball lacks dist\/library\.mjs/],
    [
      'a file that does not belong there',
      'contents',
      () => writeFileSync(join(root, 'dist/notes.json'), '{}'),
      /the tarball has dist\/notes\.json/,
    ],
    [
      'a script that runs on install',
      'contents',
      () => edit('package.json', text => text.replace('"scripts": {', '$&"postinstall": "true",')),
      /the script postinstall runs on install/,
    ],
    [
      'a program that does not start',
      'install',
      () => writeFileSync(join(root, 'dist/mergeq.cjs'), 'throw new Error("broken")\n'),
      /Node current: mergeq queue get ended with 1: .*broken/,
    ],
  ]
  test.each(wrong)(
    'fails for %s',
    async (_, name, change, problem) => {
      change()
      const { code, lines } = await check('--only', name, '--nodes', 'current')
      expect({ code, ok: lines.filter(line => line.startsWith('ok')) }).toEqual({ code: 1, ok: [] })
      expect(lines.join('\n')).toMatch(new RegExp(problem.source, 'm'))
    },
    60_000,
  )

  test('fails for a tag of another version, and for a check that does not exist', async () => {
    expect((await check('--only', 'version', '--tag', 'v9.9.9')).lines).toEqual([
      `FAIL  version: the tag has 9.9.9, package.json has ${version}`,
    ])
    expect(await check('--only', 'color')).toMatchObject({ code: 2, err: expect.stringMatching(/color/) })
  })
})
