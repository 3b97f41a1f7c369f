import type { Environment } from '../host/host.ts'
import { attempt } from './attempt.ts'
import { type Connecting, openWays, trust, type Ways } from './connection-pools.ts'

/** What carries a request: all that knows undici, loaded with the first one. */
export interface Wire {
  readonly ways: Ways
  readonly attempt: typeof attempt
}

/** Opens the wire; `certificates`, further authorities in PEM, are given where https is spoken. */
export async function openWire(
  env: Environment,
  connecting: Connecting & { readonly certificates: readonly string[] | undefined },
): Promise<Wire> {
  const { certificates } = connecting
  const secureContext = certificates === undefined ? undefined : await trust(certificates)
  return { ways: openWays(env, { ...connecting, secureContext }), attempt }
}
