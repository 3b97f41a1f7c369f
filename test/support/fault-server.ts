import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createNet, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { execa } from 'execa'
import { expect } from 'vitest'
import { mergeq, noon, type Outcome, type Setting, splitWords } from './harness.ts'
import { bareEnvironment, launcher } from './programs.ts'

/**
 * A service that misbehaves on request: real sockets on loopback, scripted by operation and by number of request. It
 * plays a tiny queue, so that a change is really applied or not, and remembers every request byte for byte.
 */
export interface FaultServer {
  readonly origin: string
  readonly baseUrl: string
  /** Host and port, as messages name them. */
  readonly host: string
  /** Every request that arrived, also one that was cut. */
  readonly log: readonly LoggedRequest[]
  /** Every change that really took effect, in order. */
  readonly applied: readonly Effect[]
  /** How many connections were ever accepted. */
  readonly connections: number
  /** The clock that the service goes by; `run` gives it to the command line, too. */
  readonly clock: TestClock
  readonly data: QueueData
  /** Lets so much time pass that every late effect has come. */
  applyLateEffects(): void
  /** Refuses connections from now on, and breaks those that stand. */
  refuseConnections(): void
  /** Takes connections again, on the same port. */
  acceptConnections(): void
  close(): Promise<void>
}

/** A request as it arrived. */
export interface LoggedRequest {
  /** Its number among all requests, and among those of its operation, both from 0. */
  readonly number: number
  readonly nth: number
  /** The path without `/v1/` and the query: `submitPullRequest`. */
  readonly operation: string
  /** Milliseconds of real time, and of the test's clock. */
  readonly realTime: number
  readonly clock: number
  /** The number of its connection, and its place on it, both from 0. */
  readonly socket: number
  readonly nthOnSocket: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The exact bytes of the body, as far as they came. */
  readonly body: Buffer
  /** Whether the body came to its end. */
  readonly isComplete: boolean
}

/** A change that took effect. */
export interface Effect {
  readonly operation: string
  readonly clock: number
  readonly body: Json
}

type Json = Readonly<Record<string, unknown>>

/** What the tiny service holds. */
export interface QueueData {
  readonly pulls: Map<number, Json>
  queue: Json | undefined
  readonly targets: Map<number, unknown>
  /** Milliseconds since 1970 by the service's own clock. */
  now(): number
}

/** An answer: what status, headers and body the client gets to see. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** What a way of answering works with. */
export interface Exchange {
  readonly request: LoggedRequest
  readonly response: ServerResponse
  readonly socket: Socket
  /** What lies below the encryption; without TLS, the socket itself. */
  readonly raw: Socket
  /** What the service would answer if it worked. */
  readonly normalReply: Reply
  /** The `Date` of the answer. */
  readonly date: string
}

/** A way of answering, or of failing to. */
export type Responder = (exchange: Exchange) => void

/** What the server does with one request. */
export interface Behavior {
  /** When a change takes effect: never, before it is answered, or so many milliseconds later. */
  readonly effect: 'never' | 'now' | number
  readonly respond: Responder
  /** Waits so many real milliseconds before it reads the body. */
  readonly delayBeforeBody?: number
  /** Breaks the connection after so many bytes of the body. */
  readonly cutUploadAt?: number
  /** Milliseconds that pass before the answer is made, and between its `Date` and the answer. */
  readonly delayBeforeReply?: number
  readonly delayAfterDate?: number
  /** Happens once the answer has been made, before it is sent. */
  readonly beforeReply?: (server: FaultServer) => void
  /** Nothing listens any more once this has been answered. */
  readonly closesPort?: boolean
}

/** By operation: one act for every request, or acts by number of request, after which the service works. */
export type Script =
  | Readonly<Record<string, Behavior | readonly Behavior[]>>
  | ((request: LoggedRequest, server: FaultServer) => Behavior | undefined)

/** A clock that moves only when it is told to, and says when it does. */
export interface TestClock {
  now: number
  onChange(listener: () => void): void
}

export interface FaultServerOptions {
  readonly script?: Script
  readonly pulls?: Readonly<Record<number, Json>>
  /** The queue of the branch; `null` where there is none. Without it there is an empty one. */
  readonly queue?: Json | null
  /** Answers of reads that the tiny service does not play. */
  readonly documents?: Readonly<Record<string, Reply>>
  /** How far the service's clock is ahead of the client's, in milliseconds. */
  readonly skew?: number
  /** Refuses connections until the clock has turned so often. */
  readonly opensAfter?: number
  /** Written as soon as a connection stands; what the client says is then ignored. */
  readonly greeting?: string
  /** Speaks TLS with this key and certificate, as PEM. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

// Ways of answering.

const write = ({ response, date }: Exchange, { status, headers = {}, body = '' }: Reply): void => {
  const bytes = Buffer.from(body)
  response.writeHead(status, {
    date,
    ...(status === 204 || status === 304 ? {} : { 'content-length': bytes.length }),
    ...headers,
  })
  response.end(bytes)
}

/** As the service answers when it works. */
export const respondNormally: Responder = exchange => write(exchange, exchange.normalReply)

/** The same, without a `Date`. */
export const withoutDate: Responder = ({ response, normalReply: { status, body = '' } }) => {
  response.sendDate = false
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** This answer, whatever the service would say. */
export const respondWith =
  (
    status: number,
    body: string | Uint8Array = '',
    headers: Readonly<Record<string, string>> = {},
  ): Responder =>
  exchange =>
    write(exchange, { status, body, headers })

/** The connection is reset: RST, no answer. */
export const resetConnection: Responder = ({ raw }) => {
  raw.resetAndDestroy()
}

/** The connection is closed in good form, without an answer. */
export const closeConnection: Responder = ({ socket }) => {
  socket.end()
}

/** Nothing ever comes. */
export const neverRespond: Responder = () => undefined

/** The head promises the whole answer; half of the body comes, then the end. */
export const truncateBody: Responder = ({ response, socket, normalReply, date }) => {
  const bytes = Buffer.from(normalReply.body ?? '')
  response.writeHead(normalReply.status, {
    date,
    'content-length': Math.max(bytes.length, 2),
    ...normalReply.headers,
  })
  response.flushHeaders()
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => socket.end())
}

/** The answer comes in these pieces, so many real milliseconds apart, and then the connection is reset. */
export const resetAfterBytes =
  (reply: Reply, after: number): Responder =>
  ({ response, raw, date }) => {
    const bytes = Buffer.from(reply.body ?? '')
    response.writeHead(reply.status, { date, 'content-length': bytes.length, ...reply.headers })
    response.write(bytes.subarray(0, after), () => setTimeout(() => raw.resetAndDestroy(), 20))
  }

/** One byte of a valid answer each so many real milliseconds. */
export const respondByteByByte =
  (body: string, every: number): Responder =>
  ({ response, socket, date }) => {
    response.writeHead(200, { date, 'content-length': Buffer.byteLength(body) })
    let at = 0
    const timer = setInterval(() => {
      if (at < body.length) response.write(body[at++])
      else {
        clearInterval(timer)
        response.end()
      }
    }, every)
    socket.once('close', () => clearInterval(timer))
  }

/** These bytes, past the HTTP library; then the end. */
export const writeRaw =
  (...pieces: readonly (string | Uint8Array)[]): Responder =>
  ({ socket }) => {
    for (const piece of pieces) socket.write(piece)
    socket.end()
  }

/** Over TLS: a record that cannot be decrypted, where an answer was due; then the end. */
export const sendBrokenTlsRecord: Responder = ({ raw }) => {
  raw.write(Buffer.from([0x17, 3, 3, 0, 64, ...Array.from({ length: 64 }, () => 1)]))
  setTimeout(() => raw.end(), 20)
}

/** A body that goes on for as long as it is read. */
export const respondEndlessly: Responder = ({ response, socket, date }) => {
  const piece = Buffer.alloc(1024 * 1024, ' ')
  response.writeHead(200, { date, 'content-type': 'application/json' })
  response.write('{"tests":[')
  const more = () => {
    while (!socket.destroyed && response.write(piece));
  }
  response.on('drain', more)
  more()
}

/** So many MiB in very few bytes of gzip. */
export const respondWithGzipBomb = (mebibytes: number): Responder => {
  const member = gzipSync(Buffer.alloc(1024 * 1024, ' '))
  const bytes = Buffer.concat(Array.from({ length: mebibytes }, () => member))
  return respondWith(200, bytes, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
}

// Acts.

/** Works as it should. */
export const normalBehavior: Behavior = { effect: 'now', respond: respondNormally }
/** Does nothing and answers so. */
export const withoutEffect = (show: Responder): Behavior => ({ effect: 'never', respond: show })
/** Takes effect, and answers so. */
export const withEffect = (show: Responder): Behavior => ({ effect: 'now', respond: show })
/** Takes effect so many milliseconds later, and answers so now. */
export const withLateEffect = (milliseconds: number, show: Responder): Behavior => ({
  effect: milliseconds,
  respond: show,
})

// The tiny service.

const priorityValues = new Map([
  ['urgent', 0],
  ['high', 10],
  ['medium', 100],
  ['low', 200],
])

/** A record as the service tells it, a submitted one unless said otherwise. */
export const pullRequest = (number: number, more: Json = {}): Json => ({
  id: `entry-${number}`,
  state: 'pending',
  stateChangedAt: iso(noon - 3_600_000),
  priorityValue: 100,
  priorityName: 'medium',
  skipTheLine: false,
  isCurrentlySubmittedToQueue: true,
  noBatch: false,
  prNumber: number,
  prTitle: `Change ${number}`,
  ...more,
})

/** The service's dates count whole seconds. */
export const iso = (time: number): string =>
  new Date(Math.floor(time / 1_000) * 1_000).toISOString().replace(/\.\d+Z$/, '.000Z')

export const emptyQueue: Json = {
  state: 'running',
  mode: 'single',
  concurrency: 1,
  batch: false,
  requiredStatuses: [],
  branch: 'main',
}

const notFound: Reply = { status: 404, body: 'Not Found' }
const ok: Reply = { status: 200, body: 'OK' }
const asJson = (document: unknown): Reply => ({
  status: 200,
  body: JSON.stringify(document),
  headers: { 'content-type': 'application/json' },
})

const numberIn = ({ pr }: Json): number =>
  typeof pr === 'object' && pr !== null && 'number' in pr && typeof pr.number === 'number' ? pr.number : 0

const isSubmitted = (record: Json | undefined): boolean => record?.isCurrentlySubmittedToQueue === true

const submittedPullRequests = ({ pulls }: QueueData): readonly Json[] =>
  [...pulls.values()].filter(isSubmitted)

type Schedule = (milliseconds: number, deed: () => void) => void

/** The changes: each makes itself felt on the stage and answers, or answers why it does not. */
const writeOperations: Readonly<Record<string, (stage: QueueData, body: Json, later: Schedule) => Reply>> = {
  submitPullRequest({ pulls, now }, body) {
    const number = numberIn(body)
    const before = pulls.get(number)
    const { priority = 'medium', noBatch = false } = body
    const priorityValue = priorityValues.get(String(priority)) ?? priority
    const asked = { priorityValue, priorityName: String(priority), noBatch }
    const fresh = { state: 'pending', isCurrentlySubmittedToQueue: true, stateChangedAt: iso(now()) }
    pulls.set(number, { ...pullRequest(number), ...before, ...(isSubmitted(before) ? {} : fresh), ...asked })
    return ok
  },
  cancelPullRequest({ pulls, now }, body) {
    const before = pulls.get(numberIn(body))
    if (!isSubmitted(before)) return notFound
    const left = { state: 'cancelled', isCurrentlySubmittedToQueue: false, stateChangedAt: iso(now()) }
    pulls.set(numberIn(body), { ...before, ...left })
    return ok
  },
  restartTestsOnPullRequest({ pulls, now }, body, later) {
    const set = (state: string) => {
      const before = pulls.get(numberIn(body))
      if (isSubmitted(before)) pulls.set(numberIn(body), { ...before, state, stateChangedAt: iso(now()) })
    }
    if (!isSubmitted(pulls.get(numberIn(body)))) return notFound
    set('pending')
    later(1_000, () => set('testing'))
    return ok
  },
  setImpactedTargets({ targets }, body) {
    targets.set(numberIn(body), body.impactedTargets)
    return ok
  },
  createQueue(stage, { repo, targetBranch, ...settings }) {
    if (stage.queue !== undefined) return { status: 409, body: 'Conflict' }
    stage.queue = { ...emptyQueue, branch: targetBranch, ...settings }
    return { status: 200 }
  },
  updateQueue(stage, { repo, targetBranch, ...settings }) {
    if (stage.queue === undefined) return notFound
    stage.queue = { ...stage.queue, ...settings }
    return asJson(stage.queue)
  },
  deleteQueue(stage) {
    if (stage.queue === undefined) return notFound
    if (submittedPullRequests(stage).length > 0) return { status: 409, body: 'The queue is not empty' }
    stage.queue = undefined
    return ok
  },
}

export const writeOperationNames: readonly string[] = Object.keys(writeOperations)

const test = {
  id: '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
  name: 'adds to the cart',
  codeowners: ['@acme/web'],
}

/** The reads. */
function readOperation(stage: QueueData, operation: string, body: Json): Reply {
  const record = stage.pulls.get(numberIn(body))
  if (operation === 'getSubmittedPullRequest') return record === undefined ? notFound : asJson(record)
  if (operation === 'getQueue')
    return stage.queue === undefined
      ? notFound
      : asJson({ ...stage.queue, enqueuedPullRequests: submittedPullRequests(stage) })
  if (operation === 'getMergeQueueTestingDetails')
    return asJson({ testBranch: 'trunk-merge/pr-7/x', status: 'in_progress', testedPullRequests: [] })
  if (operation === 'flaky-tests/list-failing-tests')
    return asJson({ tests: [test], page: { total_rows: 1, total_pages: 1, next_page_token: '' } })
  if (operation === 'flaky-tests/get-test-details') return asJson({ test })
  if (operation === 'getMergeQueueMetrics')
    return { status: 200, body: 'mq_depth_current{repo="acme/web"} 2\n' }
  return notFound
}

/** Opens a clock of one's own. */
export function createTestClock(start = noon): TestClock {
  let time = start
  const listeners: (() => void)[] = []
  return {
    get now() {
      return time
    },
    set now(value) {
      time = value
      for (const listener of listeners) listener()
    },
    onChange: listener => listeners.push(listener),
  }
}

/** A stream over a socket that leaves the socket free: something else may be written to it, too. */
function duplexOver(socket: Socket): Duplex {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (piece, _, done) => void socket.write(piece, () => done()),
    final: done => void socket.end(done),
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', piece => {
    if (!stream.push(piece)) socket.pause()
  })
  socket.on('end', () => stream.push(null))
  socket.on('close', () => stream.destroy())
  return stream
}

const parseJson = (bytes: Uint8Array): Json => {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return {}
  }
}

/** Opens a fault server on a free port of loopback. */
export async function startFaultServer(options: FaultServerOptions = {}): Promise<FaultServer> {
  const { script = {}, skew = 0 } = options
  const clock = createTestClock()
  const stage: QueueData = {
    pulls: new Map(Object.entries(options.pulls ?? {}).map(([number, record]) => [Number(number), record])),
    queue: options.queue === null ? undefined : (options.queue ?? emptyQueue),
    targets: new Map(),
    now: () => clock.now + skew,
  }
  const log: { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] }[] = []
  const effects: Effect[] = []
  const sockets = new Map<Socket, { readonly number: number; readonly raw: Socket; requests: number }>()
  let [connections, turns, port] = [0, 0, 0]
  let due: { readonly at: number; readonly deed: () => void }[] = []

  const ripen = () => {
    for (;;) {
      const next = due.filter(({ at }) => at <= clock.now).sort((one, other) => one.at - other.at)[0]
      if (next === undefined) return
      due = due.filter(one => one !== next)
      next.deed()
    }
  }
  const later: Schedule = (milliseconds, deed) => {
    due.push({ at: clock.now + milliseconds, deed })
  }
  const perform = (operation: string, body: Json): Reply => {
    const reply = writeOperations[operation]?.(stage, body, later) ?? readOperation(stage, operation, body)
    if (operation in writeOperations && reply.status === 200)
      effects.push({ operation, clock: clock.now, body })
    return reply
  }

  const actFor = (request: LoggedRequest): Behavior => {
    if (typeof script === 'function') return script(request, server) ?? normalBehavior
    const plan = script[request.operation]
    if (plan === undefined) return normalBehavior
    return 'respond' in plan ? plan : (plan[request.nth] ?? normalBehavior)
  }

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { socket } = incoming
    const connection = sockets.get(socket) ?? { number: -1, raw: socket, requests: 0 }
    const [path = ''] = (incoming.url ?? '').split('?')
    const operation = path.replace(/^.*?\/v1\//, '')
    const request = {
      number: log.length,
      nth: log.filter(one => one.operation === operation).length,
      operation,
      realTime: performance.now(),
      clock: clock.now,
      socket: connection.number,
      nthOnSocket: connection.requests++,
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      ),
      body: Buffer.alloc(0),
      isComplete: false,
    }
    log.push(request)
    const act = actFor(request)
    const pieces: Buffer[] = []
    let bytes = 0
    if (act.delayBeforeBody !== undefined)
      await new Promise(resolve => setTimeout(resolve, act.delayBeforeBody))
    try {
      for await (const piece of incoming) {
        pieces.push(piece)
        bytes += piece.length
        if (act.cutUploadAt !== undefined && bytes >= act.cutUploadAt) {
          connection.raw.resetAndDestroy()
          break
        }
      }
    } catch {
      return
    } finally {
      request.body = Buffer.concat(pieces)
    }
    if (act.cutUploadAt !== undefined && bytes >= act.cutUploadAt) return
    request.isComplete = true
    if (act.delayBeforeReply !== undefined) clock.now += act.delayBeforeReply
    ripen()
    const body = parseJson(request.body)
    const isChange = operation in writeOperations
    let normalReply = ok
    if (!isChange) normalReply = options.documents?.[operation] ?? perform(operation, body)
    else if (act.effect === 'now') normalReply = perform(operation, body)
    else if (act.effect !== 'never') later(act.effect, () => perform(operation, body))
    const date = new Date(stage.now()).toUTCString()
    if (act.delayAfterDate !== undefined) clock.now += act.delayAfterDate
    act.beforeReply?.(server)
    if (act.closesPort === true) {
      deafen()
      response.setHeader('connection', 'close')
    }
    act.respond({ request, response, socket, raw: connection.raw, normalReply: normalReply, date })
  }

  const http = createHttp({ keepAliveTimeout: 60_000, noDelay: true }, (incoming, response) => {
    void handle(incoming, response)
  })
  const take = (raw: Socket) => {
    const { tls, greeting: greets } = options
    const socket = tls === undefined ? raw : new TLSSocket(duplexOver(raw), { isServer: true, ...tls })
    sockets.set(socket, { number: connections++, raw, requests: 0 })
    for (const one of [raw, socket]) one.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    if (greets === undefined) http.emit('connection', socket)
    else socket.resume().write(greets)
  }
  let front: Server | undefined
  const open = () => {
    front ??= createNet({ noDelay: true }, take).listen(port, '127.0.0.1')
  }
  const deafen = () => {
    front?.close()
    front = undefined
  }
  const shut = () => {
    deafen()
    for (const { raw } of sockets.values()) raw.resetAndDestroy()
  }
  open()
  if (front !== undefined) {
    await once(front, 'listening')
    port = (front.address() as AddressInfo).port
  }
  if (options.opensAfter !== undefined) deafen()
  clock.onChange(() => {
    turns++
    ripen()
    if (turns === options.opensAfter) open()
  })
  const origin = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  const server: FaultServer = {
    origin,
    baseUrl: `${origin}/v1`,
    host: `127.0.0.1:${port}`,
    log,
    applied: effects,
    get connections() {
      return connections
    },
    clock,
    data: stage,
    applyLateEffects() {
      while (due.length > 0) clock.now = Math.max(...due.map(({ at }) => at))
    },
    refuseConnections: shut,
    acceptConnections: open,
    async close() {
      shut()
      http.close()
    },
  }
  return server
}

/** A listener that nothing should ever reach. */
export async function startUnusedServer(): Promise<{
  readonly origin: string
  readonly connections: () => number
  close(): Promise<void>
}> {
  let connections = 0
  const server = createNet(socket => {
    connections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}

// What every case is judged by.

/** A token that reads differently raw, percent-encoded and in base64. */
export const token = 'tok/3+one=with%odd&chars~abcdef'

/** What came out of one command line, and what was asked of the service. */
export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly words: readonly string[]
}

/** What came out, judged by the general rules. */
export interface CheckedOutcome extends Outcome {
  /** The documents on standard output, where JSON was asked for. */
  readonly documents: readonly Json[]
  /** The sentence of the last failure; empty on success. */
  readonly sentence: string
  /** What it says to do next. */
  readonly hint: string
  /** The lines on standard error before the last failure. */
  readonly earlierLines: readonly string[]
}

const formsOf = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  // In base64 the text differs with where the secret begins; the ends hold bits of what stands beside it.
  ...[0, 1, 2].map(shift =>
    Buffer.from('x'.repeat(shift) + secret)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -6),
  ),
]

const exitCodes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 14, 15, 16, 17, 20, 21, 124, 129, 130, 143]
/** Failures of the way to the service: their sentence names the host. */
const transportExitCodes = [7, 11, 15]
/** Failures after which a part of the answer may stand on standard output. */
const partialOutputExitCodes = [4, 17]

/**
 * The general rules at the top of cases.md: the token is in no stream and in no request but its header; the exit code
 * is in the table; a failure is one sentence that names the operation; standard output is empty or complete; no control
 * character. `judgeWords` asks for the host and the next step.
 */
export function checkGeneralRules(
  { code, out, err, words }: CommandResult,
  { log }: Pick<FaultServer, 'log'>,
) {
  const json = words.includes('--json')
  for (const form of formsOf(token)) {
    expect(out, 'rule 1: no token on standard output').not.toContain(form)
    expect(err, 'rule 1: no token on standard error').not.toContain(form)
  }
  for (const { headers, path, body } of log) {
    const { 'x-api-token': sent, ...others } = headers
    const elsewhere = [path, body.toString('latin1'), ...Object.values(others)].join('\n')
    expect(sent, 'rule 1: the token in its header').toBe(token)
    for (const form of formsOf(token)) expect(elsewhere, 'rule 1: no token elsewhere').not.toContain(form)
  }
  expect(exitCodes, 'rule 3: an exit code of the table').toContain(code)
  const told = `${out}\n${err}`
  expect(told, 'rule 4: nothing of the machinery').not.toMatch(
    /\n\s+at \S.*:\d+|\bundefined\b|\[object |fetch failed/,
  )
  expect(err, 'rule 6: no control characters').not.toMatch(controlCharacters)
  if (!json) expect(out.replaceAll('\t', ''), 'rule 6: no control characters').not.toMatch(controlCharacters)
  expect(out === '' || out.endsWith('\n'), 'rule 5: standard output is whole').toBe(true)
  const documents: Json[] = json
    ? out
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))
    : []
  const failure = failureIn(err, code, json)
  if (code !== 0 && code < 124) {
    const operation = log.at(0)?.operation
    if (operation !== undefined)
      expect(failure.sentence, 'rule 4: names the operation').toMatch(operationIn(log))
    if (!changingCommands.test(words.join(' ')) && !partialOutputExitCodes.includes(code))
      expect(out, 'rule 5: a read that failed prints nothing').toBe('')
  }
  return { documents, ...failure }
}

/** The rest of rule 4: a failure on the way names the host, and every failure says the next step. */
export function checkFailureText(
  { code, sentence, hint }: Pick<CheckedOutcome, 'code' | 'sentence' | 'hint'>,
  { host }: Pick<FaultServer, 'host'>,
): void {
  if (transportExitCodes.includes(code)) expect(sentence, 'rule 4: names the host').toContain(host)
  if (code !== 0 && code < 124) expect(hint, 'rule 4: an indented hint says the next step').not.toBe('')
}

const controlCharacters = /[\0-\t\v-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/
const changingCommands =
  /\b(submit|cancel|restart|targets|create|update|delete|pause|resume|drain|apply|api)\b/
const operationIn = (log: readonly LoggedRequest[]): RegExp =>
  new RegExp([...new Set(log.map(({ operation }) => operation))].join('|'))

/** The last failure on standard error: `mergeq: ` and one sentence, then the indented hint; or one JSON object. */
function failureIn(err: string, code: number, json: boolean) {
  const lines = err.split('\n').slice(0, -1)
  if (code === 0 || code >= 124) return { sentence: '', hint: '', earlierLines: lines }
  if (json) {
    const { error } = JSON.parse(lines.at(-1) ?? '{}')
    expect(error, 'rule 4: one JSON object').toMatchObject({
      kind: expect.any(String),
      exit: code,
      message: expect.any(String),
    })
    return {
      sentence: String(error.message),
      hint: String(error.hint ?? ''),
      earlierLines: lines.slice(0, -1),
    }
  }
  const [, before = '', sentence = '', hint = ''] =
    /^((?:.*\n)*?)mergeq: (.*)\n((?: {2}.*\n)*)$/.exec(err) ?? []
  expect(sentence, 'rule 4: `mergeq: ` and one sentence').not.toBe('')
  return { sentence, hint: hint.replace(/^ {2}/gm, '').trim(), earlierLines: before.split('\n').slice(0, -1) }
}

/** The environment in which a command line reaches this server. */
export const environmentFor = ({ baseUrl }: Pick<FaultServer, 'baseUrl'>): Record<string, string> => ({
  MERGEQ_TOKEN: token,
  MERGEQ_BASE_URL: baseUrl,
  MERGEQ_REPO: 'acme/web',
  MERGEQ_TARGET_BRANCH: 'main',
  MERGEQ_ORG: 'acme',
})

/**
 * Runs a command line in the faked world against this server, by the server's clock, and judges what came out: its words
 * too, unless `skipFailureText` says that a test of its own does so.
 */
export async function runAndCheck(
  server: FaultServer,
  line: string,
  { skipFailureText = false, ...setting }: Setting & { readonly skipFailureText?: boolean } = {},
): Promise<CheckedOutcome> {
  const env = { ...environmentFor(server), ...setting.env }
  const outcome = await mergeq(line, { ...setting, clock: server.clock, env })
  const checked = { ...outcome, ...checkGeneralRules({ ...outcome, words: splitWords(line) }, server) }
  if (!skipFailureText) checkFailureText(checked, server)
  return checked
}

/** What came out of a process of its own. */
export interface ProcessOutcome extends CheckedOutcome {
  readonly bytes: Buffer
  /** Real milliseconds from start to end. */
  readonly took: number
  /** The most memory that it held, in MiB; 0 where it was not measured. */
  readonly memory: number
  /** Seconds of processor time that it took; 0 where it was not measured. */
  readonly cpu: number
}

/** How a process of its own is started. */
export interface LaunchOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A test of its own judges the words of its failure. */
  readonly skipFailureText?: boolean
  /** Measures its memory and its processor time, with GNU time. */
  readonly measured?: boolean
  /** Its standard output is a file; what it says is the service's own and not judged as text. */
  readonly intoFile?: boolean
  /** Called when it has started. */
  readonly started?: (kill: (signal: NodeJS.Signals) => void) => void
}

/** Runs the built binary against this server in an empty home, and judges what came out and what was left behind. */
export async function runBuiltProgram(
  server: FaultServer,
  line: string,
  options: LaunchOptions = {},
): Promise<ProcessOutcome> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-')))
  const measure = join(home, '.cache', 'measure')
  const file = join(home, '.cache', 'out')
  try {
    mkdirSync(join(home, '.cache'))
    const began = performance.now()
    const words = splitWords(line)
    const [program = launcher, ...before] = options.measured
      ? ['time', '-f', '%M %U %S', '-o', measure, launcher]
      : [launcher]
    const child = execa(program, [...before, ...words], {
      env: { ...bareEnvironment(home), ...environmentFor(server), ...options.env },
      extendEnv: false,
      reject: false,
      cwd: home,
      stdin: 'ignore',
      ...(options.intoFile ? { stdout: { file } } : {}),
      encoding: 'buffer',
      stripFinalNewline: false,
    })
    options.started?.(signal => child.kill(signal))
    const { exitCode = -1, stdout, stderr } = await child
    const took = performance.now() - began
    const bytes = options.intoFile ? readFileSync(file) : Buffer.from(stdout ?? [])
    const out = options.intoFile ? '' : bytes.toString()
    const came = { code: exitCode, out, err: Buffer.from(stderr).toString() }
    const left = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
      path => !path.startsWith('.cache'),
    )
    expect(left, 'rule 8: no file is made').toEqual([])
    const checked = { ...came, ...checkGeneralRules({ ...came, words }, server), requests: [], sleeps: [] }
    if (!options.skipFailureText) checkFailureText(checked, server)
    const [memory = 0, user = 0, system = 0] = options.measured
      ? (readFileSync(measure, 'utf8').split('\n').at(-2)?.split(' ').map(Number) ?? [])
      : []
    return { ...checked, bytes, took, memory: memory / 1024, cpu: user + system }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Opens a server for one piece of work, and closes it afterwards. */
export async function withFaultServer<T>(
  options: FaultServerOptions,
  work: (server: FaultServer) => Promise<T>,
): Promise<T> {
  const server = await startFaultServer(options)
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}
