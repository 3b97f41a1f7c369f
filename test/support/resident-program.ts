import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { files } from '../../src/host/files.ts'
import type { Files } from '../../src/host/host.ts'
import { mergeq, type Outcome } from './harness.ts'
import { launcher } from './programs.ts'
import { listening } from './service.ts'

/** The time that passes on this machine. */
const clock = {
  get now() {
    return Date.now()
  },
  set now(_) {
    throw new Error('this clock cannot be set')
  },
  sleep: (ms: number) => pause(ms),
}

/** The files of this machine, as a process with a number and a working folder names them. */
function filesOf(process: number, folder: string): Files {
  const at = (path: string) =>
    resolve(
      folder,
      path.replace(/^\/dev\/fd\//, `/proc/${process}/fd/`).replace(/^\/dev\/stdin$/, `/proc/${process}/fd/0`),
    )
  return {
    stream: (path, interrupted) => files.stream(at(path), interrupted),
    read: (path, maxBytes) => files.read(at(path), maxBytes),
    readOnce: (path, limits) => files.readOnce(at(path), limits),
    openSettings: (path, maxBytes, parse) => files.openSettings(at(path), maxBytes, parse),
    writeSettings: (path, document, format) => files.writeSettings(at(path), document, format),
    exists: path => files.exists(at(path)),
    list: path => files.list(at(path)),
    listBelow: path => files.listBelow(at(path)),
    absolute: at,
    createDirectory: (path, mode) => files.createDirectory(at(path), mode),
    async resolveLink(path) {
      const end = await files.resolveLink(at(path))
      return end === at(path) ? path : end
    },
    mode: path => files.mode(at(path)),
    rename: (from, to) => files.rename(at(from), at(to)),
    replace: (path, text, mode) => files.replace(at(path), text, mode),
    create: (path, text) => files.create(at(path), text),
    version: path => files.version(at(path)),
    remove: path => files.remove(at(path)),
    createTemporary: files.createTemporary,
  }
}

const listOf = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\0').slice(0, -1)

/** Runs the command line of a process that is `bash <program> <words>`. */
async function runFor(process: number, signal: AbortSignal): Promise<Pick<Outcome, 'code' | 'out' | 'err'>> {
  const [, , ...words] = listOf(`/proc/${process}/cmdline`)
  const env = Object.fromEntries(listOf(`/proc/${process}/environ`).map(line => line.split(/=(.*)/s)))
  const folder = readlinkSync(`/proc/${process}/cwd`)
  const own = filesOf(process, folder)
  try {
    return await mergeq(words, {
      env: { MERGEQ_TOKEN: undefined, LANG: undefined, ...env },
      cwd: folder,
      clock,
      signal,
      realFiles: own,
      input: () => own.stream('/dev/stdin', signal),
      spawn(program, args, options) {
        const { status, stdout } = spawnSync(program, args, {
          cwd: folder,
          env: options.env,
          encoding: 'utf8',
        })
        return { code: status ?? 127, out: stdout ?? '' }
      },
    })
  } catch (error) {
    return { code: 99, out: '', err: `${error}\n` }
  }
}

/** The first words of command lines that need nothing of a process of their own. */
const firstWords = 'pr|queue|flaky|metrics|api|guard|--version'

/**
 * Writes a program `mergeq` for the scripts of tests. This process runs most of its commands, with the words, the
 * environment, the folder and the input of the program: a start of Node takes ten times as long. All others, and those of
 * a machine without Linux, are run by the launcher.
 *
 * @param folder a folder for the program and what it prints
 */
export async function writeResidentProgram(folder: string): Promise<void> {
  let runs = 0
  const serve = async (socket: Socket) => {
    const controller = new AbortController()
    socket
      .on('error', () => undefined)
      .on('close', () => controller.abort(new Error('the program was ended')))
    const [line] = await once(socket, 'data')
    const { code, out, err } = await runFor(Number(line), controller.signal)
    const base = join(folder, `.run-${process.pid}-${runs++}`)
    writeFileSync(`${base}.out`, out)
    writeFileSync(`${base}.err`, err)
    socket.end(`${code} ${base}\n`)
  }
  const server = createServer(serve)
  const { port } = await listening(server, '127.0.0.1')
  server.unref()
  const real = `exec '${launcher}' "$@"`
  const script =
    process.platform === 'linux'
      ? `#!/usr/bin/env bash
case $1 in ${firstWords}) ;; *) ${real} ;; esac
exec 3<>/dev/tcp/127.0.0.1/${port} || exit 98
echo $$ >&3
read -r -u 3 code base || exit 98
cat "$base.out"
cat "$base.err" >&2
rm "$base.out" "$base.err"
exit "$code"`
      : `#!/bin/sh\n${real}`
  writeFileSync(join(folder, 'mergeq'), `${script}\n`, { mode: 0o755 })
}
