import { type Method, type Own, openClient, type Settings } from './client.ts'
import { realWorld } from '../host/node-host.ts'

declare const MERGEQ_VERSION: string

const never = new AbortController().signal

/** A client of the service; what it is not given is found where the command line finds it. The process is left as it is. */
export function createClient(options: Own & Settings = {}): Readonly<Record<string, Method>> {
  const proc = Object.create(process, { env: { value: { ...process.env } } })
  return openClient(options, realWorld(proc, MERGEQ_VERSION, never))
}
