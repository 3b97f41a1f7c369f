import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { type CommandResult, queue, token } from './command-checks.ts'
import { bareEnvironment, launcher, sharedCache } from './programs.ts'

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** A command line for `sh`, in which `"$@"` is mergeq and its words. */
  readonly shell?: string
  readonly input?: string
  /** Standard input is a pipe through which nothing comes, and which does not end. */
  readonly stdinOpen?: boolean
  /**
   * Runs in a real pseudo-terminal of so many columns: all that is written there comes out as `out`, byte for
   * byte.
   */
  readonly terminal?: number
  /** A descriptor for standard output or standard error, in the place of a pipe that is read. */
  readonly stdout?: number
  readonly stderr?: number
  /** Nobody reads standard output until the end. */
  readonly unread?: boolean
  /** Milliseconds within which the process must end. */
  readonly timeLimit?: number
}

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** The default time limit of a run, in milliseconds. */
const defaultTimeLimit = 15_000

const signals: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** Every file below a folder, with its size. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => {
      const stat = lstatSync(join(folder, name))
      return stat.isFile() ? `${name} ${stat.size}` : name
    })
    .sort()

/** The files of the code cache that were checked. */
const checked = new Set<string>()

/**
 * Checks the permissions of the cache folder that all homes share, and that it holds no token and no temporary file but
 * those of other processes that run now.
 */
function checkCache(): void {
  if (!existsSync(sharedCache)) return
  expect(readdirSync(sharedCache), 'one cache folder of its own').toEqual(['mergeq'])
  const folder = join(sharedCache, 'mergeq')
  expect(lstatSync(folder).mode & 0o777, 'folders are 0700').toBe(0o700)
  for (const name of readdirSync(folder).filter(name => !checked.has(name))) {
    const path = join(folder, name)
    const [, writer] = /\.(\d+)$/.exec(name) ?? []
    if (writer !== undefined) {
      const isLeft = !isAlive(Number(writer)) && existsSync(path)
      expect({ name, isLeft }, 'no temporary file stays').toEqual({ name, isLeft: false })
      continue
    }
    expect(lstatSync(path).mode & 0o777, 'files are 0600').toBe(0o600)
    expect(readFileSync(path).includes(token), 'no token in a file').toBe(false)
    checked.add(name)
  }
}

/** Whether a process, or with a negative number a process of the group, is still there. */
const isAlive = (id: number): boolean => {
  try {
    return process.kill(id, 0)
  } catch {
    return false
  }
}

/** A word as `sh` takes it. */
export const quoteForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** The program and its arguments: mergeq by itself, in a shell line, or in a terminal. */
function commandOf(words: readonly string[], { shell, terminal }: RunOptions): readonly string[] {
  if (terminal === undefined) return shell === undefined ? words : ['sh', '-c', shell, 'sh', ...words]
  const set = `stty -opost -echoctl cols ${terminal} rows 24; set -- ${words.map(quoteForShell).join(' ')}`
  return ['script', '-qefc', `${set}; ${shell ?? 'exec "$@"'}`, '/dev/null']
}

/** A temporary folder with a home, a working folder and a folder for temporary files; new files are found. */
export type TestFolder = ReturnType<typeof openTestFolder>

export function openTestFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-peers-')))
  for (const name of ['home', 'home/tmp', 'work', 'outside']) mkdirSync(join(folder, name))
  const watched = () => [...filesIn(join(folder, 'home')), ...filesIn(join(folder, 'work'))]
  /** Starts the built binary and leaves it running. */
  const start = (words: readonly string[], options: RunOptions = {}) => {
    const before = watched()
    const began = Date.now()
    const [program = '', ...args] = commandOf([launcher, ...words], options)
    const isOpen = options.stdinOpen === true || options.terminal !== undefined
    const child = spawn(program, args, {
      cwd: join(folder, 'work'),
      env: {
        ...bareEnvironment(join(folder, 'home')),
        TMPDIR: join(folder, 'home', 'tmp'),
        ...queue,
        ...options.env,
      },
      // A process group of its own tells whether anything is left of it.
      detached: true,
      stdio: [
        options.input === undefined && !isOpen ? 'ignore' : 'pipe',
        options.stdout ?? 'pipe',
        options.stderr ?? 'pipe',
      ],
    })
    const pid = child.pid ?? 0
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    if (options.unread !== true) child.stdout?.on('data', piece => out.push(piece))
    child.stderr?.on('data', piece => err.push(piece))
    child.stdin?.on('error', () => undefined)
    if (!isOpen) child.stdin?.end(options.input)
    const text = (pieces: readonly Buffer[]) => Buffer.concat(pieces).toString()
    const end = () => isAlive(-pid) && process.kill(-pid, 'SIGKILL')
    const { timeLimit: within = defaultTimeLimit } = options
    const timer = setTimeout(end, within)
    const closed = once(child, 'close')
    const done = (async (): Promise<CommandResult & { readonly ended: number }> => {
      const [code, signal] = await once(child, 'exit')
      const ended = Date.now()
      const milliseconds = ended - began
      clearTimeout(timer)
      expect(milliseconds, `ends by itself within ${within} ms`).toBeLessThan(within)
      for (let left = 20; left > 0 && isAlive(-pid); left--) await pause(25)
      const isLeft = isAlive(-pid)
      end()
      expect(isLeft, 'a process is left').toBe(false)
      if (options.unread === true) child.stdout?.destroy()
      child.stdin?.destroy()
      await closed
      checkCache()
      expect(watched(), 'files').toEqual(before)
      // As a shell says it: 128 and the number of the signal where one ended it.
      const exit = code ?? 128 + (signals[signal ?? ''] ?? 0)
      return { code: exit, out: text(out), err: text(err), ended }
    })()
    return {
      done,
      kill: (signal: Signal) => void child.kill(signal),
      /** Resolves when standard error (in a terminal, the terminal) holds the text. */
      async waitForOutput(what: string | RegExp) {
        const said = () => text(options.terminal === undefined ? err : out)
        const isSaid = () => (typeof what === 'string' ? said().includes(what) : what.test(said()))
        while (!isSaid()) {
          if (child.exitCode !== null) expect.fail(`it never said ${what}, but\n${said()}`)
          await pause(10)
        }
      },
    }
  }
  return {
    folder,
    /** A path in the folder, outside what the program is given. */
    path: (name: string) => join(folder, 'outside', name),
    start,
    /** Runs the built binary in it; checks that it ends in time and leaves no process or file behind. */
    run: (words: readonly string[], options?: RunOptions) => start(words, options).done,
    // A shell that has just ended may still be writing its history.
    close: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  }
}
