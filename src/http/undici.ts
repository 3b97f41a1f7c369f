import type { Environment } from '../host/host.ts'
import { sendOnce } from './attempt.ts'
import {
  type ConnectionPools,
  type ConnectOptions,
  createConnectionPools,
  createTrust,
} from './connection-pools.ts'

export interface UndiciTransport {
  readonly pools: ConnectionPools
  readonly sendOnce: typeof sendOnce
}

export async function createUndiciTransport(
  env: Environment,
  options: ConnectOptions & { readonly certificates: readonly string[] | undefined },
): Promise<UndiciTransport> {
  const { certificates } = options
  const secureContext = certificates === undefined ? undefined : await createTrust(certificates)
  return { pools: createConnectionPools(env, { ...options, secureContext }), sendOnce }
}
