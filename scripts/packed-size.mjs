// The size of the npm package, which the README names.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bundle.mjs'

/** Returns the size of the package, packed and unpacked, in bytes, of what was built. */
export function measurePackage(env = process.env) {
  const { npm_execpath: npm } = process.env
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']
  const [program, words] = npm === undefined ? ['npm', args] : [process.execPath, [npm, ...args]]
  const options = {
    cwd: root,
    env,
    encoding: 'utf8',
    shell: npm === undefined && process.platform === 'win32',
  }
  const [{ size, unpackedSize }] = JSON.parse(execFileSync(program, words, options))
  return { size, unpackedSize }
}

/**
 * Builds the package and writes its size into the README, rounded to 50 KB. A size that is within 40 KB of what stands
 * there changes nothing: it depends a little on the versions of Node and npm.
 */
export function writePackedSize() {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--quiet'], {
    cwd: root,
    stdio: 'inherit',
  })
  const { size } = measurePackage()
  const file = join(root, 'README.md')
  const text = readFileSync(file, 'utf8')
  const [, written] = /^The package has about (\d+) KB/m.exec(text) ?? []
  if (Math.abs(size / 1000 - Number(written)) <= 40) return
  const rounded = 50 * Math.round(size / 50_000)
  writeFileSync(file, text.replace(/^(The package has about )\d+ KB/m, `$1${rounded} KB`))
}
