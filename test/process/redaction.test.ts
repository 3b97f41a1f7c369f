import { describe, expect } from 'vitest'
import { keeper, openHome, openPeer } from '../support/peers.ts'
import { testWith } from '../support/programs.ts'
import { answerOf, harmlessOn, hostile, token } from '../support/redaction.ts'

const kept = keeper()
const home = kept(openHome())

describe('on a real terminal', () => {
  const serve = async () =>
    kept(
      await openPeer({
        answer({ path }) {
          const { body = '' } = answerOf(hostile)({ path, method: 'POST', headers: {}, body: '' })
          return { body, after: 400 }
        },
      }),
    )
  const there = [
    'pr wait 7 --timeout 3s --interval 1s',
    'queue watch --for 2s --interval 1s',
    'queue delete --drain-first --yes --timeout 3s',
    'pr get 7',
    'metrics',
  ]
  testWith('script').each(there)('`%s` shows nothing that acts, and no token', async line => {
    const service = await serve()
    const ran = await home.run([...line.split(' '), '--base-url', service.base()], {
      terminal: 80,
      env: { MERGEQ_TOKEN: token },
    })
    harmlessOn(ran.out, line)
    if (/wait|drain/.test(line)) expect(ran.out).toMatch(/\u001B\[\?2026h/)
  })
})
