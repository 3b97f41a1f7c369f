import { EventEmitter } from 'node:events'
import { expect, test, vi } from 'vitest'
import { interrupt } from '../../src/host/host.ts'
import { watchTerminal } from '../../src/host/terminal.ts'
import { interruptionOf } from '../../src/main.ts'

/** A process that records what ends it. */
function fakeProcess(env: Record<string, string> = {}) {
  const ended: unknown[] = []
  const stdin = Object.assign(new EventEmitter(), {
    setRawMode: () => stdin,
    pause: () => stdin,
  })
  const proc = Object.assign(new EventEmitter(), {
    platform: 'win32',
    env,
    stdin,
    stdout: new EventEmitter(),
    exit: (code: number) => ended.push(code),
    kill: (...args: unknown[]) => ended.push(args),
  })
  return { proc: proc as unknown as NodeJS.Process, stdin, ended }
}

const idle = { resize: () => undefined, suspend: async () => undefined, resume: () => undefined }

test.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGBREAK', 149],
] as const)('%s interrupts with exit code %i', (signal, exit) => {
  const { proc } = fakeProcess()
  const interrupted = interruptionOf(proc)
  proc.emit(signal, signal)
  expect(interrupted.reason).toMatchObject({ kind: 'interrupted', message: `stopped by ${signal}.`, exit })
})

test('after the first signal a listener stays, so that no library sends it again; a second one of any kind ends', () => {
  const { proc, ended } = fakeProcess()
  const interrupted = interruptionOf(proc)
  proc.emit('SIGTERM', 'SIGTERM')
  expect(interrupted.aborted).toBe(true)
  expect(['SIGHUP', 'SIGINT', 'SIGTERM'].map(signal => proc.listenerCount(signal))).toEqual([1, 1, 1])
  expect(ended).toEqual([])
  proc.emit('SIGHUP', 'SIGHUP')
  expect(ended).toEqual([129])
})

test('SIGHUP is ignored under nohup, and SIGTERM is not', () => {
  const { proc } = fakeProcess({ _: '/usr/bin/nohup' })
  const interrupted = interruptionOf(proc)
  proc.emit('SIGHUP', 'SIGHUP')
  proc.emit('SIGHUP', 'SIGHUP')
  expect(interrupted.aborted).toBe(false)
  proc.emit('SIGTERM', 'SIGTERM')
  expect(interrupted.reason).toMatchObject({ exit: 143 })
})

test('Ctrl-C in raw mode interrupts without a signal; the second ends the process', () => {
  const { proc, stdin, ended } = fakeProcess()
  const interrupted = interruptionOf(proc)
  const stop = watchTerminal(proc, { press: () => undefined, ...idle })
  stdin.emit('data', Buffer.from('\u0003'))
  expect(interrupted.reason).toMatchObject({ exit: 130 })
  expect(ended).toEqual([])
  interrupt(proc)
  expect(ended).toEqual([130])
  stop()
})

test('a second Ctrl-Z while the terminal is being released changes nothing', () => {
  const { proc } = fakeProcess()
  Object.assign(proc, { platform: 'linux' })
  const suspend = vi.fn(async () => undefined)
  const stop = watchTerminal(proc, { press: () => undefined, ...idle, suspend })
  for (let times = 0; times < 2; times++) proc.emit('SIGTSTP', 'SIGTSTP')
  expect(suspend).toHaveBeenCalledTimes(1)
  stop()
})

test('a terminal that was released while the job was suspended is left alone', async () => {
  vi.useFakeTimers()
  try {
    const { proc } = fakeProcess()
    const modes: boolean[] = []
    Object.assign(proc, { platform: 'linux' })
    Object.assign(proc.stdin, { setRawMode: (isRaw: boolean) => modes.push(isRaw) })
    const resume = vi.fn()
    const stop = watchTerminal(proc, { press: () => undefined, ...idle, resume })
    proc.emit('SIGTSTP', 'SIGTSTP')
    await vi.advanceTimersByTimeAsync(1)
    // The job continues with a signal that ends it.
    stop()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(resume).not.toHaveBeenCalled()
    expect(modes.at(-1)).toBe(false)
    expect(proc.listenerCount('SIGTSTP')).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
