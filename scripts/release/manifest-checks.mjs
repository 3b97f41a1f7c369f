// Checks of a release that read files only.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { changelogProblems } from './changelog.mjs'

const read = (root, ...names) => readFileSync(join(root, ...names), 'utf8')

/** Returns the manifest of the package. */
export const readManifest = root => JSON.parse(read(root, 'package.json'))

/** Returns the address of the repository as a web page, from `repository.url`. */
export const repositoryPage = ({ repository }) => String(repository?.url ?? '').replace(/^git\+|\.git$/g, '')

/** A build that is not one of its tag has the commit behind its version. */
export const withoutCommit = version => version.replace(/\+[0-9a-f]{8}(?:\.changed)?$/, '')

/** The version is a release version and the same in the manifest, the lock file, the program and the tag. */
export function checkVersion({ root, run, tag }) {
  const { version } = readManifest(root)
  const lock = JSON.parse(read(root, 'package-lock.json'))
  const { stdout: printed } = run(process.execPath, [join(root, 'bin/mergeq.js'), '--version'])
  return [
    ...(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) ? [] : [`'${version}' is not a version`]),
    ...[
      ['package-lock.json', lock.version],
      ['packages[""] of package-lock.json', lock.packages?.['']?.version],
      ['mergeq --version', tag === `v${version}` ? printed.trim() : withoutCommit(printed.trim())],
      ...(tag === undefined ? [] : [['the tag', tag.replace(/^v/, '')]]),
    ].flatMap(([where, found]) =>
      found === version ? [] : [`${where} has ${found || 'no version'}, package.json has ${version}`],
    ),
  ]
}

/** The changelog has the version as its newest release. */
export const checkChangelog = ({ root }) =>
  changelogProblems(read(root, 'CHANGELOG.md'), readManifest(root).version)

/**
 * The manifest has what the page of the package shows, every place names the same repository, and a release does not
 * say that there is none.
 */
export function checkMetadata({ root, tag }) {
  const manifest = readManifest(root)
  const page = repositoryPage(manifest)
  const pages = [
    'README.md',
    'CHANGELOG.md',
    'Dockerfile',
    ...filesBelow(root, 'docs', /\.md$/),
    ...filesBelow(root, '.github', /\.yml$/),
  ]
  const name = page.replace('https://github.com/', '')
  const problems = []
  for (const key of [
    'name',
    'description',
    'license',
    'keywords',
    'engines',
    'repository',
    'homepage',
    'bugs',
  ])
    if (manifest[key] === undefined || manifest[key].length === 0) problems.push(`package.json has no ${key}`)
  if (!/^https:\/\/github\.com\/[\w-]+\/[\w.-]+$/.test(page))
    problems.push(`repository.url is not the address of a repository: ${manifest.repository?.url}`)
  if (!String(manifest.homepage).startsWith(page)) problems.push(`homepage is not below ${page}`)
  if (manifest.bugs?.url !== `${page}/issues`) problems.push(`bugs.url is not ${page}/issues`)
  if (manifest.private === true) problems.push('the package is private')
  if (tag !== undefined)
    for (const path of ['README.md', 'docs/github-action.md'])
      if (/not published yet|not released|when the package is on npm/.test(read(root, path)))
        problems.push(`${path} says that the package is not published`)
  for (const path of pages)
    for (const [, found] of read(root, path).matchAll(
      /(?:github\.com\/|ghcr\.io\/|uses: )([\w-]+\/mergeq)\b/g,
    ))
      if (found !== name) problems.push(`${path} names the repository ${found}, package.json ${name}`)
  return [...new Set(problems)]
}

const filesBelow = (root, directory, ending) =>
  existsSync(join(root, directory))
    ? readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
        .filter(name => ending.test(name))
        .map(name => join(directory, name))
    : []

/** The package is published in public, with a provenance statement, from a job that may sign one. */
export function checkProvenance({ root }) {
  const { publishConfig = {} } = readManifest(root)
  const problems = []
  if (publishConfig.provenance !== true) problems.push('publishConfig.provenance is not true')
  if (publishConfig.access !== 'public') problems.push("publishConfig.access is not 'public'")
  const path = '.github/workflows/release.yml'
  if (!existsSync(join(root, path))) return [...problems, `${path} is missing`]
  const jobs = Object.values(parse(read(root, path)).jobs ?? {})
  const publishing = jobs.filter(({ steps = [] }) =>
    steps.some(({ run = '' }) => /npm publish [^\n]*--provenance/.test(run)),
  )
  if (publishing.length === 0) problems.push(`${path} has no step 'npm publish --provenance'`)
  for (const { permissions } of publishing)
    if (permissions?.['id-token'] !== 'write')
      problems.push(`${path}: the job that publishes lacks the permission 'id-token: write'`)
  return problems
}
