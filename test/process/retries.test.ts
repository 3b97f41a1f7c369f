import { describe, expect, test } from 'vitest'
import { withFaultServer } from '../support/fault-server.ts'
import { runBuiltProgram } from '../support/fault-server-runs.ts'
import { neverRespond, withEffect } from '../support/responders.ts'
import { get, operationNames, pulls, rateLimited } from '../support/retries.ts'

describe('a wait can be stopped', () => {
  const signals = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const
  test.each(signals)('%s during a wait of 20 s ends it within 1 s', async (signal, exit) => {
    await withFaultServer({ pulls, script: { [get.operation]: rateLimited('20') } }, async server => {
      let asked = 0
      const { code, out, err } = await runBuiltProgram(server, get.line, {
        started: kill => {
          const timer = setInterval(() => {
            if (server.log.length === 0) return
            clearInterval(timer)
            // The answer is on its way: the wait begins in a moment.
            setTimeout(() => {
              asked = performance.now()
              kill(signal)
            }, 150)
          }, 10)
        },
      })
      expect(performance.now() - asked).toBeLessThan(1_000)
      expect({ code, out, requests: server.log.length }).toEqual({ code: exit, out: '', requests: 1 })
      expect(err).toMatch(new RegExp(`^.*retrying in 20\\.0s\\.\nmergeq: .*${signal}`))
    })
  })

  test('a change in flight is named', async () => {
    await withFaultServer({ script: { submitPullRequest: withEffect(neverRespond) } }, async server => {
      const { code, documents, err } = await runBuiltProgram(server, 'pr submit 7 --json', {
        started: kill => {
          const timer = setInterval(() => {
            if (server.applied.length === 0) return
            clearInterval(timer)
            kill('SIGINT')
          }, 10)
        },
      })
      expect({ code, sent: operationNames(server) }).toEqual({ code: 130, sent: ['submitPullRequest'] })
      expect(err).toContain('submitPullRequest')
      expect(documents).toMatchObject([{ ok: false, exit: 130, delivery: 'unknown' }])
    })
  })
})
