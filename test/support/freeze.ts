import { type Answer, mergeq, noon, type Outcome, type Seen, type Setting } from './harness.ts'

export const frozenBranches = ['main', 'next', 'docs'] as const

export type States = Record<string, string>

/** An organization of three queues of acme/web, and the disk of those who freeze it. */
export interface Freeze {
  /** The states of the queues, as the service says them. */
  states: States
  disk: Map<string, string>
  readonly clock: { now: number }
  /** The row of a queue in the record. */
  row(branch: string): Readonly<Record<string, string>> | undefined
  mergeq(line: string, setting?: Setting): Promise<Outcome>
}

/** @param answer may answer in the place of the service */
export function openFreeze(
  states: States = { main: 'running', next: 'running', docs: 'running' },
  answer: (seen: Seen, freeze: Freeze) => Answer | undefined = () => undefined,
): Freeze {
  const freeze: Freeze = {
    states,
    disk: new Map(),
    clock: { now: noon },
    row: branch =>
      JSON.parse(freeze.disk.get('f.json') ?? '[]').find(
        (row: Readonly<Record<string, string>>) => row.targetBranch === branch,
      ),
    mergeq: (line, setting) =>
      mergeq(line, { answer: serve, disk: freeze.disk, clock: freeze.clock, ...setting }),
  }
  const serve = (seen: Seen): Answer => {
    const instead = answer(seen, freeze)
    if (instead !== undefined) return instead
    const named = (branch: string) => `mq_depth_current{repo="acme/web",branch="${branch}"} 1\n`
    if (seen.path.includes('Metrics')) return { body: Object.keys(freeze.states).map(named).join('') }
    const { targetBranch, state } = JSON.parse(seen.body)
    if (seen.path.endsWith('updateQueue')) {
      freeze.states = { ...freeze.states, [targetBranch]: state.toLowerCase() }
      return { body: 'OK' }
    }
    return { body: JSON.stringify({ state: freeze.states[targetBranch], enqueuedPullRequests: [] }) }
  }
  return freeze
}
