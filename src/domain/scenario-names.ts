/** The names of the sandbox's built-in scenarios (docs/reference/sandbox.md, "Scenarios"). */
export const scenarioNames = [
  'happy',
  'flaky',
  'failure',
  'cancelled',
  'batch-failure',
  'paused',
  'outage',
  'slow',
] as const

/** The name of a built-in scenario of the sandbox. */
export type ScenarioName = (typeof scenarioNames)[number]

/** The scenario of a sandbox whose options name none. */
export const defaultScenario: ScenarioName = 'happy'
