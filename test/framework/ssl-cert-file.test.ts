import { expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'
import { runningQueue } from '../support/settings-sources.ts'

const line = 'metrics'

test('SSL_CERT_FILE that is missing is one warning, and no more than that', async () => {
  const env = { SSL_CERT_FILE: '/etc/none.pem' }
  const { code, err } = await mergeq(line, { env, answer: () => ({ body: '' }) })
  expect({ code, err }).toEqual({
    code: 0,
    err: 'mergeq: SSL_CERT_FILE: /etc/none.pem cannot be read; its certificates are not used.\n',
  })
})

test('SSL_CERT_FILE is not read where MERGEQ_CA_FILE gives a file', async () => {
  const env = { SSL_CERT_FILE: '/etc/none.pem', MERGEQ_CA_FILE: '/etc/own.pem' }
  const ran = await mergeq('queue get -R acme/web -b main', { env, answer: runningQueue })
  expect({ code: ran.code, err: ran.err }).toMatchObject({
    code: 2,
    err: expect.stringContaining('MERGEQ_CA_FILE: the file /etc/own.pem does not exist'),
  })
  expect(ran.err).not.toContain('SSL_CERT_FILE')
})
