import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa, type Options } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest'
import { bareEnvironment, launcher } from '../support/programs.ts'

const repo = { host: 'github.com', owner: 'acme', name: 'web' }
const onQueue = { repo, targetBranch: 'main' }

let home: string
beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-')))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const mergeq = (words: readonly string[], options: Options = {}) =>
  execa(launcher, words, {
    reject: false,
    env: bareEnvironment(home),
    extendEnv: false,
    cwd: home,
    stdin: 'ignore',
    ...options,
  })

const open: ReturnType<typeof mergeq>[] = []
afterEach(async () => {
  for (const child of open.splice(0)) {
    child.kill('SIGKILL')
    await child
  }
})

/** Starts `sandbox start` of the built program and waits for the line that it prints. */
async function start(...words: readonly string[]) {
  const child = mergeq(['sandbox', 'start', ...words])
  open.push(child)
  if (child.stdout === null) throw new Error('no standard output')
  const [line] = await once(child.stdout, 'data')
  const { baseUrl, token }: { baseUrl: string; token: string } = JSON.parse(String(line))
  const port = Number(new URL(baseUrl).port)
  const send = (operation: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${baseUrl}/${operation}`, {
      method: 'POST',
      headers: { 'x-api-token': token, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return { child, port, baseUrl, line: String(line), send }
}

/** Whether another server can listen on a port. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

test('listens on loopback only, on a free port, and prints one line', async () => {
  const { port, line } = await start()
  expect(line).toMatch(/^\{"baseUrl":"http:\/\/127\.0\.0\.1:\d+\/v1","token":"sandbox"\}\n$/)
  const others = Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
  for (const { address } of others) {
    const socket = connect(port, address)
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => 'connected'),
      once(socket, 'error').then(() => 'refused'),
    ]).catch(() => 'refused')
    socket.destroy()
    expect([address, outcome]).toEqual([address, 'refused'])
  }
})

test('exits with 2 and names the port if the port is in use', async () => {
  const { port } = await start()
  const { exitCode, stderr, stdout } = await mergeq(['sandbox', 'start', '--port', String(port)])
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(new RegExp(`^mergeq: .*Port ${port} is already in use`))
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends sandbox start with exit code %i and frees the port', async (signal, code) => {
  const { child, port, baseUrl } = await start()
  const held = connect(port, '127.0.0.1')
  await once(held, 'connect')
  held.on('error', () => undefined)
  const signalledAt = Date.now()
  child.kill(signal)
  const { exitCode } = await child
  held.destroy()
  expect({ exitCode, isSoon: Date.now() - signalledAt < 1_500 }).toEqual({ exitCode: code, isSoon: true })
  expect(await isFree(port)).toBe(true)
  await expect(fetch(baseUrl)).rejects.toThrow()
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends sandbox exec with exit code %i and ends its command', async (signal, code) => {
  const child = mergeq(['sandbox', 'exec', '--', 'sh', '-c', 'echo $$; exec sleep 60'])
  open.push(child)
  if (child.stdout === null) throw new Error('no standard output')
  const [pid] = await once(child.stdout, 'data')
  child.kill(signal)
  expect((await child).exitCode).toBe(code)
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
})

test.each([
  ['SIGSEGV', 139],
  ['SIGABRT', 134],
  ['SIGPIPE', 141],
  ['SIGKILL', 137],
])('sandbox exec of a command that ends with %s exits with %i', async (signal, code) => {
  const { exitCode } = await mergeq(['sandbox', 'exec', '--', 'sh', '-c', `kill -${signal.slice(3)} $$`])
  expect(exitCode).toBe(code)
})

describe.skipIf(process.platform !== 'linux')('the sandbox keeps serving, in bounded memory', () => {
  const peakMemory = (pid = 0) =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

  it('after half a request and a body of 1 GB', async () => {
    const { port, child, send } = await start()
    const half = connect(port, '127.0.0.1')
    half.write('POST /v1/getQueue HTT')
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `POST /v1/getQueue HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 1073741824\r\n\r\n`,
    )
    const piece = new Uint8Array(1 << 20).fill(32)
    let sent = 0
    while (sent < 1024 && !socket.destroyed) {
      sent++
      await new Promise(resolve => socket.write(piece, resolve))
    }
    expect(sent).toBeLessThan(1024)
    expect((await send('getQueue', onQueue)).status).toBe(200)
    expect(peakMemory(child.pid)).toBeLessThan(256)
    half.destroy()
  })

  it('under 10,000 connections', async () => {
    const { port, child, send } = await start()
    const sockets: ReturnType<typeof connect>[] = []
    for (let made = 0; made < 10_000; made += 500)
      await Promise.all(
        Array.from({ length: 500 }, () => {
          const socket = connect(port, '127.0.0.1')
          socket.on('error', () => undefined)
          sockets.push(socket)
          return Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined)
        }),
      )
    expect(peakMemory(child.pid)).toBeLessThan(256)
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await send('getQueue', onQueue).catch(() => undefined))?.status).toBe(200)
  })
})

describe('sandbox exec', () => {
  const script = (pr: number) =>
    `${launcher} pr submit ${pr} -q && ${launcher} pr wait ${pr} --interval 1s -q`
  const exec = (line: string, ...words: readonly string[]) =>
    mergeq(['sandbox', 'exec', '--speed', '8', ...words, '--', 'sh', '-c', line])

  it('passes the exit code on and prints nothing of its own', async () => {
    expect(await exec(script(7), '--scenario', 'failure')).toMatchObject({ exitCode: 0 })
    expect(await exec(script(9), '--scenario', 'failure')).toMatchObject({ exitCode: 3 })
    expect(await exec('exit 42')).toMatchObject({ exitCode: 42, stdout: '', stderr: '' })
  })

  it('runs the scenario of a file; a bad file exits with 2', async () => {
    writeFileSync(join(home, 'mine.json'), '{"scripts":[{"pr":7,"runs":["fail"]}]}')
    expect(await exec(script(7), '--scenario', 'mine.json')).toMatchObject({ exitCode: 3 })
    writeFileSync(join(home, 'bad.json'), '{"scripts":[{"pr":7,"rusn":["pass"]}]}')
    for (const [file, message] of [
      ['bad.json', /scripts\[0\]: unknown field 'rusn'/],
      ['.', /cannot be read/],
      ['none.json', /neither a scenario nor a readable file/],
    ] as const) {
      const { exitCode, stderr } = await exec('true', '--scenario', file)
      expect([file, exitCode]).toEqual([file, 2])
      expect(stderr).toMatch(message)
    }
  })
})
