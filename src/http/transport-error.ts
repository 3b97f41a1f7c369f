import { type ErrorDetails, MergeqError } from '../errors.ts'

/**
 * How far a failed request got (docs/reference/network.md, "Kinds of failure"): a `not-sent` request never
 * reached the service; the service may have applied an `ambiguous` request.
 */
type SentState = NonNullable<ErrorDetails['sentState']>

type FailedStep = NonNullable<ErrorDetails['failedStep']>

export interface TransportError {
  readonly sentState: SentState
  readonly retryable: boolean
  readonly error: MergeqError
}

export interface RequestInfo {
  readonly operation: string
  readonly host: string
  readonly proxy: string | undefined
  readonly began: boolean
  /** The time limit of the attempt, in milliseconds. */
  readonly limit: number
  readonly node: string
}

interface Errno {
  readonly name?: string
  readonly code?: string
  /** `getaddrinfo` for an error of the DNS lookup, whatever its code is. */
  readonly syscall?: string
  readonly message?: string
  readonly hostname?: string
  readonly port?: number
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

const asErrno = (error: unknown): Errno => (typeof error === 'object' && error !== null ? error : {})

/** Returns the innermost error that has a code: an AggregateError or a wrapper has no useful code. */
function innermostError(error: unknown): Errno {
  const { code, cause, errors } = asErrno(error)
  const inner = cause ?? errors?.[0]
  if (inner !== undefined && (code === undefined || asErrno(inner).code !== undefined))
    return innermostError(inner)
  return asErrno(error)
}

const badCertificate = /CERT|^UNABLE_TO_|SELF_SIGNED|^ERR_SSL|^ERR_TLS|^EPROTO$/
const unreachable = /^(ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/
const timedOut = /^UND_ERR_(HEADERS|BODY)_TIMEOUT$|^ETIMEDOUT$/
const notHttp = /^HPE_|^UND_ERR_HEADERS_OVERFLOW$|^UND_ERR_RES_/

/** Whether a version of Node can use the certificate store of the system: 22.15, and 23.9 or later. */
function hasSystemStore(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major === 22 ? minor >= 15 : major === 23 ? minor >= 9 : major > 23
}

const nothingSent = 'Nothing was sent; it is safe to try again.'
const checkNetwork = `Check the network and the base URL. ${nothingSent}`

/** The text of the error itself is never shown. */
export function classifyError(
  error: unknown,
  { operation, host, proxy, began, limit, node }: RequestInfo,
): TransportError {
  const { name = '', code = '', syscall, message: errorMessage = '', hostname, port } = innermostError(error)
  const transportError = (
    sentState: SentState,
    message: string,
    hint: string,
    { retryable = true, failedStep }: { readonly retryable?: boolean; readonly failedStep?: FailedStep } = {},
  ): TransportError => ({
    sentState,
    retryable,
    error: new MergeqError('unavailable', `${message}.`, {
      operation,
      hint,
      sentState,
      ...(failedStep === undefined ? {} : { failedStep }),
    }),
  })
  const isProxyError =
    proxy !== undefined &&
    (hostname === proxy.replace(/:\d+$/, '') || String(port) === proxy.split(':').at(-1))
  const peer = isProxyError ? `the proxy ${proxy}` : host
  const peerName = isProxyError ? `The proxy ${proxy}` : host
  const [, proxyStatus] = /Proxy response \((\d+)\)/.exec(errorMessage) ?? []
  if (proxyStatus === '407' || proxyStatus === '401')
    return transportError(
      'not-sent',
      `The proxy ${proxy} requires a login (${proxyStatus}); the service was not reached`,
      'Set HTTPS_PROXY to a URL with the user name and password, for example http://user:password@proxy.example:3128. Nothing was sent.',
      { retryable: false, failedStep: 'proxy' },
    )
  if (proxyStatus !== undefined)
    return transportError(
      'not-sent',
      `The proxy ${proxy} could not connect to ${host} (${proxyStatus})`,
      checkNetwork,
      { failedStep: 'proxy' },
    )
  if (syscall === 'getaddrinfo')
    return transportError('not-sent', `The host name of ${peer} could not be resolved (DNS)`, checkNetwork, {
      failedStep: 'dns',
    })
  if (code === 'ECONNREFUSED')
    return transportError('not-sent', `${peerName} refused the connection`, checkNetwork, {
      failedStep: isProxyError ? 'proxy' : 'connection',
    })
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (!began && unreachable.test(code)))
    return transportError('not-sent', `${peerName} could not be reached`, checkNetwork)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || name === 'SecureProxyConnectionError')
    return transportError(
      'not-sent',
      `The certificate of ${host} is for a different host name`,
      `Check the base URL. ${nothingSent}`,
      { retryable: false, failedStep: 'tls' },
    )
  if (badCertificate.test(code))
    return transportError(
      'not-sent',
      `The certificate of ${host} is not trusted (${code})`,
      `If your network uses its own certificate authority, add it with --ca-file <pem> or NODE_EXTRA_CA_CERTS${hasSystemStore(node) ? ', or use the system certificate store: NODE_OPTIONS=--use-system-ca' : ''}. ${nothingSent}`,
      { retryable: false, failedStep: 'tls' },
    )
  if (!began && proxy !== undefined)
    return transportError('not-sent', `Could not connect to ${host} through the proxy ${proxy}`, checkNetwork)
  if (timedOut.test(code) || code === timeLimitCode)
    return transportError(
      began ? 'ambiguous' : 'not-sent',
      `${host} did not send a complete response within ${limit / 1_000}s`,
      `Try again later, or raise the time limit with --timeout.${began ? '' : ` ${nothingSent}`}`,
    )
  if (name === 'HTTPParserError' || notHttp.test(code))
    return {
      sentState: 'ambiguous',
      retryable: code.startsWith('UND_ERR_RES_'),
      error: new MergeqError('bad-answer', `The response from ${host} is not valid HTTP.`, {
        operation,
        sentState: 'ambiguous',
        hint: 'Check the base URL and its port.',
      }),
    }
  if (!began)
    return transportError(
      'not-sent',
      `The connection to ${host} was closed before anything was sent`,
      checkNetwork,
    )
  return transportError(
    'ambiguous',
    `The connection to ${host} was closed before the response was complete`,
    'Try again later.',
  )
}

/** The code of the error that aborts an attempt when its time is over. */
export const timeLimitCode = 'MERGEQ_TIME_IS_OVER'
