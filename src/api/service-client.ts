import type { Host } from '../host/host.ts'
import type { HttpClient } from '../http/http-client.ts'

/** Options that hold for every call of a client. */
export interface ServiceClientOptions {
  /** How often a request is repeated at most. */
  readonly retries: number
  /** Milliseconds that an attempt may take; undefined is the default of a read or of a change. */
  readonly timeout?: number | undefined
  /**
   * The largest answer that is read, in bytes after decompression; undefined is the default of the
   * operation.
   */
  readonly maxAnswer?: number | undefined
  /** Whether each request and answer is logged. */
  readonly verbose: boolean
}

/** Limits that depend on the current time: functions, so that a copy of the client does not freeze them. */
export interface RequestLimits {
  /** Milliseconds that an attempt may take if it begins now; `usual` is its limit otherwise. */
  timeout(usual: number): number
  /**
   * How often a request may be repeated if it begins now, at most `usual`; `timeout` is the limit of its
   * attempts.
   */
  retries?(usual: number, timeout: number): number
}

/** What `callOperation` needs in order to call the service. */
export interface ServiceClient {
  readonly host: Pick<Host, 'clock' | 'interrupted' | 'runtime'>
  readonly options: ServiceClientOptions
  readonly settings: {
    require(name: 'baseUrl'): Promise<string>
    /** The settings that were used so far, each with its origin, in the order of their first use. */
    used(): ReadonlyMap<unknown, { readonly value: string; readonly origin: string }>
  }
  readonly logger: {
    debug(text: string): Promise<void>
    info(text: string): Promise<void>
    warn(text: string): Promise<void>
  }
  /** How far a longer task has come: part of the spinner's text. */
  readonly progress?: string
  /** Limits of each request besides the options. */
  readonly limits?: RequestLimits
  readonly secrets: {
    /** A text without the known secrets in it. */
    redact(text: string): string
    redactBytes(bytes: Uint8Array): Uint8Array
  }
  /** The token for the base address, and where it came from. */
  token(): Promise<{ readonly value: string; readonly source: string }>
  httpClient(): Promise<HttpClient>
  withSpinner<T>(text: () => string, work: () => Promise<T>): Promise<T>
  /** Tells the user once that the answers come from a sandbox. */
  noteSandbox(): Promise<void>
  warnOnce(text: string): Promise<void>
}

/** What `noteSandbox` says. */
export const sandboxNote = 'mergeq: this is a sandbox; nothing here is real.'
