import { onTestFinished } from 'vitest'
import type { Host, ServiceHost } from '../../src/host/host.ts'
import { createNodeHost } from '../../src/host/node-host.ts'
import { createHostClient as createClientWith, type LibraryParts } from '../../src/library/client.ts'
import type { ClientOptions } from '../../src/library/types.ts'
import { type Script, type Story, serveScript } from './harness.ts'

const bare = Object.create(process, { env: { value: { HOME: '/nonexistent' } } })

/** This machine without its environment. */
export const nodeHost = createNodeHost(bare, '0.0.0-test', new AbortController().signal)

/** A host whose time passes only while it sleeps. */
export const hostAt = (clock = { now: 0 }): Host => ({
  ...nodeHost,
  random: () => 0.5,
  clock: {
    now: () => clock.now,
    monotonic: () => clock.now,
    async sleep(ms, signal) {
      await new Promise(setImmediate)
      signal?.throwIfAborted()
      clock.now += ms
    },
  },
})

/** This machine with time that passes faster. */
export const fastHost = (speed: number): Host => {
  const startedAt = Date.now()
  const monotonic = () => performance.now() * speed
  return {
    ...nodeHost,
    clock: {
      monotonic,
      now: () => startedAt + (Date.now() - startedAt) * speed,
      sleep: (ms, signal) => nodeHost.clock.sleep(ms / speed, signal),
    },
  }
}

const parts: LibraryParts = {
  waits: () => import('../../src/library/waits.ts'),
  explanations: () => import('../../src/library/explanations.ts'),
}

/** Creates a client of the library on a host. */
export const createHostClient = (options: ClientOptions, host: ServiceHost) =>
  createClientWith(options, host, parts)

export const token = 'tok_4f2a9c1e77'

/** Returns a client of the library for a service that answers so until the test is over, and what it was sent. */
export async function clientOf(answer: Script, options: ClientOptions = {}, host: Host = nodeHost) {
  const { baseUrl, requests, close } = await serveScript(answer)
  onTestFinished(close)
  const settings = { baseUrl, token, repo: 'acme/web', targetBranch: 'main', org: 'acme' }
  return { client: createHostClient({ ...settings, ...options }, host), requests, baseUrl }
}

/** A client of the sandbox of a story, whose time passes while it sleeps. */
export const clientOfStory = ({ env, clock }: Story, options: ClientOptions = {}) =>
  createHostClient(
    {
      baseUrl: env.MERGEQ_BASE_URL,
      token: env.MERGEQ_TOKEN,
      repo: 'acme/web',
      targetBranch: 'main',
      ...options,
    },
    hostAt(clock),
  )
