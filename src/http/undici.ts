import type { Environment } from '../host/host.ts'
import { sendOnce } from './attempt.ts'
import {
  type ConnectionPools,
  type ConnectOptions,
  createConnectionPools,
  createTrust,
} from './connection-pools.ts'

/** The part of the HTTP client that uses undici; it is loaded with the first request. */
export interface UndiciTransport {
  readonly pools: ConnectionPools
  readonly sendOnce: typeof sendOnce
}

/** Creates the transport. `certificates` are further authorities in PEM, and undefined without https. */
export async function createUndiciTransport(
  env: Environment,
  options: ConnectOptions & { readonly certificates: readonly string[] | undefined },
): Promise<UndiciTransport> {
  const { certificates } = options
  const secureContext = certificates === undefined ? undefined : await createTrust(certificates)
  return { pools: createConnectionPools(env, { ...options, secureContext }), sendOnce }
}
