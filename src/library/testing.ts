import { type SandboxOptions, startSandbox as startServer } from '../sandbox/sandbox.ts'
import { sandboxTypes } from '../values/sandbox.ts'
import { readOptions, toPublicError } from './options.ts'

const params = Object.fromEntries(Object.entries(sandboxTypes).map(([name, type]) => [name, { type }]))

/** Starts a sandbox on loopback; it prints nothing, and does not keep the process alive. */
export async function startSandbox(options: object = {}): Promise<object> {
  try {
    const values: Partial<SandboxOptions> = readOptions('startSandbox', options, params)
    const { baseUrl, token, close } = await startServer({
      ...values,
      isBackground: true,
      now: () => Date.now(),
    })
    return { baseUrl, token, close }
  } catch (error) {
    throw toPublicError(error)
  }
}
