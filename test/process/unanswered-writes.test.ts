import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { withFaultServer } from '../support/fault-server.ts'
import { runAndCheck } from '../support/fault-server-runs.ts'
import { testWith } from '../support/programs.ts'
import { type Behavior, resetConnection, sendBrokenTlsRecord, withEffect } from '../support/responders.ts'
import { operationNames } from '../support/retries.ts'
import { inLetters } from '../support/unanswered-writes.ts'

describe('unanswered writes over TLS', () => {
  /** A certificate of one's own for 127.0.0.1, and its key. */
  const certificate = () => {
    const folder = mkdtempSync(join(tmpdir(), 'mergeq-'))
    try {
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
      const made = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=fault'
      const name = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert]
      execFileSync('openssl', ['req', ...made.split(' '), ...name], { stdio: 'ignore' })
      return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  /** The change is sent over TLS; `act` is what befalls it. */
  const overTls = async (act: Behavior) => {
    const tls = certificate()
    return withFaultServer({ tls, script: { submitPullRequest: [act] } }, async server => {
      const line = 'pr submit 7 --json --ca-file ca.pem --timeout 3s'
      const came = await runAndCheck(server, line, { files: { 'ca.pem': tls.cert } })
      return {
        came,
        seen: inLetters(operationNames(server), 'submitPullRequest'),
        times: server.applied.length,
      }
    })
  }

  testWith('openssl')('applied, then reset: read back', async () => {
    const { came, seen, times } = await overTls(withEffect(resetConnection))
    expect({ exit: came.code, seen, times }).toEqual({ exit: 0, seen: 'c r', times: 1 })
  })

  testWith('openssl')(
    'applied, then the encryption breaks: read back, never "nothing was sent"',
    async () => {
      const { came, seen, times } = await overTls(withEffect(sendBrokenTlsRecord))
      expect({ exit: came.code, seen, times }).toEqual({ exit: 0, seen: 'c r', times: 1 })
    },
  )
})
