// A vitest reporter that prints the number of passed, failed and skipped tests as the last line of a run.
export default class Tally {
  onTestRunEnd(modules, errors) {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++
      for (const test of module.children.allTests()) count[test.result().state]++
    }
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`
    process.on('exit', () => console.log(`${count.passed} passed, ${count.failed} failed${skipped}`))
  }
}
