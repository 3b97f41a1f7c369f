import { createNodeHost } from '../host/node-host.ts'
import {
  type ClientMethod,
  type ClientOnlyOptions,
  type CommonClientOptions,
  createOperationMethods,
} from './client.ts'

declare const MERGEQ_VERSION: string

const never = new AbortController().signal

/** A client of the service; what it is not given is found where the command line finds it. The process is left as it is. */
export function createClient(
  options: ClientOnlyOptions & CommonClientOptions = {},
): Readonly<Record<string, ClientMethod>> {
  const proc = Object.create(process, { env: { value: { ...process.env } } })
  return createOperationMethods(options, createNodeHost(proc, MERGEQ_VERSION, never))
}
