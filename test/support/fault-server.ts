import { once } from 'node:events'
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createNet, type Server, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import {
  emptyQueue,
  type Json,
  ok,
  type QueueData,
  readOperation,
  type Schedule,
  writeOperations,
} from './fake-queue.ts'
import { noon } from './harness.ts'
import { type Behavior, normalBehavior, type Reply } from './responders.ts'

/**
 * A service that misbehaves on request: real sockets on loopback, scripted by operation and by number of
 * request. It plays a tiny queue, so that a change is really applied or not, and remembers every request byte
 * for byte.
 */
export interface FaultServer {
  readonly origin: string
  readonly baseUrl: string
  /** Host and port, as messages name them. */
  readonly host: string
  /** Every request that arrived, including incomplete ones. */
  readonly log: readonly LoggedRequest[]
  /** Every write that took effect, in order. */
  readonly applied: readonly Effect[]
  /** How many connections were ever accepted. */
  readonly connections: number
  /** The clock that the service goes by; `run` gives it to the command line, too. */
  readonly clock: TestClock
  readonly data: QueueData
  /** Advances the clock until every late effect has happened. */
  applyLateEffects(): void
  close(): Promise<void>
}

/** A request as it arrived. */
export interface LoggedRequest {
  /** Its number among all requests, and among those of its operation, both from 0. */
  readonly number: number
  readonly nth: number
  /** The path without `/v1/` and the query: `submitPullRequest`. */
  readonly operation: string
  /** Milliseconds of the test's clock. */
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

/** By operation: one act for every request, or acts by number of request, after which the service works. */
export type Script =
  | Readonly<Record<string, Behavior | readonly Behavior[]>>
  | ((request: LoggedRequest, server: FaultServer) => Behavior | undefined)

/** A clock that moves only when `now` is set, and calls its listeners then. */
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

/** Starts a fault server on a free port of loopback. */
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
    async close() {
      shut()
      http.close()
    },
  }
  return server
}

/** Starts a listener that no test should connect to, and counts its connections. */
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

/** Starts a server, passes it to `work`, and closes it afterwards. */
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
