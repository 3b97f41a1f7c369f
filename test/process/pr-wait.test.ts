import { describe, expect, test } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { testWith } from '../support/programs.ts'
import { type ReceivedRequest, startTestServer } from '../support/service.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { openTmuxScreen } from '../support/tmux-screen.ts'

const kept = closeAfterTests()

describe('the built program', () => {
  const home = kept(openTestFolder())

  test.each([
    ['pr wait 7 --timeout 1s', 124, '7\ttimed-out\t\t1\n'],
    ['pr submit 7 --wait --timeout 1s', 124, '7\terror\t\t1\n'],
  ])('ends in time although the service is silent: %s', async (line, exit, row) => {
    const service = kept(await startTestServer({ answer: () => 'silence' }))
    const { code, out } = await home.run(line.split(' '), { env: { MERGEQ_BASE_URL: service.baseUrl() } })
    expect({ code, out }).toEqual({ code: exit, out: row })
    expect(service.requests).toHaveLength(1)
  })
})

testWith('tmux')('a wait in the background draws nothing, until it is in the foreground', async () => {
  let state = 'PENDING'
  const answer = ({ path }: ReceivedRequest) => ({
    body: JSON.stringify(path.endsWith('/getQueue') ? { state: 'RUNNING' } : { prNumber: 7, state }),
  })
  const service = kept(await startTestServer({ answer }))
  const words = ['pr', 'wait', '7', '--interval', '1s', '--base-url', service.baseUrl()]
  const shell = 'set -m; "$@" & read line; fg'
  const screen = kept(openTmuxScreen(kept(openTestFolder()), words, { shell, env: { CI: undefined } }))
  await service.waitForRequests(4)
  expect(screen.lines()).toEqual(['#7 ● pending'])
  screen.press('Enter')
  await screen.waitForLine(/#7 pending.* \d+s/)
  state = 'MERGED'
  await screen.waitForLine(/^✓ #7 merged after \d+s$/)
})

testWith('tmux')('the live line in a real terminal fits the width, and leaves no text', async () => {
  let isMerged = false
  const stateChangedAt = new Date(Date.now() - 4.5 * 60_000).toISOString()
  const entry = (prNumber: number, state: string) => ({ prNumber, state, stateChangedAt })
  const queue = {
    state: 'RUNNING',
    enqueuedPullRequests: [
      entry(131, 'TESTING'),
      entry(141, 'PENDING'),
      ...Array.from({ length: 9 }, (_, index) => entry(150 + index, 'PENDING')),
    ],
  }
  const buckets = ['60', '900', '1800', '+Inf'].map(
    (bound, index) =>
      `mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="main",conclusion="merged",le="${bound}"} ${index * 4}\n`,
  )
  const service = kept(
    await startTestServer({
      answer({ path }) {
        if (path.startsWith('/v1/getMergeQueueMetrics')) return { body: buckets.join('') }
        if (path.endsWith('/getQueue'))
          return { body: JSON.stringify(isMerged ? { ...queue, enqueuedPullRequests: [] } : queue) }
        return { body: JSON.stringify(entry(141, isMerged ? 'MERGED' : 'PENDING')) }
      },
    }),
  )
  const words = ['pr', 'wait', '141', '--interval', '1s', '--base-url', service.baseUrl()]
  const screen = kept(
    openTmuxScreen(kept(openTestFolder()), words, { terminal: 120, env: { CI: undefined } }),
  )
  const line = '[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] #141 pending \\d+\\w+, 2nd of 11'
  await screen.waitForLine(
    new RegExp(`^${line}, behind #131 \\(testing 4m\\), usually 23m in the queue {4}\\D*\\d+s\\D+59m\\D*$`),
  )
  screen.resize(60, 24)
  await screen.waitForLine(new RegExp(`^${line} {4}\\D*\\d+s\\D*$`))
  await service.waitForRequests(service.requests.length + 2)
  const shown = () => screen.lines().filter(text => text !== '#141 ● pending')
  await expect.poll(shown, { timeout: 3_000 }).toEqual([expect.stringMatching(/2nd of 11 {4}\D*\d+s\D*$/)])
  isMerged = true
  await screen.waitForLine(/^code 0$/)
  // The terminal may have moved the line of the first change into its history.
  expect(shown()).toEqual([expect.stringMatching(/^✓ #141 merged after \d+s$/), 'code 0'])
  expect(screen.variable('cursor_flag')).toBe('1')
  screen.close()
})
