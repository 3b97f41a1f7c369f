#!/usr/bin/env node
'use strict'
// Starts mergeq from the files in dist/, with the code that V8 compiled at an earlier start: compiling is a
// large part of the start-up time. docs/decisions/0002-commonjs-chunks-and-code-cache.md has the reasons.
const fs = require('node:fs')
const { dirname, join } = require('node:path')

const { argv, arch, env, platform, version } = process

/** What the build wrote, and is printed without loading the program: the version, and the help of the whole. */
const prepared = { '--version': 'version.txt', '--help': 'help.txt' }

/** Whether help may be printed as it was built: a terminal has a width, and may have colors. */
function isPlain() {
  try {
    return !fs.fstatSync(1).isCharacterDevice() && !env.FORCE_COLOR && !env.CLICOLOR_FORCE
  } catch {
    return false
  }
}

/**
 * Prints a prepared text. A reader that has closed the pipe is not an error; any other failed write exits with
 * 16.
 */
function printPrepared(name) {
  const text = fs.readFileSync(join(__dirname, '../dist', name))
  try {
    fs.writeSync(1, text)
  } catch (error) {
    if (error.code === 'EPIPE' || error.code === 'EBADF') return
    process.exitCode = 16
    process.stderr.write(
      `mergeq: Standard output could not be written: ${error.message}.\n  Check the output file and the free disk space.\n`,
    )
  }
}

/** Returns the cache directory; undefined when the variables name no absolute one or caching is disabled. */
function findCache() {
  const base =
    platform === 'win32'
      ? env.LOCALAPPDATA
      : platform === 'darwin'
        ? env.HOME && `${env.HOME}/Library/Caches`
        : env.XDG_CACHE_HOME || (env.HOME && `${env.HOME}/.cache`)
  const isUsable = base && /^([/\\]|[A-Za-z]:)/.test(base) && !env.NODE_DISABLE_COMPILE_CACHE
  return isUsable ? join(base, 'mergeq') : undefined
}

/** Whether a directory belongs to this user: root with the HOME of another user must not touch their cache. */
const isOwned = stat => platform === 'win32' || stat.uid === process.getuid()

/** Whether a path is a directory that only this user can access: code that others can write is never run. */
function isPrivate(path) {
  try {
    const stat = fs.lstatSync(path)
    return stat.isDirectory() && isOwned(stat) && (platform === 'win32' || (stat.mode & 0o077) === 0)
  } catch {
    return false
  }
}

/** The bytes that were read last: pages of memory that are used again take no time. */
let buffer = Buffer.allocUnsafeSlow(1024 * 1024)

/** Reads a file into `buffer` from the index `start` on. Returns its size and the time of its last change. */
function readInto(path, start) {
  const file = fs.openSync(path)
  try {
    const { size, mtimeMs } = fs.fstatSync(file)
    if (start + size + 3 > buffer.length) buffer = Buffer.allocUnsafeSlow(2 * size + 1024)
    if (fs.readSync(file, buffer, start, size, 0) !== size) throw new Error(`${path} could not be read`)
    return { size, mtimeMs }
  } finally {
    fs.closeSync(file)
  }
}

/**
 * Returns cached code; undefined when there is none or it is damaged. V8 does not validate it: damaged code
 * crashes it. Each file therefore has the code twice. (A checksum would need node:crypto or node:zlib.)
 */
function readCode(path) {
  try {
    const half = readInto(path, 0).size / 2
    const code = buffer.subarray(0, half)
    return half > 0 && code.equals(buffer.subarray(half, 2 * half)) ? code : undefined
  } catch {
    return undefined
  }
}

const dist = join(__dirname, '../dist')
const cache = findCache()
const loaded = new Map()
let isTrusted = false
const opening = '(function(exports,require,module,__filename){'
/** The last line of each file in dist/ is a hash of its code. */
const hashLength = 16

/** Loads a file of dist/ as CommonJS, with cached code if possible. Returns its exports. */
function load(name) {
  const found = loaded.get(name)
  if (found !== undefined) return found.module.exports
  const { Script } = require('node:vm')
  const path = join(dist, name)
  const { size, mtimeMs } = readInto(path, opening.length)
  buffer.latin1Write(opening, 0)
  const end = opening.length + size
  buffer.latin1Write('})', end)
  const source = buffer.latin1Slice(0, end + 2)
  const hash = source.slice(end - hashLength - 1, end - 1)
  // What compiled code depends on. V8 itself compares its own version and its flags.
  const file = `${name}-${hash}-${size}-${mtimeMs}-${version}-${arch}`
  const cachedData = isTrusted ? readCode(join(cache, file)) : undefined
  const script = new Script(source, { filename: path, cachedData })
  const entry = {
    file,
    module: { exports: {} },
    script,
    isFresh: cachedData === undefined || script.cachedDataRejected,
  }
  loaded.set(name, entry)
  const requireFile = id => (id.startsWith('./') ? load(id.slice(2)) : require(id))
  script.runInThisContext()(entry.module.exports, requireFile, entry.module, path)
  return entry.module.exports
}

/** Creates a private directory inside a directory of this user. The `recursive` option never returns below /proc. */
function createDirectory(path) {
  if (fs.existsSync(path)) return
  if (!isOwned(fs.statSync(dirname(path)))) throw new Error(`${path} would be in a folder of another user`)
  fs.mkdirSync(path, { mode: 0o700 })
}

/** How many files are kept of a name: of other builds and versions of Node, and of processes that were killed. */
const maxVersions = 4

/** Writes a file of the cache, and removes the oldest ones of the same name. */
function saveCode(name, { file, script }) {
  const [path, code] = [join(cache, file), script.createCachedData()]
  const temporary = `${path}.${process.pid}`
  try {
    fs.writeFileSync(temporary, Buffer.concat([code, code]), { mode: 0o600, flag: 'wx', flush: true })
    fs.renameSync(temporary, path)
  } finally {
    fs.rmSync(temporary, { force: true })
  }
  const paths = fs
    .readdirSync(cache)
    .flatMap(other => (other.startsWith(`${name}-`) ? join(cache, other) : []))
  if (paths.length <= maxVersions) return
  const time = new Map(paths.map(each => [each, fs.statSync(each, { throwIfNoEntry: false })?.mtimeMs ?? 0]))
  for (const old of paths.sort((a, b) => time.get(b) - time.get(a)).slice(maxVersions))
    fs.rmSync(old, { force: true })
}

/**
 * Saves the code that was not in the cache, unless a signal ended the command. The first command that is saved is a
 * request: help would cache code without the functions that most commands use. What is saved stays: with the functions
 * of other commands, a request would take 2 ms more. CI jobs save nothing, because their cache is discarded.
 */
function saveAll(code) {
  const fresh = [...loaded].filter(([, { isFresh }]) => isFresh)
  if (fresh.length === 0 || cache === undefined || env.CI || code > 128) return
  if (!loaded.has('http-undici.cjs') && loaded.get('start.cjs')?.isFresh) return
  try {
    createDirectory(dirname(cache))
    createDirectory(cache)
    if (!isPrivate(cache)) return
    for (const [name, entry] of fresh) saveCode(name, entry)
  } catch {
    // The next start compiles the files as usual.
  }
}

const [, , word, ...others] = argv
if (others.length === 0 && (word === '--version' || (word === '--help' && isPlain())))
  printPrepared(prepared[word])
else {
  isTrusted = cache !== undefined && isPrivate(cache)
  load('start.cjs').main()
  process.on('exit', saveAll)
}
