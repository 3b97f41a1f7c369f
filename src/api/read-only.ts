import { usageError } from '../base/errors.ts'
import { isLoopback } from '../base/url.ts'
import type { Config } from '../config/settings.ts'
import { sandboxToken } from '../values/scenario-names.ts'

/** Throws the usage error of MERGEQ_READ_ONLY, unless the service on loopback takes the token of a sandbox. */
export async function requireSandbox({
  settings,
  token,
}: {
  readonly settings: Config
  token(): Promise<{ readonly value: string }>
}): Promise<void> {
  const { hostname } = new URL(await settings.require('baseUrl'))
  if (isLoopback(hostname) && (await token().catch(() => undefined))?.value === sandboxToken) return
  throw usageError(
    'MERGEQ_READ_ONLY is set: nothing may be changed.',
    'Nothing was sent. To allow changes, unset MERGEQ_READ_ONLY.',
  )
}
