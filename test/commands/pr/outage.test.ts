import { expect, test } from 'vitest'
import { createRandom } from '../../../src/sandbox/sample-data.ts'
import { createSandboxService } from '../../../src/sandbox/sandbox.ts'
import { mergeq, noon, serveScript } from '../../support/harness.ts'
import { documentsIn } from '../../support/pr-wait.ts'

/** A clock for commands that run side by side: time passes while all of them sleep. */
function sharedClock(commands: number) {
  const sleeping: { readonly until: number; readonly wake: () => void }[] = []
  let running = commands
  const clock = {
    now: noon,
    sleep: (ms: number) =>
      new Promise<void>(wake => {
        sleeping.push({ until: clock.now + ms, wake })
        advance()
      }),
  }
  const advance = () => {
    if (sleeping.length < running || running === 0) return
    sleeping.sort((one, other) => one.until - other.until)
    const next = sleeping.shift()
    clock.now = Math.max(clock.now, next?.until ?? 0)
    next?.wake()
  }
  const leave = () => {
    running--
    advance()
  }
  return { clock, leave }
}

const minute = 60_000
const [begins, ends] = [noon + minute, noon + 21 * minute]

test('thirty waits outlive an outage of 20 minutes, and do not poll all at once', async () => {
  const { clock, leave } = sharedClock(30)
  // A test run takes 20 seconds.
  const sandbox = createSandboxService({ now: () => clock.now, scenario: 'failure', speed: 1 / 10 })
  const polls = Array.from({ length: 120 }, () => 0)
  const service = await serveScript(({ path, method, headers, body }) => {
    const at = Math.floor((clock.now - noon) / minute)
    polls[at] = (polls[at] ?? 0) + 1
    if (clock.now >= begins && clock.now < ends) return { status: 429, headers: { 'retry-after': '120' } }
    const request = { method, path, query: new Map<string, string>(), headers, body }
    const {
      status,
      headers: { date = '' },
      body: text,
    } = sandbox.handle(request)
    return { status, headers: { date }, body: text }
  })
  const env = {
    MERGEQ_BASE_URL: service.baseUrl,
    MERGEQ_TOKEN: sandbox.state.token,
    MERGEQ_REPO: 'acme/web',
    MERGEQ_TARGET_BRANCH: 'main',
  }
  const runs = Array.from({ length: 30 }, async (_, index) => {
    const pr = index + 1
    // Ten begin in the outage.
    if (pr > 20) await clock.sleep(5 * minute)
    const random = createRandom('outage', pr)
    const { code, out, err } = await mergeq(`pr submit ${pr} --wait --json`, { env, clock, random })
    const hasSeenOutage = clock.now >= begins
    leave()
    // The other lines say how the pull request stands.
    const lines = err.match(/^(?!#).+/gm) ?? []
    return { pr, code, outcome: documentsIn(out)[0]?.outcome, hasSeenOutage, lines: lines.length }
  })
  const results = await Promise.all(runs)
  await service.close()
  expect(results).toEqual(
    results.map(({ pr, hasSeenOutage }) => ({
      pr,
      hasSeenOutage,
      ...(pr % 3 === 0 ? { code: 3, outcome: 'failed' } : { code: 0, outcome: 'merged' }),
      lines: hasSeenOutage ? 3 : 0,
    })),
  )
  expect(results.filter(({ hasSeenOutage }) => !hasSeenOutage).length).toBeLessThan(3)
  expect(Math.max(...polls.slice(2, 21))).toBeLessThan(60)
  expect(Math.max(...polls.slice(21))).toBeLessThan(90)
}, 60_000)
