import type { Attempt } from '../../src/http/undici.ts'
import { replacedTransport } from './replaced-transport.ts'
import type { WireRequest } from './service-description.ts'

/** The service that requests go to, in the place of the network. */
export const network: { respond: (request: WireRequest) => { status: number; body: string } } = {
  respond: () => ({ status: 500, body: '' }),
}

/** The base address of that service, as the environment of a command names it. */
export const baseUrl = 'https://service.example/v1'

/** The settings with which a command sends its requests there. */
export const networkEnv = {
  MERGEQ_BASE_URL: baseUrl,
  MERGEQ_REPO: 'acme/web',
  MERGEQ_TARGET_BRANCH: 'main',
  MERGEQ_ORG: 'acme',
  NO_COLOR: '1',
}

/** What takes the place of `src/http/undici.ts` in tests that need thousands of requests. */
export const fakeTransport = replacedTransport(
  async (_: unknown, { request: { method, url, body }, headers, onBegin }: Attempt) => {
    onBegin?.()
    const text = body === undefined ? '' : Buffer.concat(body.pieces).toString()
    const answer = network.respond({ method, path: url.replace(baseUrl, ''), headers, body: text })
    return { status: answer.status, headers: new Map(), bytes: Buffer.from(answer.body) }
  },
)
