import { defaultScenario, scenarioNames } from '../domain/scenario-names.ts'
import { hintWithSuggestion } from '../domain/similar-name.ts'
import type { Repository } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import { findScenario, parseScenario, type Scenario } from './scenarios.ts'
import { type RunningServer, startServer } from './server.ts'
import { createService } from './service.ts'
import { defaultQueue, type StateOptions } from './state.ts'

/** The owner of the tests of a sandbox; the service accepts any other slug as well. */
const defaultOrg = 'acme'

export interface SandboxOptions extends StateOptions {
  /** 0, the default, is a free port. */
  readonly port?: number | undefined
  /** The name of a built-in scenario, or the path of a scenario file; `happy` by default. */
  readonly scenario?: string | undefined
  /** Returns undefined if there is no such file. By default only built-in scenarios exist. */
  readScenario?(path: string): Promise<string | undefined>
}

export interface Sandbox extends RunningServer {
  readonly token: string
  readonly repo: Repository
  readonly targetBranch: string
  readonly org: string
}

/**
 * Starts a sandbox on the loopback address. Sandboxes share no data. Throws a usage error for an unknown
 * scenario, a bad scenario file, and a port that is in use or not permitted.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const service = createService(options, await loadScenario(options))
  const server = await startServer(service, options.port ?? 0)
  return {
    ...server,
    ...defaultQueue,
    token: service.state.token,
    org: defaultOrg,
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
