// Sends ten thousand pull requests through the sandbox's parallel queue on a virtual clock, to measure the
// engine. The benchmark bundles this file with the engine and runs the bundle. It throws if a pull request
// does not merge.

import { configure, setTargets, submit } from '../../src/sandbox/engine/actions.ts'
import { createEmptyQueue, createTimings } from '../../src/sandbox/engine/queue.ts'
import { advanceTo } from '../../src/sandbox/engine/rules.ts'

const count = 10_000
const scenario = { scripts: [] }
const [concurrency = 50, targets = 500] = process.argv.slice(2).map(Number)

const queue = createEmptyQueue({
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'main',
  seed: 1,
  scenario,
  timings: createTimings(1, scenario),
  now: 0,
})
configure(queue, { mode: 'parallel', concurrency })
for (let number = 1; number <= count; number++) {
  // Every hundredth touches everything; of the others each touches two parts of the tree.
  const touched = number % 100 === 0 ? 'ALL' : new Set([number % targets, (number * 7) % targets].map(String))
  setTargets(queue, number, touched, undefined)
  advanceTo(queue, number)
  submit(queue, { number, priority: undefined, noBatch: undefined })
}
advanceTo(queue, 1e9)

const merged = queue.transitions.filter(({ to }) => to === 'MERGED').length
if (merged !== count) throw new Error(`${merged} of ${count} merged`)
