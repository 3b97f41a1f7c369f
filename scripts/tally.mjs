// A vitest reporter that prints the number of passed, failed and skipped tests as the last line of a run, and
// before it the names of the tests that passed only when they were run again.
export default class Tally {
  onTestRunEnd(modules, errors) {
    const retried = []
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++
      for (const test of module.children.allTests()) {
        count[test.result().state]++
        if (test.ok() && test.diagnostic()?.retryCount > 0)
          retried.push(`${module.relativeModuleId}: ${test.fullName}`)
      }
    }
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`
    process.on('exit', () => {
      for (const name of retried) console.log(`passed when run again: ${name}`)
      console.log(`${count.passed} passed, ${count.failed} failed${skipped}`)
    })
  }
}
