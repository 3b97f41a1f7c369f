import { defaultScenario, scenarioNames } from '../domain/scenario-names.ts'
import { hintWithSuggestion } from '../domain/similar-name.ts'
import type { Repository } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import { isSubmitted } from './engine/queue.ts'
import { findScenario, parseScenario, type Scenario } from './scenarios.ts'
import { type RunningServer, startServer } from './server.ts'
import { createService } from './service.ts'
import { defaultQueue, type SandboxState, type StateOptions } from './state.ts'

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
  report(): ScenarioReport
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
    report: () => createScenarioReport(service.state),
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

/** Counts of pull requests by outcome. A pull request that was held and then merged counts in both. */
export interface ScenarioReport {
  readonly submitted: number
  readonly merged: number
  readonly failed: number
  readonly cancelled: number
  /** Pull requests that were in PENDING_FAILURE at least once. */
  readonly held: number
  readonly queued: number
  /** Outcomes of the scenario that no response has shown, in words: `a failed pull request`. */
  readonly unseen: readonly string[]
}

function createScenarioReport(state: SandboxState): ScenarioReport {
  // Advances the queues to the present.
  state.listQueues()
  const { createdQueues, reportedStates, scenario } = state
  const { scripts = [] } = scenario
  const pullRequests = createdQueues.flatMap(queue => [...queue.pullRequests.values()])
  const countState = (wanted: string) => pullRequests.filter(({ state }) => state === wanted).length
  const heldNumbers = createdQueues.map(({ transitions }) =>
    transitions.filter(({ to }) => to === 'PENDING_FAILURE').map(({ number }) => number),
  )
  const held = heldNumbers.reduce((sum, numbers) => sum + new Set(numbers).size, 0)
  const results = scripts.flatMap(({ runs = [] }) => runs)
  const outcomes = [
    {
      name: 'merged',
      isExpected: !scripts.some(
        ({ divisibleBy, runs = ['pass'] }) => divisibleBy === 1 && runs.at(-1) !== 'pass',
      ),
      isSeen: reportedStates.has('MERGED'),
    },
    { name: 'failed', isExpected: results.includes('fail'), isSeen: reportedStates.has('FAILED') },
    {
      name: 'cancelled',
      isExpected:
        results.includes('cancel') ||
        scripts.some(
          ({ cancelledAfter, pushedAfter }) => cancelledAfter !== undefined || pushedAfter !== undefined,
        ),
      isSeen: reportedStates.has('CANCELLED'),
    },
    // PENDING_FAILURE is short: a client that polls may miss it, so its occurrence is enough.
    { name: 'held', isExpected: results.includes('flake'), isSeen: held > 0 },
  ]
  return {
    submitted: pullRequests.length,
    merged: countState('MERGED'),
    failed: countState('FAILED'),
    cancelled: countState('CANCELLED'),
    held,
    queued: pullRequests.filter(isSubmitted).length,
    unseen: outcomes
      .filter(({ isExpected, isSeen }) => isExpected && !isSeen)
      .map(({ name }) => `a ${name} pull request`),
  }
}
