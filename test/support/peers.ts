import { execFileSync, spawn } from 'node:child_process'
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
  writeFileSync,
} from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import {
  type AddressInfo,
  connect,
  createServer as createPlainServer,
  type Server,
  type Socket,
} from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect } from 'vitest'
import { mergeq, type Outcome, type Setting } from './harness.ts'
import { bareEnvironment, launcher } from './programs.ts'

/** Keeps what the tests of a file or a group open, and closes it when they are over, the last first. */
export function closeAfterTests(): <T extends { close(): unknown }>(one: T) => T {
  const closing: (() => unknown)[] = []
  afterAll(async () => {
    for (const close of closing.toReversed()) await close()
  })
  return one => {
    closing.push(() => one.close())
    return one
  }
}

/** The token of these tests: percent-encoded and in base64 it reads otherwise than raw. */
export const token = 'tok_W1re/Secret+42=='

/** Everything in which the token could show itself: raw, percent-encoded, in base64 wherever it begins in what was encoded. */
const tokenForms: readonly string[] = [token, encodeURIComponent(token)].concat(
  [0, 1, 2].flatMap(shift => {
    const form = Buffer.from(`${'x'.repeat(shift)}${token}`)
      .toString('base64')
      .replace(/=+$/, '')
      .slice(shift === 0 ? 0 : shift + 1, -1)
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
  }),
)

/** The exit codes of CLI.md section 9, and the kinds that go with them. */
const errorKinds: Readonly<Record<number, string>> = {
  0: 'ok',
  1: 'internal',
  2: 'usage',
  3: 'failed',
  4: 'auth',
  5: 'not-found',
  6: 'refused',
  7: 'unavailable',
  8: 'pending',
  10: 'cancelled',
  11: 'unknown-outcome',
  14: 'stale',
  15: 'bad-answer',
  16: 'output',
  17: 'incomplete',
  20: 'differs',
  21: 'check-failed',
  124: 'timed-out',
  129: 'interrupted',
  130: 'interrupted',
  143: 'interrupted',
}

/** What a run said and how it ended. */
export type CommandResult = Pick<Outcome, 'code' | 'out' | 'err'>

/** What a case promises, as far as the general rules of cases.md need to know it. */
export interface ExpectedResult {
  readonly code: number
  /** The format of standard output; `json` with the number of its documents (1 unless said), `bytes` is passed on untouched. */
  readonly format?: 'tsv' | 'table' | 'csv' | 'markdown' | 'ndjson' | 'json' | 'bytes'
  readonly documents?: number
  /** Colours were asked for or the output is a terminal: they are no control characters. */
  readonly colored?: boolean
  /** Standard error goes to nobody or to the same place as standard output. */
  readonly stderrUnread?: boolean
  /** What the sentence of a failure must name. */
  readonly names?: readonly string[]
}

const colors = /\u001B\[[\d;]*m/g
const controls = /[\0-\x08\x0B-\x1F\x7F-\x9F]/
const bidirectional = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/
const internalText =
  /^\s+at .*[:(]\d+|\bundefined\b|\[object Object\]|fetch failed|Unhandled|node:internal|\bTypeError\b/m

/** Judges a run by the general rules of cases.md (1, 3, 4, 5 and 6), and its exit code by the case. */
export function checkGeneralRules(
  { code, out, err }: CommandResult,
  {
    code: due,
    format = 'tsv',
    documents = 1,
    colored = false,
    stderrUnread: mute = false,
    names = [],
  }: ExpectedResult,
): void {
  expect({ code, err: code === due ? '' : err }, 'the exit code').toEqual({ code: due, err: '' })
  expect(Object.keys(errorKinds), 'rule 3').toContain(String(code))
  for (const form of tokenForms) expect(out.includes(form) || err.includes(form), 'rule 1').toBe(false)
  expect(err, 'rule 4').not.toMatch(internalText)
  checkText(err, 'standard error', colored)
  const isJson = format === 'json' || format === 'ndjson'
  if (!isJson && format !== 'bytes') {
    const plain = format === 'tsv' ? out.replaceAll('\t', '') : out
    checkText(format === 'csv' ? plain.replaceAll('\r\n', '\n') : plain, 'standard output', colored)
  }
  if (isJson && out !== '') checkDocuments(out, format === 'ndjson' ? undefined : documents)
  if (!mute && code !== 0 && code < 124) checkFailure(err, code, isJson, names)
}

/** Rule 6. */
function checkText(text: string, where: string, colored: boolean): void {
  const plain = (colored ? text.replaceAll(colors, '') : text).replaceAll('\n', '')
  expect(plain, `rule 6: ${where}`).not.toMatch(controls)
  expect(plain, `rule 6: ${where}`).not.toMatch(bidirectional)
}

/** Rule 5: whole documents; indented, there is one. */
function checkDocuments(out: string, due: number | undefined): void {
  expect(out, 'rule 5').toMatch(/\n$/)
  if (/^[{[]\n/.test(out)) {
    JSON.parse(out)
    return
  }
  const lines = out.slice(0, -1).split('\n')
  for (const line of lines) JSON.parse(line)
  if (due !== undefined) expect(lines, 'rule 5').toHaveLength(due)
}

/** Rule 4. */
function checkFailure(err: string, code: number, isJson: boolean, names: readonly string[]): void {
  if (isJson) {
    const { error } = JSON.parse(err.trimEnd().split('\n').at(-1) ?? '')
    expect(error, 'rule 4').toMatchObject({ exit: code, kind: errorKinds[code] })
    expect(error.message, 'rule 4: a sentence').toMatch(/\S/)
    expect(error.hint, 'rule 4: a hint').toMatch(/\S/)
    for (const name of names) expect(`${error.operation} ${error.message}`, 'rule 4').toContain(name)
    return
  }
  const [, sentence = ''] =
    /(?:^|\n)mergeq: (.+)\n(?: {2}.+\n)+$/.exec(err) ??
    expect.fail(`rule 4: no sentence with a hint ends\n${err}`)
  for (const name of names) expect(sentence, 'rule 4').toContain(name)
}

/** Runs a command line in the harness, with the token and the queue of these tests, and judges it. */
export async function runAndCheck(
  line: string | readonly string[],
  promised: ExpectedResult,
  setting: Setting = {},
): Promise<Outcome> {
  const outcome = await mergeq(line, { ...setting, env: { ...queue, ...setting.env } })
  checkGeneralRules(outcome, promised)
  return outcome
}

const queue = {
  MERGEQ_TOKEN: token,
  MERGEQ_REPO: 'acme/web',
  MERGEQ_TARGET_BRANCH: 'main',
  MERGEQ_ORG: 'acme',
}

/** A folder of one's own with a home, a working folder and a place for temporary files; watched for files that appear. */
export interface TestFolder {
  readonly folder: string
  /** A path in the folder, outside what the program is given. */
  path(name: string): string
  /** Runs the built binary in it; judged by the rules that only a process shows (2 and 8). */
  run(words: readonly string[], options?: RunOptions): Promise<ProcessResult>
  /** Starts the built binary and leaves it running. */
  start(words: readonly string[], options?: RunOptions): RunningProcess
  close(): void
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** A command line for `sh`, in which `"$@"` is mergeq and its words. */
  readonly shell?: string
  readonly input?: string
  /** Standard input is a pipe through which nothing comes, and which does not end. */
  readonly stdinOpen?: boolean
  /** Runs in a real pseudo-terminal of so many columns: all that is written there comes out as `out`, byte for byte. */
  readonly terminal?: number
  /** A descriptor for standard output or standard error, in the place of a pipe that is read. */
  readonly stdout?: number
  readonly stderr?: number
  /** Nobody reads standard output until the end. */
  readonly unread?: boolean
  /** Files may appear (the shell line makes them). */
  readonly createsFiles?: boolean
  /** Milliseconds within which the case says that it ends; rule 2 allows 30 s, and no test waits that long. */
  readonly timeLimit?: number
}

/** How a run ended: 128 and the number of the signal where one ended it, as a shell says it. */
export interface ProcessResult extends CommandResult {
  readonly bytes: Buffer
  readonly milliseconds: number
  /** The moment at which it ended. */
  readonly ended: number
}

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

export interface RunningProcess {
  readonly pid: number
  readonly done: Promise<ProcessResult>
  kill(signal: Signal): void
  /** Types at its terminal. */
  type(keys: string): void
  /** Resolves when standard error (in a terminal, the terminal) holds the text. */
  waitForOutput(text: string | RegExp): Promise<void>
}

/** What a run may take here where its case says nothing: rule 2 allows twice that. */
const defaultTimeLimit = 15_000
const signals: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** Every file below a folder, with its size; what start-up keeps in the cache folder is judged apart. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => !/^\.cache(\/|$)/.test(name))
    .map(name => {
      const stat = lstatSync(join(folder, name))
      return stat.isFile() ? `${name} ${stat.size}` : name
    })
    .sort()

/** Rules 1 and 8 for the cache folder beside the platform's own, if start-up uses one. */
function checkCache(cache: string): void {
  if (!existsSync(cache)) return
  expect(readdirSync(cache), 'rule 8: one cache folder of its own').toEqual(['mergeq'])
  const folder = join(cache, 'mergeq')
  expect(lstatSync(folder).mode & 0o777, 'rule 8: folders are 0700').toBe(0o700)
  for (const name of readdirSync(folder)) {
    expect(lstatSync(join(folder, name)).mode & 0o777, 'rule 8: files are 0600').toBe(0o600)
    expect(name, 'rule 8: no temporary file stays').not.toMatch(/\.\d+$/)
    expect(readFileSync(join(folder, name)).includes(token), 'rule 1: no token in a file').toBe(false)
  }
}

/** Whether a process of the group is still there. */
const isAlive = (group: number): boolean => {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}

/** A word as `sh` takes it. */
const quoteForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** The program and its arguments: mergeq by itself, in a shell line, or in a terminal. */
function commandOf(words: readonly string[], { shell, terminal }: RunOptions): readonly string[] {
  if (terminal === undefined) return shell === undefined ? words : ['sh', '-c', shell, 'sh', ...words]
  const set = `stty -opost -echoctl cols ${terminal} rows 24; set -- ${words.map(quoteForShell).join(' ')}`
  return ['script', '-qefc', `${set}; ${shell ?? 'exec "$@"'}`, '/dev/null']
}

export function openTestFolder(): TestFolder {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-peers-')))
  for (const name of ['home', 'home/tmp', 'work', 'outside']) mkdirSync(join(folder, name))
  const watched = () => [...filesIn(join(folder, 'home')), ...filesIn(join(folder, 'work'))]
  const start: TestFolder['start'] = (words, options = {}) => {
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
    const end = () => isAlive(pid) && process.kill(-pid, 'SIGKILL')
    const { timeLimit: within = defaultTimeLimit } = options
    const timer = setTimeout(end, within)
    const closed = once(child, 'close')
    const done = (async (): Promise<ProcessResult> => {
      const [code, signal] = await once(child, 'exit')
      const ended = Date.now()
      const milliseconds = ended - began
      clearTimeout(timer)
      expect(milliseconds, `rule 2: ends by itself within ${within} ms`).toBeLessThan(within)
      for (let left = 20; left > 0 && isAlive(pid); left--) await pause(25)
      const isLeft = isAlive(pid)
      end()
      expect(isLeft, 'rule 2: a process is left').toBe(false)
      if (options.unread === true) child.stdout?.destroy()
      child.stdin?.destroy()
      await closed
      checkCache(join(folder, 'home', '.cache'))
      if (options.createsFiles !== true) expect(watched(), 'rule 8: files').toEqual(before)
      const exit = code ?? 128 + (signals[signal ?? ''] ?? 0)
      return { code: exit, out: text(out), err: text(err), bytes: Buffer.concat(out), milliseconds, ended }
    })()
    return {
      pid,
      done,
      kill: signal => void child.kill(signal),
      type: keys => void child.stdin?.write(keys),
      async waitForOutput(what) {
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
    path: name => join(folder, 'outside', name),
    start,
    run: (words, options) => start(words, options).done,
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A certificate authority of one's own, made by openssl. */
export interface CertificateAuthority {
  /** Its certificate, as a file and as its text. */
  readonly file: string
  readonly pem: string
  /** A certificate that it signed, for names like `DNS:a.test` or `IP:127.0.0.1`. */
  issue(...names: readonly string[]): Certificate
}

/** A certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes an authority below a folder; `name` keeps several apart. */
export function createCertificateAuthority(
  { path }: Pick<TestFolder, 'path'>,
  name: string,
): CertificateAuthority {
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const [file, keyFile] = [path(`${name}.pem`), path(`${name}.key`)]
  openssl('req', '-x509', ...newKey, '-keyout', keyFile, '-out', file, '-days', '2', '-subj', `/CN=${name}`)
  let issued = 0
  return {
    file,
    pem: readFileSync(file, 'utf8'),
    issue(...names) {
      const at = (ending: string) => path(`${name}-${issued}.${ending}`)
      issued++
      writeFileSync(at('ext'), `subjectAltName=${names.join(',')}\n`)
      openssl('req', ...newKey, '-keyout', at('key'), '-out', at('csr'), '-subj', '/CN=peer')
      const signed = ['-CA', file, '-CAkey', keyFile, '-CAcreateserial', '-days', '2', '-extfile', at('ext')]
      openssl('x509', '-req', '-in', at('csr'), '-out', at('pem'), ...signed)
      return { cert: readFileSync(at('pem'), 'utf8'), key: readFileSync(at('key'), 'utf8') }
    },
  }
}

/** A request as a peer saw it. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Which connection it came on, counted from 1. */
  readonly connection: number
}

/** What a peer answers: nothing is sent for `silence`; `reset` drops the connection. */
export type ServerReply =
  | 'silence'
  | 'reset'
  | {
      readonly status?: number
      readonly reason?: string
      readonly headers?: Readonly<Record<string, string | readonly string[]>>
      readonly body?: string | Uint8Array
      /** Milliseconds before it. */
      readonly delay?: number
    }

/** A server on loopback that remembers who came and what was asked. */
export interface TestServer {
  readonly port: number
  /** The host and the port, as a message names them. */
  readonly host: string
  readonly requests: readonly ReceivedRequest[]
  /** The base address below a host name: `https://name:port/v1`. */
  baseUrl(hostname?: string): string
  /** How many connections were opened. */
  connectionCount(): number
  /** Resolves when so many requests have come. */
  waitForRequests(requests: number): Promise<void>
  close(): Promise<void>
}

export interface TestServerOptions {
  readonly tls?: Certificate
  readonly hostname?: string
  answer(asked: ReceivedRequest, index: number): ServerReply
}

/** Opens a server; with `tls` it speaks https. */
export async function startTestServer({
  tls,
  hostname = '127.0.0.1',
  answer,
}: TestServerOptions): Promise<TestServer> {
  const asked: ReceivedRequest[] = []
  const connections = new Map<Socket, number>()
  const listener: RequestListener = async (request, response) => {
    const pieces: Buffer[] = []
    try {
      for await (const piece of request) pieces.push(piece)
    } catch {
      return
    }
    const one: ReceivedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      body: Buffer.concat(pieces).toString(),
      connection: connections.get(request.socket) ?? 0,
    }
    asked.push(one)
    const answered = answer(one, asked.length - 1)
    if (answered === 'silence') return
    if (answered === 'reset') {
      request.socket.destroy()
      return
    }
    const { status = 200, reason, headers = {}, body = '', delay: after = 0 } = answered
    if (after > 0) await pause(after)
    response.statusMessage = reason ?? ''
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.writeHead(status).end(body)
  }
  const server =
    tls === undefined
      ? createServer(listener)
      : createSecureServer({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] }, listener)
  let opened = 0
  server.on(tls === undefined ? 'connection' : 'secureConnection', socket =>
    connections.set(socket, connections.size + 1),
  )
  server.on('connection', () => opened++)
  const { port, close } = await listening(server, hostname)
  const scheme = tls === undefined ? 'http' : 'https'
  const inAddress = hostname.includes(':') ? `[${hostname}]` : hostname
  return {
    port,
    host: `${inAddress}:${port}`,
    requests: asked,
    baseUrl: (name = inAddress) => `${scheme}://${name}:${port}/v1`,
    connectionCount: () => opened,
    async waitForRequests(requests) {
      while (asked.length < requests) await pause(5)
    },
    close,
  }
}

/** Lets a server listen on a free port, and closes it with all its connections. */
async function listening(
  server: Server,
  hostname: string,
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
  })
  server.listen(0, hostname)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** A port of loopback on which nobody listens. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listening(createPlainServer(), '127.0.0.1')
  await close()
  return port
}

/** A server that answers every connection's first bytes with these, or holds its peace. */
export async function startRawServer(bytes: string | Uint8Array | 'silence' | 'reset') {
  let opened = 0
  const server = createPlainServer(socket => {
    opened++
    socket.once('data', () => {
      if (bytes === 'reset') socket.destroy()
      else if (bytes !== 'silence') socket.end(bytes)
    })
  })
  const { port, close } = await listening(server, '127.0.0.1')
  return { port, host: `127.0.0.1:${port}`, base: `http://127.0.0.1:${port}/v1`, opened: () => opened, close }
}

/** A proxy that was asked to CONNECT: to where, and with which headers. */
export interface ConnectRequest {
  readonly target: string
  readonly headers: ReadonlyMap<string, string>
}

export interface TestProxy {
  readonly host: string
  readonly port: number
  readonly connectRequests: readonly ConnectRequest[]
  /** What came that was no CONNECT: it should be nothing. */
  readonly otherRequests: readonly string[]
  close(): Promise<void>
}

export interface TestProxyOptions {
  /** Where host names (with their port) lead: ports of loopback. */
  readonly routes?: ReadonlyMap<string, number>
  /** The `user:password` without which it answers 407. */
  readonly login?: string
  /** What it answers in the place of connecting. */
  readonly reply?: string | 'silence' | 'reset'
  readonly tls?: Certificate
}

/** Opens a proxy that remembers every CONNECT and maps host names to loopback. */
export async function startTestProxy({
  routes: leads = new Map(),
  login,
  reply: instead,
  tls,
}: TestProxyOptions): Promise<TestProxy> {
  const asked: ConnectRequest[] = []
  const others: string[] = []
  const listener: RequestListener = ({ method, url }, response) => {
    others.push(`${method} ${url}`)
    response.writeHead(501).end()
  }
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    socket.on('error', () => undefined)
    const all = new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    asked.push({ target: url, headers: all })
    const due = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`
    if (instead === 'silence') return
    if (instead === 'reset') socket.destroy()
    else if (instead !== undefined) socket.end(instead)
    else if (due !== undefined && all.get('proxy-authorization') !== due)
      socket.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n',
      )
    else {
      const port = leads.get(url)
      if (port === undefined) {
        socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
        return
      }
      const beyond = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        socket.pipe(beyond).pipe(socket)
      })
      beyond.on('error', () => socket.destroy()).on('close', () => socket.destroy())
      socket.on('close', () => beyond.destroy())
    }
  })
  const { port, close } = await listening(server, '127.0.0.1')
  return { host: `127.0.0.1:${port}`, port, connectRequests: asked, otherRequests: others, close }
}

/**
 * Names as a hosts file would give them: an environment in which the binary finds these hosts at these addresses, and no
 * other. Only the look-up is ours; what connects, and to where, is not.
 */
export function withHostNames(
  { path }: Pick<TestFolder, 'path'>,
  names: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, string>> {
  const file = path(`hosts-${Object.keys(names).join('-')}.cjs`)
  writeFileSync(
    file,
    `const names = new Map(Object.entries(${JSON.stringify(names)}))
require('node:dns').lookup = (hostname, options, callback) => {
  const done = callback ?? options
  const found = (names.get(hostname) ?? []).map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
  const missing = { code: 'ENOTFOUND', errno: -3008, syscall: 'getaddrinfo', hostname }
  process.nextTick(() => {
    if (found.length === 0) done(Object.assign(new Error('getaddrinfo ENOTFOUND ' + hostname), missing))
    else if (options.all === true) done(null, found)
    else done(null, found[0].address, found[0].family)
  })
}
`,
  )
  return { NODE_OPTIONS: `--require ${file}` }
}

/** A terminal that can be looked at: what a person would see in it. */
export interface TmuxScreen {
  /** The lines that hold something, without blanks at their ends. */
  lines(): readonly string[]
  /** A variable of tmux, such as `cursor_flag`, `alternate_on` or `pane_title`. */
  variable(variable: string): string
  /** Presses keys by the names that tmux gives them, such as `C-c` and `Enter`. */
  press(...keys: readonly string[]): void
  /** Gives it another size, as a person does who drags its corner. */
  resize(columns: number, rows: number): void
  /** Resolves when a line matches; fails with what is to be seen after 3 s. */
  waitForLine(line: RegExp): Promise<void>
  close(): void
}

let screens = 0

/** Runs a shell line, in which `"$@"` is mergeq and its words, in a terminal of 24 rows; it stays open at the end. */
export function openTmuxScreen(
  { folder, path }: TestFolder,
  words: readonly string[],
  { env = {}, shell = '"$@"', terminal = 80 }: RunOptions = {},
): TmuxScreen {
  screens++
  const [socket, file] = [path(`tmux-${screens}`), path(`screen-${screens}.sh`)]
  let isClosed = false
  const variables = {
    ...bareEnvironment(join(folder, 'home')),
    ...queue,
    LC_ALL: 'C.UTF-8',
    ...env,
    TERM: 'screen',
  }
  const settings = Object.entries(variables).map(([name, value]) =>
    value === undefined ? `unset ${name}` : `export ${name}=${quoteForShell(value)}`,
  )
  const line = `set -- ${[launcher, ...words].map(quoteForShell).join(' ')}`
  writeFileSync(
    file,
    ['trap : INT', 'stty -echoctl', ...settings, line, shell, 'echo "code $?"', 'exec sleep 60'].join('\n'),
  )
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      // The server hands its environment on: a CI job's own variables must not reach what runs in it.
      env: { ...bareEnvironment(join(folder, 'home')), LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  tmux(
    'new-session',
    '-d',
    '-x',
    String(terminal),
    '-y',
    '24',
    '-c',
    join(folder, 'work'),
    `sh ${quoteForShell(file)}`,
  )
  const lines = () =>
    tmux('capture-pane', '-p')
      .split('\n')
      .map(one => one.trimEnd())
      .filter(one => one !== '')
  return {
    lines,
    variable: variable => tmux('display-message', '-p', `#{${variable}}`).trimEnd(),
    press: (...keys) => void tmux('send-keys', ...keys),
    resize: (columns, rows) => void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    async waitForLine(due) {
      for (let left = 120; left > 0; left--) {
        if (lines().some(one => due.test(one))) return
        await pause(25)
      }
      expect.fail(`no line is ${due} in\n${lines().join('\n')}`)
    },
    close() {
      if (!isClosed) tmux('kill-server')
      isClosed = true
    },
  }
}
