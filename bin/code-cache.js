'use strict'
/**
 * Loads the modules of dist/ with a cache of compiled code. Compiling them is a large part of the start-up
 * time, so the code that V8 has compiled is kept in the cache directory of the user (mode 0700) and reused.
 * V8 does not validate cached code: damaged code crashes it, and code of another source is executed. Each
 * file therefore holds the code twice, the source and the version of Node. Code is used only if both copies,
 * the source and the version are equal; otherwise the source is compiled as usual and the file is replaced.
 * Reading and comparing the files of a request takes 2.7 ms, and took 4.7 ms with a checksum: the checksums of
 * Node are in modules that nothing else loads (node:zlib, node:crypto).
 *
 * Node 20 has no compile cache. That of later versions (module.enableCompileCache) lacks the functions that
 * are compiled lazily. One request, CPU time, medians of 15 interleaved runs: 61.8 ms with this cache, 73.5
 * with that of Node and 86.1 without a cache on Node 22; 66.6, 77.2 and 87.6 on Node 24; 63.6, 73.9 and 84.6
 * on Node 26.
 */
const {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

const { env, platform, version } = process
const dist = join(__dirname, '../dist')
const loadedModules = new Map()

/**
 * Returns the cache directory; undefined when the variables name no absolute directory or caching is
 * disabled.
 */
function findCacheDirectory() {
  const base =
    platform === 'win32'
      ? env.LOCALAPPDATA
      : platform === 'darwin'
        ? env.HOME && `${env.HOME}/Library/Caches`
        : env.XDG_CACHE_HOME || (env.HOME && `${env.HOME}/.cache`)
  if (!base || !/^([/\\]|[A-Za-z]:)/.test(base) || env.NODE_DISABLE_COMPILE_CACHE) return undefined
  return join(base, 'mergeq')
}

/**
 * Returns whether a file or directory belongs to this user: root with the HOME of another user must not
 * touch the cache of that user.
 */
const isOwned = stat => platform === 'win32' || stat.uid === process.getuid()

/**
 * Returns whether only this user can access a file or directory: code that others can write is never run.
 */
const isPrivate = stat => isOwned(stat) && (platform === 'win32' || (stat.mode & 0o077) === 0)

/** Returns the bytes of a private file; undefined when there is no trustworthy file. */
function readPrivateFile(path) {
  try {
    const stat = lstatSync(path)
    return stat.isFile() && isPrivate(stat) ? readFileSync(path) : undefined
  } catch {
    return undefined
  }
}

const cacheDirectory = findCacheDirectory()
const isTrusted = (() => {
  try {
    const stat = lstatSync(cacheDirectory)
    return stat.isDirectory() && isPrivate(stat)
  } catch {
    return false
  }
})()

/** What the compiled code depends on besides the source. */
const compiler = Buffer.from(`${version} ${process.arch}`)

/**
 * Returns the cached code of a source; undefined when there is none, when it is damaged, or when it belongs
 * to another source or version of Node.
 */
function readCachedCode(name, source) {
  const file = isTrusted ? readPrivateFile(join(cacheDirectory, name)) : undefined
  if (file === undefined) return undefined
  const size = (file.length - source.length - compiler.length) / 2
  if (!Number.isInteger(size) || size <= 0) return undefined
  const code = file.subarray(0, size)
  const isIntact =
    code.equals(file.subarray(size, 2 * size)) &&
    source.equals(file.subarray(2 * size, 2 * size + source.length)) &&
    compiler.equals(file.subarray(2 * size + source.length))
  return isIntact ? code : undefined
}

/** Loads a module of dist/ as CommonJS, with cached code if possible. Returns its exports. */
function load(name) {
  const loaded = loadedModules.get(name)
  if (loaded !== undefined) return loaded.module.exports
  const path = join(dist, name)
  const source = readFileSync(path)
  const cachedData = readCachedCode(name, source)
  const script = new Script(`(function(exports,require,module,__filename){${source}\n})`, {
    filename: path,
    cachedData,
  })
  const entry = {
    module: { exports: {} },
    name,
    source,
    script,
    isFresh: cachedData === undefined || script.cachedDataRejected,
  }
  loadedModules.set(name, entry)
  script.runInThisContext()(
    entry.module.exports,
    id => (id.startsWith('./') ? load(id.slice(2)) : require(id)),
    entry.module,
    path,
  )
  return entry.module.exports
}

/** Creates a private directory inside a directory of this user. */
function createDirectory(path) {
  if (existsSync(path)) return
  if (!isOwned(statSync(dirname(path)))) throw new Error(`${path} would be in a folder of another user`)
  mkdirSync(path, { mode: 0o700 })
}

/**
 * Whether the code of most commands is in the cache, or this command sent requests: then the functions that
 * most commands use are compiled. Help, as the first command, would cache code without them.
 */
const isWorthSaving = () =>
  loadedModules.has('http-undici.cjs') || loadedModules.get('start.cjs')?.isFresh === false

/**
 * Saves the code that was not in the cache, unless a signal ended the command. CI jobs save nothing, because
 * their cache is discarded.
 */
function saveCache(code) {
  if (cacheDirectory === undefined || env.CI || code > 128 || !isWorthSaving()) return
  try {
    // Creates each directory separately: the `recursive` option never returns below /proc.
    createDirectory(dirname(cacheDirectory))
    createDirectory(cacheDirectory)
    if (!isPrivate(lstatSync(cacheDirectory))) return
    for (const { name, source, script, isFresh } of loadedModules.values()) {
      if (!isFresh) continue
      // Removes files of a process that was ended while it wrote them.
      for (const old of readdirSync(cacheDirectory))
        if (old.startsWith(name) && old !== name) rmSync(join(cacheDirectory, old), { force: true })
      const temporaryFile = join(cacheDirectory, `${name}.${process.pid}`)
      try {
        const compiled = script.createCachedData()
        const file = Buffer.concat([compiled, compiled, source, compiler])
        writeFileSync(temporaryFile, file, { mode: 0o600, flag: 'wx', flush: true })
        renameSync(temporaryFile, join(cacheDirectory, name))
      } finally {
        rmSync(temporaryFile, { force: true })
      }
    }
  } catch {
    // The next start compiles the modules as usual.
  }
}

module.exports = { load, saveCache }
