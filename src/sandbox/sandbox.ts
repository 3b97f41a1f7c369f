import type { Repository } from '../values/repository.ts'
import { defaultScenario, rotatedToken, type ScenarioName } from '../values/scenario-names.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { type RunningServer, startServer } from './server.ts'
import { createService, type SandboxService } from './service.ts'
import { defaultQueue, type StateOptions } from './state.ts'

/** The owner of the tests of a sandbox; the service accepts any other slug as well. */
const defaultOrg = 'acme'

export interface SandboxOptions extends StateOptions {
  /** 0, the default, is a free port. */
  readonly port?: number | undefined
  /** Whether the process may end while the sandbox serves. */
  readonly isBackground?: boolean
  /** `happy` by default. */
  readonly scenario?: ScenarioName | Scenario | undefined
}

export interface Sandbox extends RunningServer {
  readonly token: string
  readonly repo: Repository
  readonly targetBranch: string
  readonly org: string
  /** The token that takes the place of the first one, and after how many milliseconds; undefined if none does. */
  readonly rotation: { readonly token: string; readonly after: number } | undefined
}

/** Creates the service of a sandbox, which listens nowhere. */
export function createSandboxService(options: SandboxOptions): SandboxService {
  const { scenario = defaultScenario } = options
  return createService(options, typeof scenario === 'string' ? scenarios[scenario] : scenario)
}

/** Throws a usage error for a port that is in use or not permitted. */
export async function startSandbox(
  options: SandboxOptions,
  service = createSandboxService(options),
): Promise<Sandbox> {
  const { scenario, timings, token } = service.state
  const server = await startServer(service, options.port ?? 0, options.isBackground)
  return {
    ...server,
    ...defaultQueue,
    token,
    rotation:
      scenario.tokenLasts === undefined
        ? undefined
        : { token: rotatedToken, after: scenario.tokenLasts * timings.second },
    org: defaultOrg,
  }
}
