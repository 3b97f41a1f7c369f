import type { Host } from '../host/host.ts'
import type { HttpClient } from '../http/http-client.ts'
import { limitRetries, type RetryPolicy } from '../http/retry-policy.ts'

/** Options that hold for every call of a client. */
interface ServiceClientOptions {
  /** Milliseconds that an attempt may take; undefined is the default of a read or of a change. */
  readonly timeout?: number | undefined
  /**
   * The largest response that is read, in bytes after decompression; undefined is the default of the
   * operation.
   */
  readonly maxResponseSize?: number | undefined
  /** Whether each request and response is logged. */
  readonly verbose: boolean
}

/** Limits of a call that replace those of the client. */
export interface RequestLimits {
  readonly retryPolicy?: RetryPolicy
  /**
   * Returns the milliseconds that an attempt may take if it begins now; `usual` is the default of a read or
   * of a change.
   */
  timeout?(usual: number): number
}

/** Writes messages and progress for people. */
export interface ServiceLogger {
  /** Writes details of requests and responses. */
  debug(text: string): Promise<void>
  info(text: string): Promise<void>
  warn(text: string): Promise<void>
  /** Writes a remark, at most once for the same text. */
  infoOnce(text: string): Promise<void>
  /** Writes a warning, at most once for the same text. */
  warnOnce(text: string): Promise<void>
  /** Runs `work` and shows `text` while it runs. Returns what `work` returns. */
  withSpinner<T>(text: () => string, work: () => Promise<T>): Promise<T>
}

/** What `callOperation` needs in order to call the service. */
export interface ServiceClient {
  readonly host: Pick<Host, 'clock' | 'interrupted' | 'runtime'>
  readonly options: ServiceClientOptions
  /** How requests are retried, unless the limits of a call say otherwise. */
  readonly retryPolicy: RetryPolicy
  readonly settings: {
    require(name: 'baseUrl'): Promise<string>
    /** The settings that were used so far, each with its origin, in the order of their first use. */
    used(): ReadonlyMap<unknown, { readonly value: string; readonly origin: string }>
  }
  readonly logger: ServiceLogger
  readonly secrets: {
    /** A text without the known secrets in it. */
    redact(text: string): string
    redactBytes(bytes: Uint8Array): Uint8Array
  }
  /** The token for the base address, and where it came from. */
  token(): Promise<{ readonly value: string; readonly source: string }>
  httpClient(): Promise<HttpClient>
}

/** Returns the limits of a call with at most `maxRetries` retries of the request. */
export const withMaxRetries = (
  { retryPolicy }: Pick<ServiceClient, 'retryPolicy'>,
  maxRetries: number,
): RequestLimits => ({ retryPolicy: limitRetries(retryPolicy, maxRetries) })

/** Returns the client without messages and progress, for an extra read whose failure is not reported. */
export const withoutMessages = (client: ServiceClient): ServiceClient => {
  const ignore = async () => undefined
  const { debug } = client.logger
  const withSpinner: ServiceLogger['withSpinner'] = (_, work) => work()
  return {
    ...client,
    logger: { debug, info: ignore, warn: ignore, infoOnce: ignore, warnOnce: ignore, withSpinner },
  }
}
