import type { CommandLine } from '../domain/suggested-command.ts'
import type { Host } from '../host/host.ts'
import type { HttpClient } from '../http/http-client.ts'
import { limitRetries, type RetryPolicy } from '../http/retry-policy.ts'

interface ServiceClientOptions {
  /** Milliseconds that an attempt may take; undefined is the default of a read or of a change. */
  readonly timeout?: number | undefined
  readonly verbose: boolean
}

export interface RequestLimits {
  readonly retryPolicy?: RetryPolicy
  /**
   * Returns the limit in milliseconds of the next attempt; `usual` is the default of a read or of a change.
   */
  timeout?(usual: number): number
}

export interface ServiceLogger {
  debug(text: string): Promise<void>
  info(text: string): Promise<void>
  warn(text: string): Promise<void>
  infoOnce(text: string): Promise<void>
  warnOnce(text: string): Promise<void>
  withSpinner<T>(text: () => string, work: () => Promise<T>): Promise<T>
}

export interface ServiceClient {
  readonly host: Pick<Host, 'clock' | 'interrupted' | 'runtime'>
  readonly options: ServiceClientOptions
  readonly retryPolicy: RetryPolicy
  readonly settings: {
    require(name: 'baseUrl'): Promise<string>
    used(): ReadonlyMap<unknown, { readonly value: string; readonly origin: string }>
    /** A command line to suggest in a hint, about the same service and queue. */
    readonly commandLine: CommandLine
  }
  readonly logger: ServiceLogger
  readonly secrets: {
    redact(text: string): string
    redactBytes(bytes: Uint8Array): Uint8Array
  }
  token(): Promise<{ readonly value: string; readonly source: string }>
  httpClient(): Promise<HttpClient>
}

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
