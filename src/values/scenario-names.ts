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
  'stack',
  'host-trouble',
  'maybe-merged',
  'not-ready',
  'silent-check',
  'rate-limit',
  'rotated-token',
] as const

export type ScenarioName = (typeof scenarioNames)[number]

export const defaultScenario: ScenarioName = 'happy'

/** The token of a sandbox, which no other service accepts. */
export const sandboxToken = 'sandbox'

/** The token that takes its place in the scenario `rotated-token`. */
export const rotatedToken = 'sandbox-rotated'
