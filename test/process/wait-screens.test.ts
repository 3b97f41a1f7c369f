import { describe, expect } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { testWith } from '../support/programs.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startTestServer } from '../support/test-servers.ts'
import { openTmuxScreen } from '../support/tmux-screen.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const entry = (prNumber: number, state: string, minutes = 4.5) => ({
  prNumber,
  state,
  stateChangedAt: minutesAgo(minutes),
})
const queue = {
  state: 'RUNNING',
  enqueuedPullRequests: [
    entry(120, 'TESTING'),
    entry(131, 'TESTING'),
    entry(141, 'PENDING'),
    ...Array.from({ length: 9 }, (_, index) => entry(150 + index, 'PENDING')),
  ],
}
const buckets = ['60', '900', '1800', '+Inf'].map(
  (bound, index) =>
    `mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="main",conclusion="merged",le="${bound}"} ${index * 4}\n`,
)

/** A service whose pull request is pending until `merge` is called. */
async function startQueue(metrics: 'known' | 'missing' = 'known') {
  let isMerged = false
  const service = kept(
    await startTestServer({
      answer({ path }) {
        if (path.startsWith('/v1/getMergeQueueMetrics'))
          return metrics === 'known' ? { body: buckets.join('') } : { status: 503, body: 'no' }
        if (path.endsWith('/getQueue'))
          return { body: JSON.stringify(isMerged ? { ...queue, enqueuedPullRequests: [] } : queue) }
        return { body: JSON.stringify(entry(141, isMerged ? 'MERGED' : 'PENDING')) }
      },
    }),
  )
  return {
    service,
    words: (line: string) => [...line.split(' '), '--base-url', service.baseUrl()],
    merge() {
      isMerged = true
    },
  }
}

const spinner = '[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]'

describe('the live line in a real terminal', () => {
  testWith('tmux')('shows the state, fits the width, and leaves no text', async () => {
    const { service, words, merge } = await startQueue()
    const screen = kept(
      openTmuxScreen(home, words('pr wait 141 --interval 1s'), {
        terminal: 120,
        env: { CI: undefined },
      }),
    )
    await screen.waitForLine(
      new RegExp(
        `^${spinner} #141 pending, 3rd of 12, behind #131 \\(testing 4m\\) {4}\\ds elapsed, usually 22m, times out in 59m$`,
      ),
    )
    screen.resize(60, 24)
    await screen.waitForLine(new RegExp(`^${spinner} #141 pending, 3rd of 12 {4}\\d+s elapsed$`))
    await service.waitForRequests(service.requests.length + 3)
    const shown = () => screen.lines().filter(line => line !== '#141 ● pending')
    await expect.poll(shown, { timeout: 3_000 }).toEqual([expect.stringMatching(/elapsed$/)])
    merge()
    await screen.waitForLine(/^code 0$/)
    // The terminal may have moved the line of the first change into its history.
    expect(screen.lines().filter(line => line !== '#141 ● pending')).toEqual([
      expect.stringMatching(/^✓ #141 merged after \d+s$/),
      'code 0',
    ])
    expect(service.requests.filter(({ path }) => path.includes('Metrics'))).toHaveLength(1)
    expect(screen.variable('cursor_flag')).toBe('1')
    screen.close()
  })

  testWith('tmux')('omits the usual time if it cannot be read, and does not request it again', async () => {
    const { service, words, merge } = await startQueue('missing')
    const screen = kept(
      openTmuxScreen(home, words('pr wait 141 --interval 1s'), { terminal: 120, env: { CI: undefined } }),
    )
    await screen.waitForLine(/#131 \(testing 4m\) {4}\ds elapsed, times out in 59m$/)
    await service.waitForRequests(service.requests.length + 3)
    merge()
    await screen.waitForLine(/^code 0$/)
    expect(service.requests.filter(({ path }) => path.includes('Metrics'))).toHaveLength(1)
    expect(screen.lines().join('\n')).not.toMatch(/503/)
    screen.close()
  })
})
