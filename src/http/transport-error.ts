import { MergeqError } from '../errors.ts'

/**
 * How far a request got when it failed (WIRE.md section 2): `not-sent` never reached the service, `ambiguous` may have
 * been applied.
 */
export type SentState = 'not-sent' | 'ambiguous'

/** What went wrong on the way: how far it got, whether trying again can help, and the failure to show. */
export interface TransportError {
  readonly sentState: SentState
  readonly retryable: boolean
  readonly failure: MergeqError
}

/** What a request was, as far as a message about its fault names it. */
export interface RequestInfo {
  readonly operation: string
  readonly host: string
  /** Host and port of the proxy that stands before the host; undefined where none does. */
  readonly proxy: string | undefined
  /** Whether anything of the request was handed to a connection. */
  readonly began: boolean
  /** The limit of the attempt in milliseconds. */
  readonly limit: number
}

interface Errno {
  readonly name?: string
  readonly code?: string
  readonly message?: string
  readonly hostname?: string
  readonly port?: number
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

const asErrno = (error: unknown): Errno => (typeof error === 'object' && error !== null ? error : {})

/** The innermost error that has a code: an AggregateError and a wrapper have none that helps. */
function innermost(error: unknown): Errno {
  const { code, cause, errors } = asErrno(error)
  const inner = cause ?? errors?.[0]
  if (inner !== undefined && (code === undefined || asErrno(inner).code !== undefined))
    return innermost(inner)
  return asErrno(error)
}

const badCertificate = /CERT|^UNABLE_TO_|SELF_SIGNED|^ERR_SSL|^ERR_TLS|^EPROTO$/
const unreachable = /^(ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/
const timedOut = /^UND_ERR_(HEADERS|BODY)_TIMEOUT$|^ETIMEDOUT$/
const notHttp = /^HPE_|^UND_ERR_HEADERS_OVERFLOW$|^UND_ERR_RES_/

const nothingSent = 'Nothing was sent; it is safe to run this again.'
const checkNetwork = `Check the network and the base address. ${nothingSent}`

/** Says what went wrong with a request, and how far it got. The error itself is never printed. */
export function classifyError(
  error: unknown,
  { operation, host, proxy, began, limit }: RequestInfo,
): TransportError {
  const { name = '', code = '', message = '', hostname, port } = innermost(error)
  const fault = (reach: SentState, what: string, hint: string, passing = true): TransportError => ({
    sentState: reach,
    retryable: passing,
    failure: new MergeqError('unavailable', `${operation}: ${what}.`, { operation, hint, sentState: reach }),
  })
  const atProxy =
    proxy !== undefined &&
    (hostname === proxy.replace(/:\d+$/, '') || String(port) === proxy.split(':').at(-1))
  const peer = atProxy ? `the proxy ${proxy}` : host
  const [, refusedBy] = /Proxy response \((\d+)\)/.exec(message) ?? []
  if (refusedBy === '407' || refusedBy === '401')
    return fault(
      'not-sent',
      `the proxy ${proxy} asks for a login (${refusedBy}); the service was not reached`,
      'Put user and password into HTTPS_PROXY. Nothing was sent.',
      false,
    )
  if (refusedBy !== undefined)
    return fault('not-sent', `the proxy ${proxy} did not connect to ${host} (${refusedBy})`, checkNetwork)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return fault('not-sent', `${atProxy ? peer : `the host ${host}`} could not be found (DNS)`, checkNetwork)
  if (code === 'ECONNREFUSED') return fault('not-sent', `${peer} refused the connection`, checkNetwork)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (!began && unreachable.test(code)))
    return fault('not-sent', `${peer} could not be reached`, checkNetwork)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || name === 'SecureProxyConnectionError')
    return fault(
      'not-sent',
      `the certificate of ${host} is for another name`,
      `Check the base address. ${nothingSent}`,
      false,
    )
  if (badCertificate.test(code))
    return fault(
      'not-sent',
      `the certificate of ${host} is not trusted (${code})`,
      `If your network has a certificate authority of its own, add it with --ca-file <pem> or NODE_EXTRA_CA_CERTS. ${nothingSent}`,
      false,
    )
  if (!began && proxy !== undefined)
    return fault(
      'not-sent',
      `no connection to ${host} could be made through the proxy ${proxy}`,
      checkNetwork,
    )
  if (timedOut.test(code) || code === timeLimitCode)
    return fault(
      began ? 'ambiguous' : 'not-sent',
      `no whole answer came from ${host} within ${limit / 1_000} s`,
      `Try again later; --timeout sets the limit.${began ? '' : ` ${nothingSent}`}`,
    )
  if (name === 'HTTPParserError' || notHttp.test(code))
    return {
      sentState: 'ambiguous',
      retryable: code.startsWith('UND_ERR_RES_'),
      failure: new MergeqError('bad-answer', `${operation}: what ${host} answered is not valid HTTP.`, {
        operation,
        sentState: 'ambiguous',
        hint: 'Check the base address and its port.',
      }),
    }
  if (!began)
    return fault('not-sent', `the connection to ${host} broke before anything was sent`, checkNetwork)
  return fault('ambiguous', `the connection to ${host} broke before the answer was whole`, 'Try again later.')
}

/** The code of the error with which an attempt is ended when its time is over. */
export const timeLimitCode = 'MERGEQ_TIME_IS_OVER'
