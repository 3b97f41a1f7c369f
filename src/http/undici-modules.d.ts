// Type declarations for modules of undici: loading the whole package takes 30 ms more at every start.
declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  const agent: typeof import('undici').EnvHttpProxyAgent
  export default agent
}
declare module 'undici/lib/dispatcher/agent.js' {
  const agent: typeof import('undici').Agent
  export default agent
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
declare module 'undici/lib/dispatcher/dispatcher.js' {
  const dispatcher: { readonly prototype: object }
  export default dispatcher
}
declare module 'undici/lib/dispatcher/pool.js' {
  const pool: typeof import('undici').Pool
  export default pool
}
declare module 'undici/lib/core/connect.js' {
  const build: typeof import('undici').buildConnector
  export default build
}
