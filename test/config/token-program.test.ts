import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { readLineOnce } from '../../src/host/child-process.ts'
import type { LineOptions } from '../../src/host/host.ts'
import { testOnPosix } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const place = temporaryFolder('mergeq-line-')
let programs = 0

/** Writes a shell script of its own, and returns its path. */
function script(text: string): string {
  const path = join(place, `program-${programs++}`)
  writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  return path
}

const read = (words: readonly string[], options: Partial<LineOptions> = {}) =>
  readLineOnce(words, {
    env: { PATH: '/usr/bin:/bin' },
    timeout: 5_000,
    maxBytes: 65_536,
    interrupted: new AbortController().signal,
    ...options,
  })

describe('the first line of a program', () => {
  testOnPosix('is read apart from its standard error; its standard input is empty', async () => {
    const path = script('echo oops >&2; cat; printf "%s\\n" "$1 $2"; echo more')
    expect(await read([path, 'a b', '*'])).toMatchObject({ code: 0, out: 'a b *', timedOut: false })
  })

  testOnPosix('comes with its standard error, without its arguments and what it printed', async () => {
    const path = script('echo tok_12345678; echo second; echo "$1: no tok_12345678 or second" >&2; exit 2')
    expect(await read([path, 'work/queue'])).toEqual({
      code: 2,
      out: 'tok_12345678',
      err: '[REDACTED]: no [REDACTED] or [REDACTED]\n',
      timedOut: false,
    })
  })

  testOnPosix('comes from a program in an absolute entry of PATH, in its directory', async () => {
    const name = script('pwd').slice(place.length + 1)
    const PATH = `${place}:/usr/bin:/bin`
    expect(await read([name], { env: { PATH } })).toMatchObject({ code: 0, out: place })
    expect(await read([name, '1'], { env: { PATH: '.:' } })).toMatchObject({ startError: 'ENOENT' })
  })

  testOnPosix('is kept; it is read again if it was not read after a time, once for all', async () => {
    const path = script(`echo run >> ${place}/runs; wc -l < ${place}/runs | tr -d ' '`)
    expect([await read([path]), await read([path])]).toMatchObject([{ out: '1' }, { out: '1' }])
    const after = Date.now()
    await pause(5)
    const both = await Promise.all([read([path], { after }), read([path], { after })])
    expect(both).toMatchObject([{ out: '2' }, { out: '2' }])
    expect(await read([path])).toMatchObject({ out: '2' })
  })

  testOnPosix('is not kept if the program failed', async () => {
    const path = script(`[ -e ${place}/ready ] && echo line`)
    expect(await read([path])).toMatchObject({ code: 1 })
    writeFileSync(join(place, 'ready'), '')
    expect(await read([path])).toMatchObject({ code: 0, out: 'line' })
  })

  testOnPosix('ends the program and what it started when its time is over', async () => {
    const path = script(`(sleep 1; touch ${place}/late) & echo line; sleep 30`)
    const start = performance.now()
    expect(await read([path], { timeout: 300 })).toMatchObject({ timedOut: true })
    expect(performance.now() - start).toBeLessThan(1_000)
    await pause(1_200)
    expect(existsSync(join(place, 'late'))).toBe(false)
  })

  testOnPosix('ends the program when the command is interrupted', async () => {
    const stop = new AbortController()
    const start = performance.now()
    const reading = read([script('sleep 30')], { interrupted: stop.signal })
    setTimeout(() => stop.abort(), 100)
    expect(await reading).toMatchObject({ code: 137, timedOut: false })
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  testOnPosix('is there although what the program left running keeps its output open', async () => {
    const start = performance.now()
    expect(await read([script('sleep 3 & echo line')])).toMatchObject({ code: 0, out: 'line' })
    // Without a line break, and in a session of its own.
    expect(await read([script('sleep 3 & printf line')])).toMatchObject({ code: 0, out: 'line' })
    expect(await read([script('setsid sleep 3 & printf line')])).toMatchObject({ code: 0, out: 'line' })
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  testOnPosix('and what it left running goes on', async () => {
    const path = script(`(sleep 1; touch ${place}/later) & printf line`)
    expect(await read([path])).toMatchObject({ code: 0, out: 'line' })
    await pause(1_500)
    expect(existsSync(join(place, 'later'))).toBe(true)
  })

  testOnPosix('holds nothing up when its time is over, whatever it left running', async () => {
    const start = performance.now()
    const path = script('setsid sleep 3 & sleep 30')
    expect(await read([path], { timeout: 300 })).toMatchObject({ timedOut: true })
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  testOnPosix('is limited, and the program may go on printing', async () => {
    const path = script('head -c 5000000 /dev/zero | tr "\\0" x; echo; echo more')
    const { code, out: line } = await read([path], { maxBytes: 1_000 })
    expect(code).toBe(0)
    expect(line.length).toBeLessThan(200_000)
    expect(line).toMatch(/^x+$/)
  })
})
