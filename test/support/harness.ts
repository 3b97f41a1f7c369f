import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, onTestFinished, TestRunner } from 'vitest'
import { operationName } from '../../src/api/operation.ts'
import { getMergeQueueMetrics } from '../../src/api/operations/metrics.ts'
import { getQueue } from '../../src/api/operations/queues.ts'
import { documentCommand } from '../../src/cli/command-doc.ts'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { runMergeq } from '../../src/cli/program.ts'
import type { RegisteredCommand } from '../../src/command/command.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { files as realFiles } from '../../src/host/files.ts'
import type { CapturedResult, Environment, Files, Host } from '../../src/host/host.ts'
import { windowsEnvironment } from '../../src/host/host.ts'
import { lockPath } from '../../src/host/lock.ts'
// A command may end while it loads the spinner; a file that ended before this import would fail the run.
import '../../src/output/spinner.ts'
import { createSandboxService, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts'
import { allCommands } from './commands.ts'
import { type InProcessRequest, serveInProcess } from './in-process.ts'
import { type Answer, type ReceivedRequest, type Script, startTestServer } from './service.ts'

export type { Answer, Script }

/** A request as the service saw it. */
export type Seen = Omit<ReceivedRequest, 'connection'>

/** A service on loopback that answers by script and records its requests. */
export type Service = Awaited<ReturnType<typeof serveScript>>

let usesConnections = false

/** In a file that calls this, services of the harness receive every request over a connection. */
export function useConnections(): void {
  beforeAll(() => {
    usesConnections = true
  })
  afterAll(() => {
    usesConnections = false
  })
}

/** A service that knows nothing of what is asked for: the metrics answer in other words than the other operations. */
export const knowingNothing: Script = ({ path }) => ({
  status: 404,
  body: path.includes('Metrics') ? 'no metrics' : 'Not Found',
})

export async function serveScript(answer: Script) {
  const { baseUrl, requests, close } = await startTestServer({ answer, isInProcess: !usesConnections })
  return { baseUrl: baseUrl(), requests, close }
}

/** The simulated host of a run. By default it has no terminal, no input and an empty environment. */
export interface Setting {
  /** Variables besides those of every run; undefined removes one. */
  readonly env?: Environment
  readonly terminal?: boolean
  /** Standard error is a terminal that can be written over: long work shows a spinner. */
  readonly redraws?: boolean
  readonly columns?: number
  /** The keys that are pressed, one at each sleep, where a command listens to them. */
  readonly keys?: readonly string[]
  /** What standard input holds: a pipe, unless it is left out. */
  readonly input?: string | Uint8Array
  /** Nothing comes through standard input, and it does not end. */
  readonly inputStaysOpen?: boolean
  readonly inputTerminal?: boolean
  /** What a person types at prompts, in order. */
  readonly typed?: readonly string[]
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Files that can be changed; what several command lines share. They stand before `files`. */
  readonly disk?: Map<string, string>
  /** Files are those of this machine, or these, in the place of `files` and `disk`. */
  readonly realFiles?: boolean | Files
  /** The working folder; `/repo` by default. */
  readonly cwd?: string
  /** The platform; Linux by default. */
  readonly platform?: string
  /** The permission bits of the settings file. */
  readonly modes?: Readonly<Record<string, number>>
  /** The settings of the machine; they belong to root, with mode 644. */
  readonly machine?: { readonly text: string; readonly owner?: number; readonly mode?: number }
  /** Called before each change of a file or folder; what it throws is the answer of the disk. */
  readonly onChange?: (how: string, path: string) => void
  readonly now?: number
  /**
   * A clock that several command lines share; it takes the place of `now`. Its `sleep` lets time pass side by
   * side.
   */
  readonly clock?: { now: number; sleep?(ms: number): Promise<void> }
  readonly answer?: Script
  /** Takes the place of every program that is started, git included. */
  readonly spawn?: (
    program: string,
    args: readonly string[],
    options: { readonly env: Environment; readonly timeout?: number },
  ) => CapturedResult
  readonly signal?: AbortSignal
  /** Called with each URL that is opened in a browser; what it throws is the error of the browser. */
  readonly openUrl?: (url: string) => void
  /** Whether standard output is a terminal that has links. */
  readonly hasLinks?: boolean
  /** Receives what a terminal shows: both outputs in their order, and what a person types at prompts. */
  readonly screen?: string[]
}

/** The result of one command line. */
export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly requests: readonly ReceivedRequest[]
  /** The sleeps that were asked of the clock, in milliseconds. */
  readonly sleeps: readonly number[]
}

/** 2026-01-05T12:00:00Z, the moment of every test that does not say another. */
export const noon = Date.UTC(2026, 0, 5, 12)

/** The file with the settings of the machine. */
const machineFile = '/etc/mergeq/config.json'

/** The queue and the organization of most tests, for command lines that name none. */
export const queueEnv = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme' }

/** Splits a line into words as a shell does: at blanks outside single and double quotes. */
export const splitWords = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, one, two) => one ?? two),
  )

const writes = new WeakMap<object, Map<string, number>>()

/** How often each file of a disk was replaced: then it is another file, even with the same text. */
function writesOf(disk: object = writes): Map<string, number> {
  const counts = writes.get(disk) ?? new Map<string, number>()
  writes.set(disk, counts)
  return counts
}

/** Runs a command line (without the program's name) on a simulated host, and returns all its output. */
export async function mergeq(line: string | readonly string[], setting: Setting = {}): Promise<Outcome> {
  const service = setting.answer === undefined ? undefined : await serveScript(setting.answer)
  const [out, err, sleeps]: [string[], string[], number[]] = [[], [], []]
  const decoder = new TextDecoder()
  const sink = (pieces: string[], terminal: boolean) => ({
    terminal,
    columns: setting.columns ?? 80,
    rows: 24,
    write: async (text: string | Uint8Array) => {
      const piece = typeof text === 'string' ? text : decoder.decode(text)
      pieces.push(piece)
      setting.screen?.push(piece)
    },
  })
  const clock = setting.clock ?? { now: setting.now ?? noon }
  let unread = setting.input
  const typed = [...(setting.typed ?? [])]
  const keys = [...(setting.keys ?? [])]
  let press: ((key: string) => void) | undefined
  const separator = setting.platform === 'win32' ? '\\' : '/'
  const folder = setting.cwd ?? '/repo'
  const fileAt = (path: string) => {
    const below = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
    return [path, below]
      .map(name => setting.disk?.get(name) ?? setting.files?.[name])
      .find(text => text !== undefined)
  }
  const list = async (folder: string) => {
    const names = [...(setting.disk?.keys() ?? []), ...Object.keys(setting.files ?? {})].flatMap(path =>
      path.startsWith(`${folder}${separator}`) ? [path.slice(folder.length + 1)] : [],
    )
    return names.length === 0 ? undefined : names
  }
  const bytes = (text: string | Uint8Array) =>
    typeof text === 'string' ? new TextEncoder().encode(text) : text
  const readFile = async (path: string) => {
    const text = fileAt(path)
    return text === undefined ? undefined : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes(text))
  }
  const variables = {
    // It begins like no other text: what may be a token is compared with it character by character.
    MERGEQ_TOKEN: 'qj7-token',
    LANG: 'C.UTF-8',
    ...(service === undefined ? {} : { MERGEQ_BASE_URL: service.baseUrl }),
    ...setting.env,
  }
  const host: Host = {
    argv: typeof line === 'string' ? splitWords(line) : line,
    env: setting.platform === 'win32' ? windowsEnvironment(variables) : variables,
    cwd: folder,
    runtime: {
      version: '0.0.0-test',
      node: process.versions.node,
      platform: setting.platform ?? 'linux',
      nullDevice: '/dev/null',
    },
    clock: {
      now: () => clock.now,
      monotonic: () => clock.now,
      sleep: async (ms, signal) => {
        if (signal?.aborted) throw signal.reason
        const key = press === undefined ? undefined : keys.shift()
        if (key !== undefined) press?.(key)
        if (signal?.aborted) throw signal.reason
        sleeps.push(ms)
        if (clock.sleep !== undefined) {
          await clock.sleep(ms)
          if (signal?.aborted) throw signal.reason
          return
        }
        clock.now += ms
        await new Promise(resolve => setImmediate(resolve))
      },
    },
    random: () => 0.5,
    input: {
      terminal: setting.inputTerminal ?? false,
      isStream: setting.input !== undefined || setting.inputStaysOpen === true,
      // As with a real standard input, what was read is gone.
      async *read(limit) {
        if (setting.inputStaysOpen === true) {
          if (limit === undefined) throw new Error('standard input does not end, and there is no limit')
          clock.now += limit.time
          throw limit.over()
        }
        const rest = unread
        unread = undefined
        if (rest !== undefined) yield bytes(rest)
      },
      ask: async (question, hidden) => {
        err.push(question)
        const line = typed.shift()
        setting.screen?.push(`${question}${hidden === true ? '' : (line ?? '')}\n`)
        return line
      },
    },
    watchTerminal: async events => {
      press = events.press
      return () => {
        press = undefined
      }
    },
    out: { ...sink(out, setting.terminal ?? false), hasLinks: async () => setting.hasLinks ?? false },
    err: { ...sink(err, setting.terminal ?? false), canRedraw: setting.redraws ?? false },
    files: {
      async *stream(path) {
        const text = fileAt(path)
        if (text === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' })
        yield bytes(text)
      },
      read: readFile,
      readOnce: readFile,
      openSettings: async (path, _, parse) => {
        const { text, ...rest } =
          path === machineFile
            ? { ...setting.machine }
            : { text: await readFile(path), mode: setting.modes?.[path] ?? 0o600 }
        if (text === undefined) return undefined
        const store = parse(text)
        return { get: member => store[member], store, owner: 0, mode: 0o644, ...rest }
      },
      replaceSettings: async () => {
        throw new Error('read-only file system')
      },
      exists: async path =>
        path === machineFile ? setting.machine !== undefined : fileAt(path) !== undefined,
      listBelow: list,
      absolute: path => resolve(folder, path),
      createDirectory: async path => setting.onChange?.('createDirectory', path),
      resolveLink: async path => path,
      replace: async (path, text) => {
        setting.onChange?.('replace', path)
        if (setting.disk === undefined) throw new Error('read-only file system')
        setting.disk.set(path, text)
        const counts = writesOf(setting.disk)
        counts.set(path, (counts.get(path) ?? 0) + 1)
      },
      create: async (path, text) => {
        setting.onChange?.('create', path)
        if (setting.disk === undefined) throw new Error('read-only file system')
        if (setting.disk.has(path)) throw Object.assign(new Error('file already exists'), { code: 'EEXIST' })
        setting.disk.set(path, text)
      },
      version: async path => {
        const text = fileAt(path)
        return text === undefined ? undefined : `${writesOf(setting.disk).get(path) ?? 0} ${text}`
      },
      remove: async path => {
        setting.onChange?.('remove', path)
        setting.disk?.delete(path)
      },
      createTemporary: async () => ({ path: '/tmp/mergeq-1', remove: async () => undefined }),
    },
    machineFile: setting.realFiles ? undefined : machineFile,
    lock: async path => {
      setting.onChange?.('lock', path)
      if (setting.disk?.has(`${path}.lock`)) return undefined
      setting.disk?.set(`${path}.lock`, '')
      return async () => {
        setting.disk?.delete(`${path}.lock`)
      }
    },
    interrupted: setting.signal ?? new AbortController().signal,
    openUrl: async url => setting.openUrl?.(url),
    git: async (args, options) => setting.spawn?.('git', args, options) ?? { code: 127, out: '' },
    readLine: async (words, options) => {
      const result = setting.spawn?.(words[0] ?? '', words.slice(1), options)
      if (result === undefined) return { code: 127, out: '', startError: 'ENOENT' }
      return { ...result, out: result.out.split('\n', 1)[0] ?? '' }
    },
    runProgram: async (program, args, options) => {
      const result = setting.spawn?.(program, args, options)
      await options.output?.read(Readable.from([bytes(result?.out ?? '')]))
      return result ?? { code: 127, startError: 'ENOENT' }
    },
  }
  try {
    const files = setting.realFiles === true ? realFiles : setting.realFiles || undefined
    const lock: Host['lock'] = (path, stale) => lockPath(files?.absolute(path) ?? path, stale)
    const code = await runMergeq(files === undefined ? host : { ...host, files, lock }, commandGroups)
    showIfTestFails(`$ mergeq ${host.argv.join(' ')}\n${err.join('').slice(0, 2_000)}exit ${code}`)
    await checkExitCodeInHelp(host, code)
    await checkDeclared(host, service?.requests ?? [])
    return { code, out: out.join(''), err: err.join(''), requests: service?.requests ?? [], sleeps }
  } finally {
    await service?.close()
  }
}

let lastRun = ''
const testsWithRuns = new WeakSet<object>()

/** Prints the last command line of a test, its standard error and its exit code where the test fails. */
function showIfTestFails(run: string): void {
  lastRun = run
  // Generators use the harness without a test.
  const test = TestRunner.getCurrentTest()
  if (test === undefined || testsWithRuns.has(test)) return
  testsWithRuns.add(test)
  test.context.onTestFailed(() => {
    process.stderr.write(`${lastRun}\n`)
  })
}

/** The exit codes that the help of each command names; undefined where it names none. */
const documentedExitCodes = new Map(
  allCommands.map(each => [each.command, documentCommand(each).exitCodes] as const),
)

if ([...documentedExitCodes.values()].some(codes => codes?.includes(0) === false))
  throw new Error('The help of every command names the exit code 0.')

/** Fails where a command ended with an exit code that its help does not name; 0 is checked above. */
async function checkExitCodeInHelp(host: Host, code: number): Promise<void> {
  const command = code === 0 ? undefined : await findCommand(host)
  if (command !== undefined && documentedExitCodes.get(command.command)?.includes(code) === false)
    throw new Error(
      `\`mergeq ${command.command}\` ended with ${code}, which its help does not name (\`exitKinds\`).`,
    )
}

/** What any command may send: after a 404, it finds out whether the queue exists. */
const sentAfterMissing = [getQueue, getMergeQueueMetrics]

/** Fails where a command sent an operation that it does not declare, and that recovers none of its changes. */
async function checkDeclared(host: Host, requests: readonly Seen[]): Promise<void> {
  const command = requests.length === 0 ? undefined : await findCommand(host)
  if (command === undefined || command.operations === 'any') return
  const recovering = command.operations.flatMap(({ change }) => change?.recovery.readBack?.operation ?? [])
  const declared = [...command.operations, ...recovering, ...sentAfterMissing]
  const names = declared.map(({ route }) => `/${operationName(route)}`)
  const other = requests.find(({ path }) => !names.some(name => path.replace(/\?.*/, '').endsWith(name)))
  if (other !== undefined)
    throw new Error(`\`mergeq ${command.command}\` sent ${other.path}: add it to \`alsoSends\`.`)
}

const commandsByName = new Map(allCommands.map(each => [each.command, each]))

/** Returns the command that ran. Most command lines begin with its name: the others are parsed again. */
async function findCommand({ argv }: Host): Promise<RegisteredCommand | undefined> {
  const [group = '', verb] = argv
  const named = commandsByName.get(`${group} ${verb}`) ?? commandsByName.get(group)
  if (named !== undefined) return named
  const { asksFor, command } = await parseCommandLine(argv, commandGroups)
  return asksFor === 'run' ? command : undefined
}

/** A clock that moves by a millisecond with each reading. */
export const tickingClock = (time = noon): { now: number } => ({
  get now() {
    return time++
  },
  set now(later) {
    time = later
  },
})

/** A sandbox and a clock that several command lines share. */
export type Story = Awaited<ReturnType<typeof openStory>>

/** Starts a sandbox with a simulated clock: time passes only where a command sleeps. It ends with its test. */
export async function openStory(options: Omit<SandboxOptions, 'now'> = {}) {
  const clock = { now: noon }
  const all = { ...options, now: () => clock.now }
  const service = createSandboxService(all)
  const sandbox = await startSandbox(all, service)
  const received: InProcessRequest[] = []
  const answer = (request: InProcessRequest) => {
    received.push(request)
    const { pathname: path, searchParams } = new URL(request.path, sandbox.baseUrl)
    return service.handle({ ...request, path, query: new Map(searchParams) })
  }
  const stop = usesConnections
    ? undefined
    : serveInProcess(new URL(sandbox.baseUrl).origin, async request => answer(request))
  const env = {
    MERGEQ_BASE_URL: sandbox.baseUrl,
    MERGEQ_TOKEN: sandbox.token,
    MERGEQ_REPO: 'acme/web',
    MERGEQ_TARGET_BRANCH: 'main',
    MERGEQ_ORG: sandbox.org,
  }
  const close = async () => {
    stop?.()
    await sandbox.close()
  }
  // Outside of tests, who opened it closes it.
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(close)
  return {
    clock,
    /** The environment in which commands reach the sandbox. */
    env,
    /** Runs a command line against the sandbox, in its environment. */
    mergeq: (line: string, setting: Setting = {}) =>
      mergeq(line, { ...setting, clock, env: { ...env, ...setting.env } }),
    /** The answer of the sandbox to a request, without a connection. */
    answer,
    /** The requests that it answered. */
    received,
    close,
  }
}
