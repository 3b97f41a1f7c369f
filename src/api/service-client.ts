import { usageError } from '../base/errors.ts'
import { isLoopback } from '../base/url.ts'
import type { Config } from '../config/settings.ts'
import type { ServiceHost } from '../host/host.ts'
import type { HttpClient, RateLimit } from '../http/http-client.ts'
import type { Traffic } from '../http/traffic.ts'
import type { Logger } from '../output/logger.ts'
import type { Redactor } from '../output/redactor.ts'
import { minSecretLength } from '../values/limits.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { sandboxToken } from '../values/scenario-names.ts'
import type { AddedFields } from './added-fields.ts'
import type { NameOf } from './params.ts'
import type { Resource } from './resource.ts'
import type { ServiceTime } from './service-time.ts'
import type { WaitTime } from './wait-time.ts'

/** Limits of one call that replace those of the client and of the operation. */
export interface RequestLimits {
  /** The largest response that is read, in bytes; by default that of the operation. */
  readonly maxResponseSize?: number
  readonly maxRetries?: number
  /** Returns the limit in milliseconds of the next attempt; `usual` is the default of a read or of a change. */
  timeout?(usual: number): number
}

export interface RefusedRequest {
  readonly operation: string
  /** Undefined for a request that was not sent because its body is too large. */
  readonly status: number | undefined
  readonly resource: Resource
  /** Where the token came from; undefined when none was sent. */
  readonly token?: string | undefined
}

/** What the caller advises in its own words, such as commands to run; undefined leaves a neutral hint. */
export interface Advice {
  afterRefusal(request: RefusedRequest): string | undefined
  /** Returns what to run to see the state of what changes are about. */
  toInspect(resources: readonly Resource[]): readonly string[]
  toCancel(pullRequests: readonly PullRequest[]): readonly string[]
  toWait(pullRequests: readonly PullRequest[]): readonly string[]
  toSubmit(pullRequest: PullRequest): string
}

/** What a call of the service needs from its caller, the command line or the library. */
export interface ServiceClient {
  readonly nameOf: NameOf
  readonly advice: Advice
  readonly host: Pick<ServiceHost, 'clock' | 'env' | 'interrupted' | 'random' | 'runtime'>
  /** `timeout`: milliseconds that an attempt may take; undefined is the default of a read or of a change. */
  readonly options: { readonly timeout?: number | undefined; readonly verbose: boolean }
  /** The time of the whole command, where that is limited: every request has what is left of it. */
  readonly time?: WaitTime | undefined
  readonly serviceTime: ServiceTime
  readonly maxRetries: number
  /** The address of the proxy, in the place of that of the environment. */
  readonly proxy?: string | undefined
  /** What the requests of other clients count for, too. */
  readonly traffic?: Traffic | undefined
  /** Undefined where requests do not wait for each other: in the hook of git, and in completion. */
  readonly rateLimit?: RateLimit | undefined
  /** Who reads what is told; undefined in the library and in completion. */
  readonly messages?: 'person' | 'log' | undefined
  /** Whether a read that got no byte in its time is repeated as often as others. */
  readonly repeatsSilence?: boolean | undefined
  readonly settings: Config
  readonly logger: Logger
  readonly secrets: Pick<Redactor, 'redact' | 'redactBytes'>
  /**
   * Returns the token, which is looked up once. With `after`, in milliseconds since 1970, what was looked up before is
   * looked up again: the token of a file or a program may be another one.
   */
  token(after?: number): Promise<{ readonly value: string; readonly source: string }>
  /** Whether a token that is rejected is looked up again, as it is in a wait. */
  readonly renewsToken?: boolean
  httpClient(): Promise<HttpClient>
  /** What the user adds to the bodies of an operation. */
  readonly added?: AddedFields | undefined
  /** Whether a request would be a bug: the command line prints its requests instead of sending them. */
  readonly isDryRun?: boolean
}

/** Throws a usage error if MERGEQ_READ_ONLY is set, unless the service on loopback takes the token of a sandbox. */
export async function requireWritable({
  host,
  settings,
  token,
}: Pick<ServiceClient, 'host' | 'settings' | 'token'>): Promise<void> {
  if (/^(?:|0|false)$/i.test(host.env.MERGEQ_READ_ONLY ?? '')) return
  const { hostname } = new URL(await settings.require('baseUrl'))
  if (isLoopback(hostname) && (await token().catch(() => undefined))?.value === sandboxToken) return
  throw usageError(
    'MERGEQ_READ_ONLY is set: nothing may be changed.',
    'Nothing was sent. To allow changes, unset MERGEQ_READ_ONLY.',
  )
}

/** Returns the client without messages and progress, for an extra read whose failure is not reported. */
export const withoutMessages = (client: ServiceClient): ServiceClient => {
  const ignore = async () => undefined
  const logger: Logger = {
    ...client.logger,
    info: ignore,
    progress: ignore,
    warn: ignore,
    infoOnce: ignore,
    warnOnce: ignore,
    startSpinner: () => () => undefined,
    withSpinner: (_, work) => work(),
  }
  return { ...client, logger }
}

interface ClientParts extends Omit<ServiceClient, 'httpClient'> {
  readonly host: ServiceHost
}

/** Creates a client whose HTTP client is loaded for the first request: that takes most of the time to start. */
export function createServiceClient<T extends ClientParts>(
  parts: T,
): T & { httpClient(): Promise<HttpClient>; close(): Promise<void> } {
  let httpClient: Promise<HttpClient> | undefined
  return {
    ...parts,
    async token(after) {
      const token = await parts.token(after)
      if (token.value.length >= minSecretLength) return token
      const { hostname } = new URL(await parts.settings.require('baseUrl'))
      if (!isLoopback(hostname))
        await parts.logger.warnOnce(
          `The token (${token.source}) is shorter than ${minSecretLength} characters, so mergeq cannot remove it from its output.`,
        )
      return token
    },
    httpClient() {
      httpClient ??= openHttpClient(parts)
      return httpClient
    },
    async close() {
      // An HTTP client that could not be opened was reported by httpClient().
      await httpClient?.then(
        opened => opened.close(),
        () => undefined,
      )
    },
  }
}

async function openHttpClient(parts: ClientParts): Promise<HttpClient> {
  const { host, logger, settings, options } = parts
  // A wrong value of the setting is found before anything is loaded.
  const caFile = (await settings.read('caFile')) === undefined ? undefined : await settings.find('caFile')
  const { HttpClient } = await import('../http/http-client.ts')
  if (host.env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    await logger.warn('NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified.')
  return new HttpClient({
    ...parts,
    ...host,
    limit: options.timeout ?? Number.POSITIVE_INFINITY,
    caFile,
    warnOnce: logger.warnOnce,
    notify: text => logger.progress(text),
  })
}
