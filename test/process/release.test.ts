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
  ...['package.json', 'package-lock.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'Dockerfile'],
  ...['bin', 'dist', 'man', 'docs', 'skills', '.github'],
]

/** Runs the script on the copy; its exit code and its lines on standard output. */
async function check(...words: readonly string[]) {
  const script = ['scripts/check-release.mjs', '--root', root, ...words]
  const { exitCode, stdout, stderr } = await execa(process.execPath, script, { reject: false })
  return { code: exitCode, lines: stdout.split('\n'), err: stderr }
}

interface Mistake {
  /** The file, what is in it, and what takes its place; without these two the file is removed. */
  readonly change: readonly [path: string, from?: string | RegExp, to?: string]
  readonly problem: RegExp | readonly RegExp[]
}

function make({ change: [path, from, to = ''] }: Mistake): void {
  const file = join(root, path)
  const before = readFileSync(file, 'utf8')
  const after = from === undefined ? '' : before.replace(from, to)
  expect(after).not.toBe(before)
  if (from === undefined) rmSync(file)
  else writeFileSync(file, after)
}

/** Mistakes that are made together, and the checks that find them. */
const mistakes: Readonly<Record<string, readonly Mistake[]>> = {
  'version,changelog': [
    {
      change: ['package.json', `"version": "${version}"`, '"version": "9.9.9"'],
      problem: [
        /^FAIL {2}version: package-lock\.json has \S+, package\.json has 9\.9\.9$/m,
        /the newest release is \S+, not 9\.9\.9: run npm run release:check -- --cut/,
      ],
    },
    {
      change: ['CHANGELOG.md', '### Added', '### Bugs'],
      problem: /the section 'Bugs' is not one of Added, Changed/,
    },
    {
      change: ['CHANGELOG.md', '## [Unreleased]\n', '$&\n### Added\n\n- More.\n'],
      problem: /entries are below 'Unreleased'/,
    },
    {
      change: ['CHANGELOG.md', /\] - \d{4}-\d\d-\d\d/, '] - 2026-02-30'],
      problem: /the date of \S+ is invalid: 2026-02-30/,
    },
  ],
  'version,metadata,provenance': [
    {
      change: ['package.json', `"version": "${version}"`, '"version": "next"'],
      problem: /'next' is not a version/,
    },
    {
      change: ['package.json', 'mergeq/mergeq/issues', 'other/mergeq/issues'],
      problem: /bugs\.url is not https:\/\/github\.com\/mergeq\/mergeq\/issues/,
    },
    { change: ['package.json', '"keywords"', '"words"'], problem: /package\.json has no keywords/ },
    {
      change: ['package.json', '"provenance": true', '"provenance": false'],
      problem: /publishConfig\.provenance is not true/,
    },
    {
      change: ['.github/workflows/release.yml', 'id-token: write', 'id-token: none'],
      problem: /lacks the permission 'id-token: write'/,
    },
  ],
  provenance: [{ change: ['.github/workflows/release.yml'], problem: /release\.yml is missing/ }],
  contents: [
    { change: ['LICENSE'], problem: /the tarball lacks LICENSE/ },
    { change: ['dist/library.mjs'], problem: /the tarball lacks dist\/library\.mjs/ },
    { change: ['dist/mergeq.cdx.json'], problem: /the tarball lacks dist\/mergeq\.cdx\.json/ },
    {
      change: ['package.json', '"skills"', '"scripts"'],
      problem: /the tarball lacks skills\/mergeq\/SKILL\.md/,
    },
    {
      change: ['package.json', '"files": [', '$&\n"docs/README.md",'],
      problem: /the tarball has docs\/README\.md/,
    },
    {
      change: ['package.json', '"scripts": {', '$&"postinstall": "true",'],
      problem: /the script postinstall runs on install/,
    },
  ],
  install: [
    {
      change: ['dist/start.cjs', /^/, 'throw new Error("broken")\n'],
      problem: /Node current: mergeq queue get ended with 1: .*broken/,
    },
  ],
}

interface Job {
  readonly steps: readonly {
    readonly run?: string
    readonly with?: Readonly<Record<string, unknown>>
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
    expect(jobs.github?.steps.map(step => step.with)).toContainEqual({
      'subject-path': 'assets/mergeq-*.tgz',
      'sbom-path': 'assets/mergeq.cdx.json',
    })
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
      writeFileSync(join(original, path), text.replace(/not published yet|when the package is on npm/g, ''))
    }
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

  test.each(Object.entries(mistakes))(
    'fails for mistakes that concern %s, and names each',
    async (checks, made) => {
      for (const mistake of made) make(mistake)
      const { code, lines } = await check('--only', checks, '--nodes', 'current')
      expect({ code, ok: lines.filter(line => line.startsWith('ok')) }).toEqual({ code: 1, ok: [] })
      for (const problem of made.flatMap(mistake => mistake.problem))
        expect(lines.join('\n')).toMatch(problem)
    },
    60_000,
  )

  test('fails for a tag of another version, and for a check that does not exist', async () => {
    expect((await check('--only', 'version', '--tag', 'v9.9.9')).lines).toEqual([
      `FAIL  version: the tag has 9.9.9, package.json has ${version}`,
    ])
    writeFileSync(join(root, 'README.md'), 'The package is not published yet.')
    expect((await check('--only', 'metadata', '--tag', `v${version}`)).lines).toEqual([
      'FAIL  metadata: README.md says that the package is not published',
    ])
    expect(await check('--only', 'color')).toMatchObject({ code: 2, err: expect.stringMatching(/color/) })
  })
})
