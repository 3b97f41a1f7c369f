import { defaultScenario, scenarioNames } from '../domain/scenario-names.ts'
import type { Repository } from '../domain/values/parsers.ts'
import { usageError } from '../errors.ts'
import type { DialectName } from './dialects.ts'
import { defaultQueue, type QueueRef } from './sandbox-state.ts'
import { readScenario } from './scenario-file.ts'
import { createScenarioReport, type ScenarioReport } from './scenario-report.ts'
import { type Scenario, scenarioNamed } from './scenarios.ts'
import { type RunningServer, startServer } from './server.ts'
import { createService, defaultToken } from './service.ts'

export { scenarioNames } from '../domain/scenario-names.ts'
export { type DialectName, dialectNames } from './dialects.ts'
export { defaultQueue, type QueueRef } from './sandbox-state.ts'
export { type Scenario, scenarios } from './scenarios.ts'
export { defaultToken, sandboxHeader } from './service.ts'

/** The organization that a sandbox's tests belong to; any other slug is taken as well. */
export const defaultOrg = 'acme'

/** What a sandbox may be told; whatever is left out is as a newcomer wants it. */
export interface SandboxOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined
  /** Divides every duration; at 1, the default, a test run takes about two seconds. */
  readonly speed?: number | undefined
  readonly seed?: number | undefined
  /** A scenario's name, or a file that holds one; `happy` by default. */
  readonly scenario?: string | undefined
  readonly dialect?: DialectName | undefined
  /** Queues besides the default one. */
  readonly queues?: readonly QueueRef[] | undefined
  readonly token?: string | undefined
  /** The moment, in milliseconds since 1970. */
  now(): number
  /** The text of a file; undefined when there is none. */
  readScenario?(path: string): Promise<string | undefined>
}

/** A sandbox that serves, and what a client needs to talk to it. */
export interface Sandbox extends RunningServer {
  readonly token: string
  /** The default place, whatever queues were added. */
  readonly repo: Repository
  readonly targetBranch: string
  readonly org: string
  /** How the pull requests fared so far, and what of its scenario has not been seen. */
  report(): ScenarioReport
}

/**
 * Opens a sandbox of its own on loopback, sharing nothing with any other. An unknown scenario and a port that is
 * taken are usage failures.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port = 0, speed = 1, seed = 1, dialect = 'document', queues = [], token = defaultToken } = options
  const scenario = await scenarioOf(options)
  const service = createService({ speed, seed, dialect, queues, token, scenario, now: () => options.now() })
  const served = await startServer(service, { port })
  return {
    ...served,
    ...defaultQueue,
    token,
    org: defaultOrg,
    report: () => createScenarioReport(service.stage, scenario),
  }
}

async function scenarioOf({ scenario = defaultScenario, ...options }: SandboxOptions): Promise<Scenario> {
  const named = scenarioNamed(scenario)
  if (named !== undefined) return named
  const text = await options.readScenario?.(scenario).catch((error: Error) => {
    throw usageError(`the scenario ${scenario} cannot be read: ${error.message}.`, 'Name a file of JSON.')
  })
  if (text === undefined)
    throw usageError(
      `'${scenario}' is neither a scenario nor a file that can be read.`,
      `The scenarios are ${scenarioNames.join(', ')}.`,
    )
  return readScenario(text, scenario)
}
