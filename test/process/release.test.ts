import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { testWith } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { version } = manifest
const place = temporaryFolder('mergeq-release-test-')
const original = join(place, 'original')
const root = join(place, 'copy')
const parts = [
  'package.json',
  'package-lock.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'Dockerfile',
  'bin',
  'completions',
  'dist',
  'man',
  'docs',
  'skills',
  '.github',
]

/** Runs the script on the copy; its exit code and its lines on standard output. */
async function check(...words: readonly string[]) {
  const script = ['scripts/check-release.mjs', '--root', root, ...words]
  const { exitCode, stdout, stderr } = await execa(process.execPath, script, { reject: false })
  return { code: exitCode, lines: stdout.split('\n'), err: stderr }
}

/** A mistake of each kind: the file, what takes the place of what in it, and how the check reports it. */
type Mistake = readonly [check: string, path: string, from: string | RegExp, to: string, problem: RegExp]
const mistakes: readonly Mistake[] = [
  [
    'version',
    'package.json',
    `"version": "${version}"`,
    '"version": "9.9.9"',
    /package-lock\.json has \S+, package\.json has 9\.9\.9$/m,
  ],
  ['changelog', 'CHANGELOG.md', '## [Unreleased]\n', '$&\n- More.\n', /entries are below 'Unreleased'/],
  ['metadata', 'package.json', '"keywords"', '"words"', /package\.json has no keywords/],
  [
    'provenance',
    '.github/workflows/release.yml',
    'id-token: write',
    'id-token: none',
    /lacks the permission/,
  ],
]

/** Mistakes of the package, which one check finds together: packing takes long. */
const mistakesOfPackage: readonly Mistake[] = [
  ['contents', 'package.json', '"skills"', '"scripts"', /the tarball lacks skills\/mergeq\/SKILL\.md$/m],
  ['contents', 'package.json', '"files": [', '$&"docs/README.md",', /the tarball has docs\/README\.md/],
  ['contents', 'package.json', '"scripts": {', '$&"postinstall": "true",', /postinstall runs on install/],
  [
    'install',
    'dist/start.cjs',
    /^/,
    'throw new Error("broken")\n',
    /mergeq queue get ended with 1: .*broken/,
  ],
]

interface Job {
  readonly steps: readonly {
    readonly run?: string
    readonly 'working-directory'?: string
  }[]
}

testWith('jq')(
  'the steps that publish run in a shell, with programs that only record their words',
  async () => {
    const folder = join(place, 'publishing')
    mkdirSync(join(folder, 'bin'), { recursive: true })
    mkdirSync(join(folder, 'assets'))
    for (const name of [
      `mergeq-${version}.tgz`,
      'assets/mergeq-linux-x64',
      'assets/mergeq.cdx.json',
      'assets/notes.md',
    ])
      writeFileSync(join(folder, name), name)
    const answers = `case "$*" in *--version) echo ${version};; *inspect*) echo '{"digest":"sha256:1"}';; esac`
    for (const name of ['docker', 'gh', 'npm']) {
      const script = `#!/bin/sh\necho ${name} "$@" >> ${folder}/log\n${answers}\n`
      writeFileSync(join(folder, 'bin', name), script, { mode: 0o755 })
    }
    const { jobs }: { jobs: Readonly<Record<string, Job>> } = parse(
      readFileSync('.github/workflows/release.yml', 'utf8'),
    )
    for (const job of ['npm', 'image', 'images', 'github'])
      for (const { run, 'working-directory': cwd = '.' } of jobs[job]?.steps ?? [])
        if (run !== undefined)
          await execa('bash', ['-ec', run], {
            cwd: join(folder, cwd),
            env: {
              PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
              ARCHITECTURE: 'arm64',
              GH_TOKEN: 'secret',
              GITHUB_ACTOR: 'ada',
              GITHUB_OUTPUT: join(folder, 'output'),
              GITHUB_REF_NAME: `v${version}`,
              IMAGE: 'ghcr.io/acme/mergeq',
            },
          })
    const image = `ghcr.io/acme/mergeq:${version}`
    expect(readFileSync(join(folder, 'log'), 'utf8').split('\n')).toEqual([
      `npm publish ./mergeq-${version}.tgz --provenance --access public`,
      `docker build --tag ${image}-arm64 .`,
      `docker run --rm ${image}-arm64 --version`,
      `docker run --rm ${image}-arm64 sandbox tour --speed 8`,
      'docker login ghcr.io --username ada --password-stdin',
      `docker push ${image}-arm64`,
      'docker login ghcr.io --username ada --password-stdin',
      `docker buildx imagetools create --tag ${image} --tag ghcr.io/acme/mergeq:latest ${image}-amd64 ${image}-arm64`,
      `docker buildx imagetools inspect ${image} --format {{json .Manifest}}`,
      `gh release create v${version} --verify-tag --title v${version} --notes-file notes.md assets/SHA256SUMS assets/mergeq-linux-x64 assets/mergeq.cdx.json`,
      '',
    ])
    expect(readFileSync(join(folder, 'output'), 'utf8')).toBe('digest=sha256:1\n')
    expect(readFileSync(join(folder, 'assets/SHA256SUMS'), 'utf8')).toMatch(
      /^[\da-f]{64} {2}mergeq-linux-x64\n[\da-f]{64} {2}mergeq\.cdx\.json\n$/,
    )
  },
)

describe('the release check', () => {
  beforeAll(async () => {
    for (const part of parts) cpSync(resolve(part), join(original, part), { recursive: true })
    // The copy is a release and says so, whether the changelog is cut already or has later changes.
    for (const path of ['README.md', 'docs/github-action.md']) {
      const text = readFileSync(join(original, path), 'utf8')
      writeFileSync(
        join(original, path),
        text.replace(/not published yet|not released|when the package is on npm/g, ''),
      )
    }
    writeFileSync(join(original, 'dist/version.txt'), `${version}\n`)
    const changelog = join(original, 'CHANGELOG.md')
    const changes = readFileSync(changelog, 'utf8')
    if (changes.includes(`\n## [${version}] - `))
      writeFileSync(changelog, changes.replace(/^(## \[Unreleased\]\n)[\s\S]*?(?=^## )/m, '$1\n'))
    else {
      const cut = ['scripts/check-release.mjs', '--root', original, '--cut', '--date', '2026-11-22']
      await execa(process.execPath, cut)
    }
  })
  beforeEach(() => {
    rmSync(root, { recursive: true, force: true })
    cpSync(original, root, { recursive: true })
  })

  test('passes with the files of a release, which can be installed and run', async () => {
    const only = 'version,changelog,metadata,provenance,contents,install'
    expect(await check('--only', only, '--tag', `v${version}`, '--nodes', 'current')).toEqual({
      code: 0,
      lines: only.split(',').map(name => `ok    ${name}`),
      err: '',
    })
  }, 60_000)

  test('prints the changes of the version', async () => {
    const { code, lines } = await check('--notes')
    expect({ code, first: lines[0] }).toEqual({ code: 0, first: expect.stringMatching(/\S/) })
    expect(lines.join('\n')).toMatch(/^### \w+$/m)
    expect(lines.join('\n')).not.toMatch(/^## |^\[/m)
  })

  const make = ([, path, from, to]: Mistake) => {
    const file = join(root, path)
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
  }

  test.each(mistakes)('%s: a mistake in %s is found', async (...mistake) => {
    make(mistake)
    const [name, , , , problem] = mistake
    const { code, lines } = await check('--only', name)
    expect({ code, said: lines.join('\n') }).toEqual({ code: 1, said: expect.stringMatching(problem) })
  })

  test('contents, install: the mistakes of a package are found', async () => {
    for (const mistake of mistakesOfPackage) make(mistake)
    const { code, lines } = await check('--only', 'contents,install', '--nodes', 'current')
    expect(code).toBe(1)
    for (const [name, , , , problem] of mistakesOfPackage) {
      const said = lines.filter(line => line.startsWith(`FAIL  ${name}: `)).join('\n')
      expect(said).toMatch(problem)
    }
  }, 60_000)

  test('fails for a tag of another version, and where a page says that there is no release', async () => {
    expect((await check('--only', 'version', '--tag', 'v9.9.9')).lines).toEqual([
      `FAIL  version: the tag has 9.9.9, package.json has ${version}`,
    ])
    writeFileSync(join(root, 'README.md'), 'The package is not published yet.')
    expect((await check('--only', 'metadata', '--tag', `v${version}`)).lines).toEqual([
      'FAIL  metadata: README.md says that the package is not published',
    ])
  })
})
