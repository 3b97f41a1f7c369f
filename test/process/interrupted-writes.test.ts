import { expect, test } from 'vitest'
import { withFaultServer } from '../support/fault-server.ts'
import { runBuiltProgram } from '../support/fault-server-runs.ts'
import { neverRespond, normalBehavior, withoutEffect } from '../support/responders.ts'

const signals: readonly (readonly [name: NodeJS.Signals, exit: number])[] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]

test.each(signals)('the program, ended by a real %s, with several in flight', async (signal, exit) => {
  const script = ({ operation }: { readonly operation: string }) =>
    operation === 'cancelPullRequest' ? withoutEffect(neverRespond) : normalBehavior
  await withFaultServer({ script }, async server => {
    const { code, err } = await runBuiltProgram(server, 'pr cancel 7 8 --yes', {
      started: kill => {
        const timer = setInterval(() => {
          if (server.log.length < 2) return
          clearInterval(timer)
          setTimeout(() => kill(signal), 100)
        }, 10)
      },
    })
    expect(code).toBe(exit)
    expect(err).toMatch(
      new RegExp(
        `stopped by ${signal}\\. The requests for #7, #8 were in progress and may have been applied\\.\\n {2}Check .*: mergeq pr get 7 8\\n`,
      ),
    )
  })
})
