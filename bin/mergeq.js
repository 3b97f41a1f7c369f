#!/usr/bin/env node
'use strict'
// Starts mergeq from the parts in dist/. Compiling them is much of what a start costs, so what V8 compiled once is kept
// in the user's cache folder (0700) and read back. V8 does not check what it is given: damaged code crashes it, and code
// of another source runs. So each file begins with a checksum over this Node, the source and the data (CRC-32, as in
// Node's own compile cache: node:crypto takes twice as long to load); what does not match it is compiled as usual and
// replaced. Node's own cache (module.enableCompileCache) holds no function that was compiled late: with it a request
// takes a fifth longer on Node 22, 24 and 26.
const {
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} = require('node:fs')
const { dirname, join } = require('node:path')
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

/** Whether a file or folder belongs to this user; root with the HOME of another user leaves that user's cache alone. */
const isOwned = stat => platform === 'win32' || stat.uid === process.getuid()

/** Whether a file or folder is this user's alone: what others can write is never run. */
const isOurs = stat => isOwned(stat) && (platform === 'win32' || (stat.mode & 0o077) === 0)

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

/** The length of a checksum in bytes; V8 copies data that is not aligned to 8. */
const checksumSize = 8

/** The checksum of the code that this Node compiled from a source. */
function checksumOf(source, data) {
  const { crc32 } = require('node:zlib')
  const checksum = Buffer.alloc(checksumSize)
  checksum.writeUInt32BE(crc32(source, crc32(`${version} ${process.arch}`)))
  checksum.writeUInt32BE(crc32(data), 4)
  return checksum
}

/** What was compiled from this source before; undefined when there is none, or when it does not match its checksum. */
function compiledBefore(name, source) {
  const file = isTrusted ? readOurs(join(folder, name)) : undefined
  if (file === undefined) return undefined
  const data = file.subarray(checksumSize)
  return file.subarray(0, checksumSize).equals(checksumOf(source, data)) ? data : undefined
}

/** Loads a part of dist/ as a CommonJS module, from the cache where that can be. */
function load(name) {
  const standing = parts.get(name)
  if (standing !== undefined) return standing.module.exports
  const path = join(dist, name)
  const source = readFileSync(path)
  const cachedData = compiledBefore(name, source)
  const script = new Script(`(function(exports,require,module){${source}\n})`, { filename: path, cachedData })
  const part = {
    module: { exports: {} },
    name,
    source,
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

/** Makes a folder for this user alone, inside a folder of this user. */
function makeFolder(path) {
  if (existsSync(path)) return
  if (!isOwned(statSync(dirname(path)))) throw new Error(`${path} would be in a folder of another user`)
  mkdirSync(path, { mode: 0o700 })
}

/**
 * Keeps what was compiled, after a run that sent requests and that no signal ended; never in CI, where nobody would come
 * back for it.
 */
function keep(code) {
  if (folder === undefined || env.CI || code > 128 || !parts.has('http-undici.cjs')) return
  try {
    // One by one: `recursive` never returns below /proc.
    makeFolder(dirname(folder))
    makeFolder(folder)
    if (!isOurs(lstatSync(folder))) return
    for (const { name, source, script, isFresh } of parts.values()) {
      if (!isFresh) continue
      // What was left by a process that was ended here.
      for (const old of readdirSync(folder))
        if (old.startsWith(name) && old !== name) rmSync(join(folder, old), { force: true })
      const data = script.createCachedData()
      const made = join(folder, `${name}.${process.pid}`)
      const file = Buffer.concat([checksumOf(source, data), data])
      try {
        writeFileSync(made, file, { mode: 0o600, flag: 'wx', flush: true })
        renameSync(made, join(folder, name))
      } finally {
        rmSync(made, { force: true })
      }
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
