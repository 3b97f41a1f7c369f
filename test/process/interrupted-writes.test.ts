import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { type ServerReply, startTestServer } from '../support/service.ts'
import { openTestFolder, type Signal } from '../support/test-folder.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())

const signals: readonly (readonly [signal: Signal, exit: number])[] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]

/** Starts the built program against a service that always answers so; returns both. */
async function start(line: string, reply: ServerReply) {
  const service = kept(await startTestServer({ answer: () => reply }))
  const running = home.start(line.split(' '), { env: { MERGEQ_BASE_URL: service.baseUrl() } })
  return { service, running }
}

test.each(signals)('%s during a wait for the next attempt ends it', async (signal, exit) => {
  const { service, running } = await start('pr get 7', { status: 429, headers: { 'retry-after': '60' } })
  await running.waitForOutput('retrying in 60.0s.')
  running.kill(signal)
  // A run that waited on would be ended by its time limit.
  const { code, out, err } = await running.done
  expect({ code, out, requests: service.requests.length }).toEqual({ code: exit, out: '', requests: 1 })
  expect(err).toMatch(new RegExp(`^.*retrying in 60\\.0s\\.\nmergeq: .*${signal}`))
})

test('a signal with several changes in flight names them', async () => {
  const { service, running } = await start('pr cancel 7 8 --yes --json', 'silence')
  await service.waitForRequests(2)
  running.kill('SIGTERM')
  const { code, out, err } = await running.done
  expect(code).toBe(143)
  expect(err).toContain(
    `stopped by SIGTERM. The cancellations of #7, #8 were in progress and may have been applied.`,
  )
  expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').error.hint).toMatch(/: mergeq pr get 7 8$/)
  expect(out.match(/"delivery":"unknown"/g)).toHaveLength(2)
})
