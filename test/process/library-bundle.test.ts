import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as esbuild from 'esbuild'
import { build, type OutputOptions } from 'rolldown'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { serveScript } from '../support/harness.ts'
import { bareEnvironment, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const kept = closeAfterTests()
const place = temporaryFolder('mergeq-bundle-')

/** Reads a queue, and with an argument explains it, waits and lands, too. */
const bot = `
  const client = createClient({ discover: false, repo: 'acme/web', targetBranch: 'main', token: 'token', ...JSON.parse(process.env.OPTIONS) })
  const run = async () => {
    const seen = [(await client.getQueue()).state]
    if (process.argv[2] === 'all') {
      const [{ outcome }] = await client.waitForPullRequests({ prs: [parsePullRequest('#7').number], timeout: 0 })
      const [{ submitted }] = await client.landPullRequests({ prs: [7] })
      seen.push(outcome, submitted, (await client.explainQueue()).targetBranch)
      for await (const change of client.watchQueue({ since: '1h' })) {
        seen.push(change.pr)
        break
      }
      await client.getQueue({ nonsense: true }).catch(error => seen.push(error instanceof MergeqError && isMergeqError(error)))
    }
    console.log(seen.join(' '))
  }
  run()
`
const names = 'createClient, isMergeqError, MergeqError, parsePullRequest'
const [asModule, asCommonJs] = [join(place, 'bot.mjs'), join(place, 'bot.cjs')]
mkdirSync(join(place, 'node_modules'))
symlinkSync(resolve('.'), join(place, 'node_modules/mergeq'))
writeFileSync(asModule, `import { ${names} } from 'mergeq'\n${bot}`)
writeFileSync(asCommonJs, `const { ${names} } = require('mergeq')\n${bot}`)

/** Bundles a program as its author would. Returns the path of the bundle, and the size of its files in KB. */
async function bundle(input: string, output: OutputOptions & { readonly dir: string }) {
  const { output: files } = await build({
    input,
    cwd: place,
    platform: 'node',
    logLevel: 'silent',
    output: { minify: true, ...output },
  })
  const chunks = files.filter(file => file.type === 'chunk')
  const sizes = new Map(chunks.map(({ fileName, code }) => [fileName, Buffer.byteLength(code) / 1_000]))
  const loaded = new Set<string>()
  const load = (name: string) => {
    const chunk = chunks.find(({ fileName }) => fileName === name)
    if (chunk === undefined || loaded.has(name)) return
    loaded.add(name)
    for (const imported of chunk.imports) load(imported)
  }
  const [entry] = chunks.filter(({ isEntry }) => isEntry)
  load(entry?.fileName ?? '')
  const sum = (files: Iterable<string>) =>
    [...files].reduce((total, name) => total + (sizes.get(name) ?? 0), 0)
  return {
    path: join(output.dir, entry?.fileName ?? ''),
    atStart: sum(loaded),
    all: sum(sizes.keys()),
  }
}

/** Runs a bot against a service with a queue that waits for a pull request. */
async function runBot(path: string, ...words: readonly string[]) {
  const record = {
    id: 'id-7',
    prNumber: 7,
    state: 'MERGED',
    stateChangedAt: new Date(Date.now() - 60_000).toISOString(),
  }
  const service = kept(
    await serveScript(({ path }) => {
      if (path.endsWith('/getQueue'))
        return { body: '{"state":"RUNNING","branch":"main","enqueuedPullRequests":[]}' }
      if (path.includes('Metrics')) return { body: '' }
      const isList = path.endsWith('/listPullRequests')
      return { body: JSON.stringify(isList ? { pullRequests: [record] } : record) }
    }),
  )
  const options = JSON.stringify({ baseUrl: service.baseUrl })
  const env = { ...bareEnvironment(place), OPTIONS: options }
  return runProgram([process.execPath, path, ...words], { cwd: place, env })
}

const forms: readonly (readonly [name: string, input: string, output: OutputOptions])[] = [
  ['an ES module in several files', asModule, { format: 'esm' }],
  ['an ES module in one file', asModule, { format: 'esm', codeSplitting: false }],
  ['a CommonJS module in one file', asModule, { format: 'cjs', codeSplitting: false }],
  ['a CommonJS module that was one before', asCommonJs, { format: 'cjs', codeSplitting: false }],
]

test.each([
  ['an ES module', asModule],
  ['a CommonJS module', asCommonJs],
])('all methods work in %s', async (_, path) => {
  expect(await runBot(path, 'all')).toEqual({ code: 0, out: 'RUNNING merged false main 7 true\n', err: '' })
})

test.each(forms)('all methods work in a bundle: %s', async (name, input, output) => {
  const { path } = await bundle(input, { ...output, dir: join(place, name.replaceAll(' ', '-')) })
  expect(await runBot(path, 'all')).toEqual({ code: 0, out: 'RUNNING merged false main 7 true\n', err: '' })
})

// As docs/library.md says. esbuild keeps no `require` in an ES module: what calls it throws.
const esbuildForms: readonly (readonly [name: string, input: string, options: esbuild.BuildOptions])[] = [
  ['ES modules in several files', asModule, { format: 'esm', splitting: true }],
  ['an ES module in one file', asModule, { format: 'esm' }],
  ['a CommonJS module in one file', asModule, { format: 'cjs' }],
  ['a CommonJS module that was one before', asCommonJs, { format: 'cjs' }],
]

test.each(esbuildForms)('all methods work in a bundle of esbuild: %s', async (name, input, options) => {
  const outdir = join(place, `esbuild-${name.replaceAll(' ', '-')}`)
  const outExtension = { '.js': options.format === 'esm' ? '.mjs' : '.cjs' }
  await esbuild.build({
    entryPoints: { bot: input },
    outdir,
    outExtension,
    absWorkingDir: place,
    bundle: true,
    platform: 'node',
    logLevel: 'error',
    ...options,
  })
  const path = join(outdir, `bot${outExtension['.js']}`)
  expect(await runBot(path, 'all')).toEqual({ code: 0, out: 'RUNNING merged false main 7 true\n', err: '' })
})

// At first, without what waits share, watches and explanations, it had 387 KB.
test('a bot that only reads a queue loads at most 380 KB of its bundle', async () => {
  const { atStart, all } = await bundle(asModule, { format: 'esm', dir: join(place, 'several') })
  expect(atStart).toBeLessThan(380)
  expect(all).toBeGreaterThan(atStart + 50)
})

test('a bundle in one file has at most 450 KB', async () => {
  const { all } = await bundle(asModule, { format: 'esm', codeSplitting: false, dir: join(place, 'one') })
  expect(all).toBeLessThan(450)
})
