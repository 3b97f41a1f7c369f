import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/errors.ts'
import { withFaultServer } from '../support/fault-server.ts'
import { runBuiltProgram } from '../support/fault-server-runs.ts'
import type { Answer } from '../support/harness.ts'
import { neverRespond, normalBehavior, withoutEffect } from '../support/responders.ts'
import { documentsIn, numberIn, numbersIn, run } from '../support/several-pull-requests.ts'

describe('a signal among several', () => {
  const signal = () => new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 })
  const stopped = async (line: string, on: number) => {
    const stop = new AbortController()
    return run(
      line,
      seen => {
        if (numberIn(seen) !== on) return { body: '{"state":"PENDING"}' }
        stop.abort(signal())
        return new Promise<Answer>(() => undefined)
      },
      { signal: stop.signal },
    )
  }

  test('a change: the summary of finished, running and unstarted requests', async () => {
    const { code, out, err, requests } = await stopped('pr submit 7 8 9 10 --json', 8)
    expect({ code, sent: numbersIn(requests) }).toEqual({ code: 130, sent: [7, 8] })
    expect(err.split('\n')[0]).toBe('mergeq: Stopped early. Done: #7. In progress: #8. Not started: #9, #10.')
    expect(documentsIn(out).map(({ pr, ok, delivery }) => [pr, ok, delivery])).toEqual([
      [7, true, 'confirmed'],
      [8, false, 'unknown'],
    ])
    const failures = err.trimEnd().split('\n').slice(1)
    expect(failures).toHaveLength(1)
    expect(JSON.parse(failures[0] ?? '').error).toMatchObject({ exit: 130, operation: 'submitPullRequest' })
  })

  test('changes side by side: every one in flight has its receipt, and the signal is reported once', async () => {
    const { code, out, err } = await stopped('pr cancel 7 8 9 10 11 12 --yes --json', 9)
    expect(code).toBe(130)
    const receipts = documentsIn(out)
    const flying = receipts.filter(({ ok }) => !ok).map(({ pr }) => `#${pr}`)
    expect(flying).toContain('#9')
    expect(err).toMatch(new RegExp(`In progress: ${flying.join(', ')}\\. Not started: .*#12\\.`))
    expect(err.match(/stopped by SIGINT/g)).toHaveLength(1)
  })

  test('a read', async () => {
    const { code, err } = await stopped('pr get 7 8 9 10 11 12 13 --stop-on-error', 8)
    expect(code).toBe(130)
    expect(err).toMatch(/Done: #7\. In progress: #8\. Not started: #9, #10, #11, #12, #13\./)
  })

  test('concurrent reads: the signal is reported once, without a pull request', async () => {
    const stop = new AbortController()
    let asked = 0
    const { code, err } = await run(
      'pr get 7 8 9 10 11',
      () => {
        if (++asked === 4) stop.abort(signal())
        return new Promise<Answer>(() => undefined)
      },
      { signal: stop.signal },
    )
    expect(code).toBe(130)
    expect(err).toMatch(/In progress: #7, #8, #9, #10\. Not started: #11\.\nmergeq: stopped by SIGINT\.\n/)
  })

  test('before the first', async () => {
    const { code, err, requests } = await run('pr submit 7 8', () => ({ body: 'OK' }), {
      signal: AbortSignal.abort(signal()),
    })
    expect({ code, requests }).toEqual({ code: 130, requests: [] })
    expect(err).toMatch(/early\. Not started: #7, #8\.\nmergeq: stopped by SIGINT/)
  })

  test('one alone has no list', async () => {
    const { code, err } = await stopped('pr submit 8', 8)
    expect(code).toBe(130)
    expect(err).not.toMatch(/Stopped early/)
  })

  test('the built program, stopped by a real SIGINT', async () => {
    const script = ({ operation, nth }: { readonly operation: string; readonly nth: number }) =>
      operation === 'submitPullRequest' && nth === 1 ? withoutEffect(neverRespond) : normalBehavior
    await withFaultServer({ script }, async server => {
      const { code, err } = await runBuiltProgram(server, 'pr submit 7 8 9', {
        started: kill => {
          const timer = setInterval(() => {
            if (server.log.length < 2) return
            clearInterval(timer)
            setTimeout(() => kill('SIGINT'), 100)
          }, 10)
        },
      })
      expect(code).toBe(130)
      expect(err).toMatch(/Done: #7\. In progress: #8\. Not started: #9\./)
    })
  })
})
