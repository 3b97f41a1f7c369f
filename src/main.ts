import { Failure } from './failure.ts'
import { program } from './program.ts'
import { realWorld } from './world/real.ts'

declare const MERGEQ_VERSION: string

const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

const stop = new AbortController()
for (const [signal, exit] of Object.entries(signals))
  process.once(signal, () => stop.abort(new Failure('interrupted', `stopped by ${signal}.`, { exit })))

program(realWorld(process, MERGEQ_VERSION, stop.signal)).then(code => {
  process.exitCode = code
  // What is still to be handed to a reader who does not read would hold the program for ever.
  if (stop.signal.aborted) process.exit()
})
