// Type declarations for modules of undici: loading the whole package takes 30 ms more at every start.
declare module 'undici/lib/dispatcher/proxy-agent.js' {
  export { ProxyAgent as default } from 'undici'
}
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}
declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici'
  export default function request(
    this: Dispatcher,
    options: Omit<Dispatcher.RequestOptions, 'body'> & {
      readonly origin: string
      readonly body: Uint8Array | AsyncIterable<Uint8Array> | null
    },
  ): Promise<Dispatcher.ResponseData>
}
declare module 'undici/lib/api/api-connect.js' {
  export default function connect(options: object, callback?: unknown): unknown
}
