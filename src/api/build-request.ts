import { maxBodySize } from '../domain/limits.ts'
import type { Operation } from './operation.ts'
import type { Params, ParamValues } from './param.ts'
import { bodyTooLargeError, createRequest, type Request, type RequestParts } from './request.ts'
import type { ServiceClient } from './service-client.ts'

export async function buildRequest<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  { overrides = [], pageQuery = {} }: Partial<RequestParts> = {},
): Promise<{ readonly request: Request; readonly params: ParamValues<P> }> {
  const requestOptions = {
    baseUrl: await client.settings.require('baseUrl'),
    userAgent: `mergeq/${client.host.runtime.version}`,
    overrides,
    pageQuery,
  }
  const request = createRequest(operation, params, requestOptions)
  await logOrigins(client)
  const bytes = request.body?.bytes ?? 0
  if (bytes <= maxBodySize) return { request, params }
  const instead = operation.fallback?.(params, 'limit')
  if (instead === undefined) throw bodyTooLargeError(request.operation, bytes)
  await client.logger.warn(instead.warning)
  return { request: createRequest(operation, instead.params, requestOptions), params: instead.params }
}

const loggedOrigins = new WeakMap<object, number>()

async function logOrigins({ options, settings, logger }: ServiceClient): Promise<void> {
  if (!options.verbose) return
  const used = settings.used()
  const newSettings = [...used].slice(loggedOrigins.get(used) ?? 0)
  loggedOrigins.set(used, used.size)
  for (const [name, { value, origin }] of newSettings) await logger.debug(`${name}: ${value} (${origin})`)
}
