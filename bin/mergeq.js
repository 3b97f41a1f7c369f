#!/usr/bin/env node
'use strict'
// Starts mergeq from the parts in dist/. Compiling them is much of what a start costs, so what V8 compiled once is kept
// in the user's cache folder (0700) and read back; whatever is wrong with it, the parts are compiled as usual.
const {
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} = require('node:fs')
const { join } = require('node:path')
const { Script } = require('node:vm')

const { argv, env, platform, version } = process
const dist = join(__dirname, '../dist')
const parts = new Map()

/** The folder of the cache; undefined where none can be told for certain. */
function cacheFolder() {
  const base =
    platform === 'win32'
      ? env.LOCALAPPDATA
      : platform === 'darwin'
        ? env.HOME && `${env.HOME}/Library/Caches`
        : env.XDG_CACHE_HOME || (env.HOME && `${env.HOME}/.cache`)
  if (!base || !/^([/\\]|[A-Za-z]:)/.test(base) || env.NODE_DISABLE_COMPILE_CACHE) return undefined
  return join(base, 'mergeq')
}

/** Whether a file or folder is this user's alone: what others can write is never run. */
const isOurs = stat => platform === 'win32' || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0)

/** The bytes of a file of ours; undefined when there is none that can be trusted. */
function readOurs(path) {
  let file
  try {
    file = openSync(path)
    const stat = fstatSync(file)
    return stat.isFile() && isOurs(stat) ? readFileSync(file) : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const folder = cacheFolder()
const isTrusted = (() => {
  try {
    const stat = lstatSync(folder)
    return stat.isDirectory() && isOurs(stat)
  } catch {
    return false
  }
})()

/** Loads a part of dist/ as a CommonJS module, from the cache where that can be. */
function load(name) {
  const standing = parts.get(name)
  if (standing !== undefined) return standing.module.exports
  const path = join(dist, name)
  const { mtimeMs, size } = lstatSync(path)
  const key = `${name}-${size}-${Math.trunc(mtimeMs)}-${version}-${process.arch}`
  const cachedData = isTrusted ? readOurs(join(folder, key)) : undefined
  const source = `(function(exports,require,module){${readFileSync(path, 'utf8')}\n})`
  const script = new Script(source, { filename: path, cachedData })
  const part = {
    module: { exports: {} },
    name,
    key,
    script,
    isFresh: cachedData === undefined || script.cachedDataRejected,
  }
  parts.set(name, part)
  script.runInThisContext()(
    part.module.exports,
    id => (id.startsWith('./') ? load(id.slice(2)) : require(id)),
    part.module,
  )
  return part.module.exports
}

/** Keeps what was compiled, after a run that sent requests; never in CI, where nobody would come back for it. */
function keep() {
  if (folder === undefined || env.CI || !parts.has('transport-wire.cjs')) return
  try {
    // One by one: `recursive` never returns below /proc.
    for (const made of [join(folder, '..'), folder])
      try {
        mkdirSync(made, { mode: 0o700 })
      } catch (error) {
        if (error.code !== 'EEXIST') throw error
      }
    if (!isOurs(lstatSync(folder))) return
    for (const { name, key, script, isFresh } of parts.values()) {
      if (!isFresh) continue
      for (const old of readdirSync(folder))
        if (old.startsWith(`${name}-`)) rmSync(join(folder, old), { force: true })
      const made = join(folder, `${key}.${process.pid}`)
      writeFileSync(made, script.createCachedData(), { mode: 0o600, flag: 'wx' })
      renameSync(made, join(folder, key))
    }
  } catch {
    // The next start compiles as usual.
  }
}

/** Prints the version; a reader that has gone is no failure, anything else that cannot be written is 16. */
function printVersion() {
  try {
    writeSync(1, `${require('../package.json').version}\n`)
  } catch (error) {
    if (error.code === 'EPIPE' || error.code === 'EBADF') return
    process.exitCode = 16
    process.stderr.write(
      `mergeq: standard output could not be written: ${error.message}.\n  Check the disk and the file that it goes to.\n`,
    )
  }
}

if (argv.length === 3 && argv[2] === '--version') printVersion()
else {
  load('mergeq.cjs').main()
  process.on('exit', keep)
}
