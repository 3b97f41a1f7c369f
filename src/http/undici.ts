import type { Environment } from '../host/host.ts'
import { sendOnce } from './attempt.ts'
import {
  type ConnectionPools,
  type ConnectOptions,
  createConnectionPools,
  createTrust,
} from './connection-pools.ts'

/** What carries a request: all that knows undici, loaded with the first one. */
export interface UndiciTransport {
  readonly pools: ConnectionPools
  readonly sendOnce: typeof sendOnce
}

/** Opens the wire; `certificates`, further authorities in PEM, are given where https is spoken. */
export async function createUndiciTransport(
  env: Environment,
  connecting: ConnectOptions & { readonly certificates: readonly string[] | undefined },
): Promise<UndiciTransport> {
  const { certificates } = connecting
  const secureContext = certificates === undefined ? undefined : await createTrust(certificates)
  return { pools: createConnectionPools(env, { ...connecting, secureContext }), sendOnce }
}
