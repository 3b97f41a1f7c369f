import { expect, test } from 'vitest'
import { classifyError } from '../../src/http/transport-error.ts'

test.each([
  ['20.18.1', false],
  ['22.14.0', false],
  ['22.15.0', true],
  ['23.8.0', false],
  ['23.9.0', true],
  ['24.0.0', true],
])('Node %s: the hint on a certificate names the store of the system: %s', (node, isNamed) => {
  const error = Object.assign(new Error(), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  const request = {
    operation: 'getQueue',
    host: 'queue.example',
    proxy: undefined,
    began: false,
    limit: 1_000,
    node,
  }
  const { hint } = classifyError(error, request).error.details
  expect(hint).toBe(
    'If your network uses its own certificate authority, add it with --ca-file <pem> or NODE_EXTRA_CA_CERTS' +
      (isNamed ? ', or use the system certificate store: NODE_OPTIONS=--use-system-ca' : '') +
      '. Nothing was sent; it is safe to try again.',
  )
})
