import { type ErrorDetails, MergeqError } from '../base/errors.ts'
import { ProxyConnectionError, type ProxySource } from './proxy.ts'

/** Why an attempt failed, and how far it got (docs/reference/network.md, "Kinds of failure"). */
export interface TransportError {
  /** Whether another attempt may succeed; a change is sent again only if it was not sent. */
  readonly retryable: boolean
  /** Whether its time was over without a byte of the response. */
  readonly isSilent?: boolean
  readonly error: MergeqError
}

interface RequestInfo {
  readonly operation: string
  readonly host: string
  readonly proxy: string | undefined
  readonly proxies: Pick<ProxySource, 'name' | 'check'>
  readonly began: boolean
  readonly limit: number
  nameOf(setting: 'caFile' | 'timeout'): string
}

interface Errno {
  readonly name?: string
  readonly code?: string
  /** `getaddrinfo` for an error of the DNS lookup, whatever its code is. */
  readonly syscall?: string
  readonly message?: string
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

const badCertificate = /CERT|^UNABLE_TO_|SELF_SIGNED/
const unknownAuthority = /^UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY_LEAF)|SELF_SIGNED|^CERT_UNTRUSTED$/
const noTls = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/
const failedTls = /^ERR_SSL|^ERR_TLS|^EPROTO$/
const unreachable = /^(ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/
const timedOut = /^UND_ERR_(HEADERS|BODY)_TIMEOUT$|^ETIMEDOUT$/
const notHttp = /^HPE_|^UND_ERR_HEADERS_OVERFLOW$|^UND_ERR_RES_/

const nothingSent = 'Nothing was sent; it is safe to try again.'
const checkClock =
  'Check the date and time of this machine. If they are right, the server needs another certificate.'
const checkNetwork = `Check the network and the base URL. ${nothingSent}`

/** What is told about a failed request; without `retryable` the request may be repeated. */
interface Failure extends Pick<ErrorDetails, 'sentState' | 'hint' | 'failedStep'> {
  /** Without a full stop. */
  readonly message: string
  readonly kind?: 'bad-answer' | 'usage'
  readonly retryable?: boolean
}

const notSent = (
  message: string,
  details: Partial<Pick<Failure, 'hint' | 'failedStep' | 'retryable'>> = {},
): Failure => ({ sentState: 'not-sent', message, hint: checkNetwork, ...details })

/** The text of the error itself is never shown. */
export function classifyError(error: unknown, info: RequestInfo): TransportError {
  const cause = innermostError(error)
  const isAtProxy = error instanceof ProxyConnectionError
  const [, proxyStatus] = /Proxy response \((\d+)\)/.exec(cause.message ?? '') ?? []
  const failure =
    proxyStatus === undefined
      ? (failureOfWebAssembly(cause) ??
        failureToConnect(cause, info, isAtProxy) ??
        failureOfTls(cause, info, isAtProxy) ??
        failureAfterwards(cause, info))
      : proxyRefusal(proxyStatus, info)
  const { kind = 'unavailable', message, retryable = true, ...details } = failure
  const { host, operation } = info
  return {
    retryable,
    error: new MergeqError(kind, `${message}.`, {
      host,
      operation,
      ...details,
      ...(kind === 'unavailable' && !retryable ? { needsChange: true } : {}),
    }),
  }
}

const proxyName = ({ proxy, proxies }: RequestInfo): string => `proxy ${proxy} (${proxies.name})`

const proxyRefusal = (status: string, info: RequestInfo): Failure =>
  status === '407' || status === '401'
    ? notSent(`The ${proxyName(info)} requires a login (${status}); the service was not reached`, {
        hint: `Set ${info.proxies.name} to a URL with the user name and password, for example http://user:password@proxy.example:3128. Nothing was sent.`,
        retryable: false,
        failedStep: 'proxy',
      })
    : notSent(`The ${proxyName(info)} could not connect to ${info.host} (${status})`, {
        hint: checkProxy(info),
        failedStep: 'proxy',
      })

const checkProxy = ({ proxies }: RequestInfo): string => `${proxies.check} ${nothingSent}`

/** The failure of undici to load its HTTP parser; undefined for every other failure. */
const failureOfWebAssembly = ({ message = '' }: Errno): Failure | undefined =>
  /^WebAssembly\b/.test(message)
    ? {
        kind: 'usage',
        sentState: 'not-sent',
        message: 'The HTTP client needs WebAssembly, which Node could not load',
        hint: 'Run Node without --jitless, and with more virtual memory (ulimit -v). Nothing was sent.',
        retryable: false,
      }
    : undefined

/** The failure of a lookup or a connection, to the proxy where there is one; undefined for every other failure. */
function failureToConnect(
  { code = '', syscall }: Errno,
  info: RequestInfo,
  isAtProxy: boolean,
): Failure | undefined {
  const { host, proxy, began } = info
  const hasProxy = proxy !== undefined
  const peer = hasProxy ? `the ${proxyName(info)}` : host
  const peerName = hasProxy ? `The ${proxyName(info)}` : host
  const details = (failedStep: 'dns' | 'connection') =>
    hasProxy ? ({ hint: checkProxy(info), failedStep: 'proxy' } as const) : { failedStep }
  if (syscall === 'getaddrinfo')
    return notSent(
      `The host name ${hasProxy ? 'of ' : ''}${peer} could not be resolved (DNS)`,
      details('dns'),
    )
  if (code === 'ECONNREFUSED') return notSent(`${peerName} refused the connection`, details('connection'))
  if (code === notLoopbackCode)
    return notSent(`${host} leads to another machine, not to this one`, {
      hint: `Check the hosts file, or use 127.0.0.1 in the base URL. ${nothingSent}`,
      retryable: false,
      failedStep: 'dns',
    })
  const isTooLate = code === 'UND_ERR_CONNECT_TIMEOUT' && (isAtProxy || !hasProxy)
  if (!isTooLate && (began || !unreachable.test(code))) return undefined
  return notSent(`${peerName} could not be reached`, hasProxy ? { hint: checkProxy(info) } : {})
}

/** The failure of TLS, with the proxy itself if `isAtProxy`; undefined for every other failure. */
function failureOfTls({ code = '' }: Errno, info: RequestInfo, isAtProxy: boolean): Failure | undefined {
  const { host, nameOf, proxies } = info
  const peer = isAtProxy ? `the ${proxyName(info)}` : host
  const failed = (message: string, hint: string): Failure =>
    notSent(message, {
      retryable: false,
      failedStep: isAtProxy ? 'proxy' : 'tls',
      hint: `${hint} ${nothingSent}`,
    })
  const check = (hint: string) => (isAtProxy ? proxies.check : hint)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return failed(`The certificate of ${peer} is for a different host name`, check('Check the base URL.'))
  if (noTls.test(code))
    return failed(
      `${isAtProxy ? `The ${proxyName(info)}` : `The server at ${host}`} does not speak TLS (https)`,
      check('Check the base URL: its port may be for plain http.'),
    )
  if (code === 'CERT_HAS_EXPIRED') return failed(`The certificate of ${peer} has expired`, checkClock)
  if (code === 'CERT_NOT_YET_VALID') return failed(`The certificate of ${peer} is not valid yet`, checkClock)
  if (unknownAuthority.test(code))
    return failed(
      `The certificate of ${peer} is from an authority that is not trusted (${code})`,
      `If your network uses its own certificate authority, add it with ${nameOf('caFile')} <pem> or NODE_EXTRA_CA_CERTS. From Node 22.15 on, NODE_OPTIONS=--use-system-ca adds those of the system.`,
    )
  if (badCertificate.test(code))
    return failed(
      `The certificate of ${peer} is not accepted (${code})`,
      check('The server needs another certificate.'),
    )
  return failedTls.test(code)
    ? failed(`TLS with ${peer} failed (${code})`, check('Check the network and the base URL.'))
    : undefined
}

/** The failure of a request on a connection that was open, or about to be. */
function failureAfterwards({ name, code = '' }: Errno, info: RequestInfo): Failure {
  const { host, proxy, began, limit, nameOf } = info
  if (!began && proxy !== undefined)
    return notSent(`Could not connect to ${host} through the ${proxyName(info)}`, { hint: checkProxy(info) })
  if (timedOut.test(code) || code === timeLimitCode)
    return {
      sentState: began ? 'ambiguous' : 'not-sent',
      message: `${host} did not send a complete response within ${Math.round(limit / 100) / 10}s`,
      hint: `Try again later, or raise the time limit with ${nameOf('timeout')}.${began ? '' : ` ${nothingSent}`}`,
    }
  if (name === 'HTTPParserError' || notHttp.test(code))
    return {
      kind: 'bad-answer',
      sentState: 'ambiguous',
      message: `The response from ${host} is not valid HTTP`,
      hint: 'Check the base URL and its port.',
      retryable: code.startsWith('UND_ERR_RES_'),
    }
  if (!began) return notSent(`The connection to ${host} was closed before anything was sent`)
  return {
    sentState: 'ambiguous',
    message: `The connection to ${host} was closed before the response was complete`,
    hint: 'Try again later.',
  }
}

export const notLoopbackCode = 'MERGEQ_NOT_LOOPBACK'

export const timeLimitCode = 'MERGEQ_TIME_IS_OVER'

export const isTimeLimit = (error: unknown): boolean => asErrno(error).code === timeLimitCode
