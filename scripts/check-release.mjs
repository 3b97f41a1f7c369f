// Checks that a release can be published. Prints one line per check; ends with 1 if a check fails.
//
//     npm run release:check -- [--only version,changelog] [--skip standalone] [--tag v0.1.0] [--nodes 22,24]
//     npm run release:check -- --cut [--date 2026-11-22]     # moves 'Unreleased' of CHANGELOG.md to a release
//     npm run --silent release:check -- --notes              # prints the changelog of the version
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cutChangelog, notesOf } from './release/changelog.mjs'
import {
  checkChangelog,
  checkMetadata,
  checkProvenance,
  checkVersion,
  readManifest,
  repositoryPage,
} from './release/manifest-checks.mjs'
import { checkContents, checkInstall, checkStandalone } from './release/package-checks.mjs'

const checks = {
  version: checkVersion,
  changelog: checkChangelog,
  metadata: checkMetadata,
  provenance: checkProvenance,
  contents: checkContents,
  install: checkInstall,
  standalone: checkStandalone,
}

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: resolve(fileURLToPath(import.meta.url), '../..') },
    only: { type: 'string', default: Object.keys(checks).join(',') },
    skip: { type: 'string', default: '' },
    tag: { type: 'string' },
    nodes: { type: 'string' },
    cut: { type: 'boolean', default: false },
    notes: { type: 'boolean', default: false },
    date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
  },
})

/** Runs a program to its end. Throws with its output if it fails, unless `allowFailure` is set. */
function run(program, words, { cwd, env, allowFailure = false } = {}) {
  const result = spawnSync(program, words, {
    cwd,
    env: env ?? process.env,
    encoding: 'utf8',
    shell: process.platform === 'win32' && /^(?:npm|mergeq)$/.test(program),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (result.error !== undefined) throw result.error
  if (result.status !== 0 && !allowFailure)
    throw new Error(`${program} ${words.join(' ')} ended with ${result.status}: ${result.stderr}`)
  return result
}

/** Runs the selected checks. Returns whether all of them passed. */
function runChecks(names) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-release-')))
  const env = { ...process.env, HOME: place, USERPROFILE: place }
  const nodes = values.nodes?.split(',')
  const context = { root: resolve(values.root), tag: values.tag, nodes, place, env, run }
  let failures = 0
  try {
    for (const name of names) {
      let problems
      try {
        problems = checks[name](context)
      } catch (error) {
        problems = [error.message.trim()]
      }
      if (problems.length === 0) console.log(`ok    ${name}`)
      else failures++
      for (const problem of problems) console.log(`FAIL  ${name}: ${problem}`)
    }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  return failures === 0
}

const changelog = join(values.root, 'CHANGELOG.md')
const manifest = readManifest(values.root)
const skipped = values.skip.split(',')
const names = values.only.split(',').filter(name => !skipped.includes(name))
const unknown = [...names, ...skipped].filter(name => name !== '' && !(name in checks))
if (unknown.length > 0) {
  console.error(`unknown check: ${unknown.join(', ')}; the checks are ${Object.keys(checks).join(', ')}`)
  process.exitCode = 2
} else if (values.cut)
  try {
    const text = readFileSync(changelog, 'utf8')
    writeFileSync(changelog, cutChangelog(text, manifest.version, values.date, repositoryPage(manifest)))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 2
  }
else if (values.notes) console.log(notesOf(readFileSync(changelog, 'utf8'), manifest.version).trim())
else if (!runChecks(names)) process.exitCode = 1
