import type { Scenario } from '../../src/sandbox/scenarios.ts'
import { openStory } from '../../test/support/harness.ts'
import { drawSession, type SessionStep } from './terminal-picture.ts'

const columns = 88
const env = { TERM: 'xterm-256color', FORCE_COLOR: '1', LANG: 'C.UTF-8' }
const sandboxNotice = /^mergeq: .*\bsandbox\b.*\n/m

/** The tests of #131 fail, and those of all other pull requests pass. */
const scenario: Scenario = { scripts: [{ pr: 131, runs: ['fail'] }], settings: { concurrency: 2 } }

/**
 * Returns the recording of the README, which plays in place: the output of commands on a terminal, against a sandbox whose clock is
 * simulated, so that each run prints the same. The notice that this is a sandbox is left out, and jumps in time are marked.
 */
export async function drawReadmeSession(): Promise<string> {
  // At this speed a test run takes about three minutes.
  const story = await openStory({ speed: 0.01, scenario })
  const run = async (command: string): Promise<SessionStep> => {
    const setting = { terminal: true, columns, rows: 40, env }
    const { out, err } = await story.mergeq(command.replace(/^mergeq /, ''), setting)
    return { command, output: `${err.replace(sandboxNotice, '').replace('\u0007', '')}${out}` }
  }
  try {
    const steps = [await run('mergeq pr submit 123 --wait --timeout 45m')]
    for (const number of [131, 132, 133, 134]) await run(`mergeq pr submit ${number}`)
    story.clock.now += 200_000
    steps.push({ ...(await run('mergeq queue get')), note: 'four more were submitted, 3 minutes ago' })
    story.clock.now += 600_000
    steps.push({ ...(await run('mergeq pr explain 131')), note: '10 minutes later' })
    return drawSession('A terminal session with mergeq', columns, steps)
  } finally {
    await story.close()
  }
}
