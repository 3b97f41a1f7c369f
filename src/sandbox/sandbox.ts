import { defaultScenario, scenarioNames } from '../domain/scenario-names.ts'
import type { Repository } from '../domain/values/parsers.ts'
import { usage } from '../errors.ts'
import type { DialectName } from './dialects.ts'
import { type Report, reportOn } from './scenario-report.ts'
import { readScenario } from './scenario-file.ts'
import { type Scenario, scenarioNamed } from './scenarios.ts'
import { type Served, serve } from './server.ts'
import { defaultToken, openService } from './service.ts'
import { defaultPlace, type Place } from './state.ts'

export { scenarioNames } from '../domain/scenario-names.ts'
export { type DialectName, dialectNames } from './dialects.ts'
export { type Scenario, scenarios } from './scenarios.ts'
export { defaultToken, marker } from './service.ts'
export { defaultPlace, type Place } from './state.ts'

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
  readonly queues?: readonly Place[] | undefined
  readonly token?: string | undefined
  /** The moment, in milliseconds since 1970. */
  now(): number
  /** The text of a file; undefined when there is none. */
  readScenario?(path: string): Promise<string | undefined>
}

/** A sandbox that serves, and what a client needs to talk to it. */
export interface Sandbox extends Served {
  readonly token: string
  /** The default place, whatever queues were added. */
  readonly repo: Repository
  readonly targetBranch: string
  readonly org: string
  /** How the pull requests fared so far, and what of its scenario has not been seen. */
  report(): Report
}

/**
 * Opens a sandbox of its own on loopback, sharing nothing with any other. An unknown scenario and a port that is
 * taken are usage failures.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port = 0, speed = 1, seed = 1, dialect = 'document', queues = [], token = defaultToken } = options
  const scenario = await scenarioOf(options)
  const service = openService({ speed, seed, dialect, queues, token, scenario, now: () => options.now() })
  const served = await serve(service, { port })
  return {
    ...served,
    ...defaultPlace,
    token,
    org: defaultOrg,
    report: () => reportOn(service.stage, scenario),
  }
}

async function scenarioOf({ scenario = defaultScenario, ...options }: SandboxOptions): Promise<Scenario> {
  const named = scenarioNamed(scenario)
  if (named !== undefined) return named
  const text = await options.readScenario?.(scenario).catch((error: Error) => {
    throw usage(`the scenario ${scenario} cannot be read: ${error.message}.`, 'Name a file of JSON.')
  })
  if (text === undefined)
    throw usage(
      `'${scenario}' is neither a scenario nor a file that can be read.`,
      `The scenarios are ${scenarioNames.join(', ')}.`,
    )
  return readScenario(text, scenario)
}
