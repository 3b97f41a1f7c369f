import { describe, expect } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { testWith } from '../support/programs.ts'
import { answerOf, expectHarmless, hostileText, token } from '../support/redaction.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startTestServer } from '../support/test-servers.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())

describe('on a real terminal', () => {
  const serve = async () =>
    kept(
      await startTestServer({
        answer({ path }) {
          const { body = '' } = answerOf(hostileText)({ path, method: 'POST', headers: {}, body: '' })
          return { body, delay: 400 }
        },
      }),
    )
  const there = [
    'pr wait 7 --timeout 3s --interval 1s',
    'queue watch --for 2s --interval 1s',
    'pr get 7',
    'metrics',
  ]
  testWith('script').each(there)('`%s` shows nothing that acts, and no token', async line => {
    const service = await serve()
    const ran = await home.run([...line.split(' '), '--base-url', service.baseUrl()], {
      terminal: 80,
      env: { MERGEQ_TOKEN: token },
    })
    expectHarmless(ran.out, line)
    if (/wait|drain/.test(line)) expect(ran.out).toMatch(/\u001B\[\?2026h/)
  })
})
