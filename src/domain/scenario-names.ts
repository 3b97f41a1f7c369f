/** The names of the scenarios that come with the sandbox (DESIGN.md section 6). */
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

/** The name of a scenario that comes with the sandbox. */
export type ScenarioName = (typeof scenarioNames)[number]

/** The scenario that is played where none is named. */
export const defaultScenario: ScenarioName = 'happy'
