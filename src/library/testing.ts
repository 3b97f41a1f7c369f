import { type SandboxOptions, startSandbox as startServer } from '../sandbox/sandbox.ts'
import { sandboxTypes } from '../values/sandbox.ts'
import { readOptions, toPublicError } from './options.ts'

const readers = Object.fromEntries(Object.entries(sandboxTypes).map(([name, { check }]) => [name, check]))

/** Starts a sandbox on loopback; it prints nothing, and does not keep the process alive. */
export async function startSandbox(options: object = {}): Promise<object> {
  try {
    const values: Partial<SandboxOptions> = readOptions('startSandbox', options, readers)
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
