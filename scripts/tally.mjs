// A vitest reporter for the last lines of a run: the names of the tests that passed only when they were run again, the
// command lines that run what failed, why tests were skipped, and the number of passed, failed and skipped tests.
const mostNames = 5

/** Returns a regular expression that matches one of the names, in single quotes for a shell. */
const patternOf = names =>
  `'${names
    .map(name => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('|')
    .replaceAll("'", "'\\''")}'`

/** The variables that make a random test fail again: the seed that fast-check names, and how many cases there were. */
function randomVariables(failed) {
  const messages = failed.flatMap(test => test.result().errors.map(({ message }) => message))
  const [, seed] = /\{ seed: (-?\d+)/.exec(messages.join('\n')) ?? []
  if (seed === undefined) return ''
  const { MERGEQ_RANDOM_SEED, ...others } = process.env
  const amounts = Object.entries(others).filter(([name]) => name.startsWith('MERGEQ_RANDOM_'))
  return [['MERGEQ_RANDOM_SEED', seed], ...amounts].map(([name, value]) => `${name}=${value} `).join('')
}

/** Returns the command line that runs the failed tests of a file; undefined if none failed. */
export function commandOf(module) {
  // With the names of its groups: groups of a table share the names of their tests.
  const failed = [...module.children.allTests('failed')]
  const names = [...new Set(failed.map(({ fullName }) => fullName.replaceAll(' > ', ' ')))]
  const command = `${randomVariables(failed)}npx vitest run ${module.relativeModuleId}`
  if (module.errors().length > 0 || names.length > mostNames) return command
  return names.length === 0 ? undefined : `${command} -t ${patternOf(names)}`
}

export default class Tally {
  onInit(vitest) {
    this.isShort = vitest.vite.config.mode === 'short'
  }

  onTestRunEnd(modules, errors) {
    const retried = []
    const reasons = this.isShort ? ['they are slow or about documents (npm run test:all runs them)'] : []
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++
      for (const test of module.children.allTests()) {
        count[test.result().state]++
        if (test.ok() && test.diagnostic()?.retryCount > 0)
          retried.push(`${module.relativeModuleId}: ${test.fullName}`)
      }
    }
    const commands = modules.map(commandOf).filter(command => command !== undefined)
    const missing = new Set(modules.flatMap(module => module.meta().missingPrograms ?? []))
    if (missing.size > 0) reasons.push(`programs are missing: ${[...missing].sort().join(', ')}`)
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`
    process.on('exit', () => {
      for (const name of retried) console.log(`passed when run again: ${name}`)
      if (commands.length > 0) console.log(['to run what failed:', ...commands].join('\n  '))
      if (count.skipped > 0 && reasons.length > 0) console.log(`skipped because ${reasons.join('; ')}`)
      console.log(`${count.passed} passed, ${count.failed} failed${skipped}`)
    })
  }
}
