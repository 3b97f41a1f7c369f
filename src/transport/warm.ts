import bytes from 'undici/lib/llhttp/llhttp-wasm.js'

const hooks = [
  ...['url', 'status', 'message_begin', 'header_field', 'header_value'],
  ...['headers_complete', 'body', 'message_complete'],
]
const answer = 'HTTP/1.1 200 OK\r\na: b\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n'
const answers = 2

/** As much of WebAssembly as is used; Node's declarations have none of it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, object>>,
  ) => {
    readonly exports: {
      readonly memory: { readonly buffer: ArrayBuffer }
      llhttp_alloc(kind: number): number
      malloc(bytes: number): number
      llhttp_execute(parser: number, at: number, bytes: number): number
    }
  }
}

/**
 * Has undici's parser compiled while a connection is being made: V8 compiles what is run, and modules of the same bytes
 * share it as long as one of them is held. That would take 4 ms of the time in which something is waited for.
 */
export function warmParser(): object {
  const module = new WebAssembly.Module(bytes)
  const env = Object.fromEntries(hooks.map(name => [`wasm_on_${name}`, () => 0]))
  const { exports } = new WebAssembly.Instance(module, { env })
  const at = exports.malloc(answer.length)
  new Uint8Array(exports.memory.buffer, at, answer.length).set(new TextEncoder().encode(answer))
  exports.llhttp_execute(exports.llhttp_alloc(answers), at, answer.length)
  return module
}
