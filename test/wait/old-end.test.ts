import { expect, test } from 'vitest'
import { runAgainstFaults } from '../support/faulty-sandbox.ts'
import { replaceTransport } from '../support/replaced-transport.ts'

replaceTransport()

const line = 'pr submit 7 --wait --timeout 90s --interval 2s --json'
const rows = [0, 300].flatMap(latency =>
  [0, 700].flatMap(skew => [true, false].map(dated => ({ latency, skew, dated }))),
)

// A random history (seed 578365044) once ended with the failure of the attempt before.
test.each(rows)('an end of the second before a submission that was lost is not its result: %o', async how => {
  const { sandbox, out, code } = await runAgainstFaults(line, {
    ...how,
    pulls: { 'main#7': 'TESTS_PASSED' },
    // The reading before the submission is behind: it still shows TESTS_PASSED.
    acts: [{ at: -1_000, what: 'fail', pr: 7, branch: 'main' }],
    readings: [{ kind: 'stale', lag: 3_000 }],
    changes: Array.from({ length: 3 }, () => ({ kind: 'lost', loss: 'reset' }) as const),
  })
  expect(sandbox.sendings.length).toBeGreaterThan(0)
  expect([7, 11], out).toContain(code)
})
