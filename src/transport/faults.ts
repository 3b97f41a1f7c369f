import { Failure } from '../failure.ts'

/**
 * How far a request got when it failed (WIRE.md section 2): `not-sent` never reached the service, `ambiguous` may have
 * been applied.
 */
export type Reach = 'not-sent' | 'ambiguous'

/** What went wrong on the way: how far it got, whether waiting can help, and the failure to show. */
export interface Fault {
  readonly reach: Reach
  readonly passing: boolean
  readonly failure: Failure
}

interface Errno {
  readonly code?: string
  readonly message?: string
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

const asErrno = (error: unknown): Errno => (typeof error === 'object' && error !== null ? error : {})

/** The innermost error that has a code: an AggregateError and a wrapped cause have none that help. */
function innermost(error: unknown): Errno {
  const { code, cause, errors } = asErrno(error)
  const inner = cause ?? errors?.[0]
  if (inner !== undefined && (code === undefined || asErrno(inner).code !== undefined))
    return innermost(inner)
  return asErrno(error)
}

const unsafeCertificate = /CERT|^UNABLE_TO_|SELF_SIGNED|ERR_TLS_CERT_ALTNAME_INVALID|^ERR_SSL|EPROTO|^ERR_TLS/

/** Says what went wrong with a request to `host`, and how far it got. The error itself is never printed. */
export function faultOf(error: unknown, operation: string, host: string, limit: number): Fault {
  const { code = '', message = '' } = innermost(error)
  const fault = (reach: Reach, what: string, hint: string, passing = true): Fault => ({
    reach,
    passing,
    failure: new Failure('unavailable', `${operation}: ${what}.`, { operation, hint }),
  })
  const safe = 'Nothing was sent; it is safe to run this again.'
  const network = `Check the network and the base address. ${safe}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return fault('not-sent', `the host ${host} could not be found (DNS)`, network)
  if (code === 'ECONNREFUSED') return fault('not-sent', `${host} refused the connection`, network)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ENETUNREACH' || code === 'EHOSTUNREACH')
    return fault('not-sent', `${host} could not be reached`, network)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return fault(
      'not-sent',
      `the certificate of ${host} is for another name`,
      `Check the base address. ${safe}`,
      false,
    )
  if (unsafeCertificate.test(code))
    return fault(
      'not-sent',
      `the certificate of ${host} is not trusted (${code})`,
      `If your network has its own certificate authority, add it with --ca-file <pem> or NODE_EXTRA_CA_CERTS. ${safe}`,
      false,
    )
  const again = 'Try again later.'
  if (
    code === 'UND_ERR_HEADERS_TIMEOUT' ||
    code === 'UND_ERR_BODY_TIMEOUT' ||
    code === 'UND_ERR_ABORTED' ||
    code === 'ABORT_ERR'
  )
    return fault(
      'ambiguous',
      `no answer came from ${host} within ${limit / 1000} s`,
      `${again} --timeout sets the limit.`,
    )
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return {
      reach: 'ambiguous',
      passing: false,
      failure: new Failure('bad-answer', `${operation}: what ${host} answered is not valid HTTP.`, {
        operation,
        hint: 'Check the base address and its port.',
      }),
    }
  return fault(
    'ambiguous',
    `the connection to ${host} broke (${code === '' ? 'closed' : code})${message === '' ? '' : ''}`,
    again,
  )
}
