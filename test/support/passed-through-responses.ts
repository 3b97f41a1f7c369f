import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'

/** A line of the text format with its number. */
const line = (index: number) => `mq_depth_current{repo="acme/web",branch="b-${index}"} ${index % 17}\n`
export const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => line(from + index)).join('')
/** Some 2.5 MB: more than is kept before it is passed on. */
export const long = `# TYPE mq_depth_current gauge\n${lines(0, 50_000)}last 1`

let close: (() => void) | undefined
afterEach(() => {
  close?.()
  close = undefined
})

/** A service whose answers are written by hand; its base address, and how often it was asked. */
export async function serve(answer: (response: ServerResponse, index: number) => void) {
  let asked = 0
  const server = createServer((_, response) => answer(response, asked++)).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  close = () => {
    server.closeAllConnections()
    server.close()
  }
  const env = { MERGEQ_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
  return { env, asked: () => asked }
}
