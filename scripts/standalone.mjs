// Builds mergeq as one executable that does not need Node on the machine: the Node binary with the bundle
// inside (a single executable application). The licenses of Node and of the bundle are written beside it.
//
//     npm run build:standalone -- [--out <file>]
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'rolldown'
import { inputOptions, outputOptions, root, src } from './bundle.mjs'
import { findPackages, readNodeLicense, renderLicenses } from './bundled-packages.mjs'

const suffix = process.platform === 'win32' ? '.exe' : ''
const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'standalone', `mergeq${suffix}`) } },
})
const out = resolve(values.out)
const folder = mkdtempSync(join(tmpdir(), 'mergeq-standalone-'))

/** Runs Node with an option that makes a file of the bundle. */
function runNode(option, bundle, output) {
  const config = join(folder, 'sea.json')
  writeFileSync(
    config,
    JSON.stringify({ main: bundle, output, disableExperimentalSEAWarning: true, useCodeCache: true }),
  )
  execFileSync(process.execPath, [option, config], { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Copies Node, and injects the bundle into the copy. */
async function injectBundle(bundle) {
  const { inject } = await import('postject')
  const blob = join(folder, 'sea.blob')
  runNode('--experimental-sea-config', bundle, blob)
  copyFileSync(process.execPath, out)
  chmodSync(out, 0o755)
  // codesign refuses a program that is signed already.
  if (process.platform === 'darwin') execFileSync('codesign', ['--remove-signature', out])
  await inject(out, 'NODE_SEA_BLOB', readFileSync(blob), {
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    ...(process.platform === 'darwin' ? { machoSegmentName: 'NODE_SEA' } : {}),
  })
}

try {
  const [entry, bundle] = ['entry.mjs', 'mergeq.cjs'].map(name => join(folder, name))
  writeFileSync(entry, `import { main } from ${JSON.stringify(join(src, 'main.ts'))}\nmain()\n`)
  const { output } = await build({
    ...inputOptions,
    input: entry,
    output: { ...outputOptions, file: bundle, codeSplitting: false },
  })
  mkdirSync(dirname(out), { recursive: true })
  rmSync(out, { force: true })
  // Node 26 writes the executable itself.
  if (Number.parseInt(process.versions.node, 10) >= 26) runNode('--build-sea', bundle, out)
  else await injectBundle(bundle)
  // The new content makes the signature of Node invalid, and macOS runs no program without one.
  if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', out])
  const packages = findPackages(output.flatMap(({ moduleIds }) => moduleIds))
  const licenses = [
    readFileSync(join(root, 'LICENSE'), 'utf8'),
    `Node ${process.version}\n\n${readNodeLicense()}`,
    renderLicenses(packages),
  ]
  writeFileSync(`${out.replace(/\.exe$/, '')}.LICENSES.txt`, licenses.join('\n----\n\n'))
  console.log(`built ${out} (Node ${process.version})`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
