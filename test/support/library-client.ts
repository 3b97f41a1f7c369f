import { onTestFinished } from 'vitest'
import type { Host, ServiceHost } from '../../src/host/host.ts'
import { createNodeHost } from '../../src/host/node-host.ts'
import { createHostClient as createClientWith, type LibraryParts } from '../../src/library/client.ts'
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

/** The options of a client: the compiler checks only the callback. */
interface GivenOptions {
  readonly onNotice?: (text: string) => unknown
  readonly [option: string]: unknown
}

const parts: LibraryParts = {
  waits: () => import('../../src/library/waits.ts'),
  explanations: () => import('../../src/library/explanations.ts'),
}

/** Creates a client of the library on a host. */
export const createHostClient = (options: GivenOptions, host: ServiceHost) =>
  createClientWith(options, host, parts)

export const token = 'tok_4f2a9c1e77'

/** Returns a client of the library for a service that answers so until the test is over, and what it was sent. */
export async function clientOf(answer: Script, options: GivenOptions = {}, host: Host = nodeHost) {
  const { baseUrl, requests, close } = await serveScript(answer)
  onTestFinished(close)
  const settings = { baseUrl, token, repo: 'acme/web', targetBranch: 'main', org: 'acme' }
  return { client: createHostClient({ ...settings, ...options }, host), requests, baseUrl }
}

/** The same by a clock that moves only while the client sleeps. */
export const clientAt = (answer: Script, options: GivenOptions = {}, clock?: { now: number }) =>
  clientOf(answer, options, hostAt(clock))

/** A client of the sandbox of a story, whose time passes while it sleeps. */
export const clientOfStory = ({ env, clock }: Story, options: GivenOptions = {}) =>
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
