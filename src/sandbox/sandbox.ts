import { defaultScenario, scenarioNames } from '../domain/scenario-names.ts'
import { hintWithSuggestion } from '../domain/similar-name.ts'
import type { Repository } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import type { DialectName } from './dialects.ts'
import { defaultQueue, type QueueRef } from './sandbox-state.ts'
import { parseScenario } from './scenario-file.ts'
import { createScenarioReport, type ScenarioReport } from './scenario-report.ts'
import { findScenario, type Scenario } from './scenarios.ts'
import { type RunningServer, startServer } from './server.ts'
import { createService, defaultToken } from './service.ts'

/** The owner of the tests of a sandbox; the service accepts any other slug as well. */
const defaultOrg = 'acme'

export interface SandboxOptions {
  /** 0, the default, is a free port. */
  readonly port?: number | undefined
  /** Divides every duration; at 1, the default, a test run takes about two seconds. */
  readonly speed?: number | undefined
  /** Determines the sample data; 1 by default. */
  readonly seed?: number | undefined
  /** The name of a built-in scenario, or the path of a scenario file; `happy` by default. */
  readonly scenario?: string | undefined
  /** `document` by default. */
  readonly dialect?: DialectName | undefined
  readonly queues?: readonly QueueRef[] | undefined
  /** The token that the service accepts; `sandbox` by default. */
  readonly token?: string | undefined
  now(): number
  /** Returns undefined if there is no such file. By default only built-in scenarios exist. */
  readScenario?(path: string): Promise<string | undefined>
}

export interface Sandbox extends RunningServer {
  readonly token: string
  readonly repo: Repository
  readonly targetBranch: string
  readonly org: string
  report(): ScenarioReport
}

/**
 * Starts a sandbox on the loopback address. Sandboxes share no data. Throws a usage error for an unknown
 * scenario, a bad scenario file, and a port that is in use or not permitted.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port = 0, speed = 1, seed = 1, dialect = 'document', queues = [], token = defaultToken } = options
  const scenario = await loadScenario(options)
  const service = createService({ speed, seed, dialect, queues, token, scenario, now: () => options.now() })
  const server = await startServer(service, { port })
  return {
    ...server,
    ...defaultQueue,
    token,
    org: defaultOrg,
    report: () => createScenarioReport(service.state, scenario),
  }
}

async function loadScenario({ scenario = defaultScenario, ...options }: SandboxOptions): Promise<Scenario> {
  const builtin = findScenario(scenario)
  if (builtin !== undefined) return builtin
  const text = await options.readScenario?.(scenario).catch((error: Error) => {
    throw usageError(`The scenario ${scenario} cannot be read: ${error.message}.`, 'Use a JSON file.')
  })
  if (text === undefined)
    throw usageError(
      `'${scenario}' is neither a scenario nor a readable file.`,
      hintWithSuggestion(scenario, scenarioNames, `Use one of: ${scenarioNames.join(', ')}.`),
    )
  return parseScenario(text, scenario)
}
