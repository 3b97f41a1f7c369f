import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import type { Answer } from '../support/harness.ts'
import { testWith } from '../support/programs.ts'
import { entry, queue } from '../support/queue-watch.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startTestServer } from '../support/test-servers.ts'
import { openTmuxScreen } from '../support/tmux-screen.ts'

describe('in a real terminal', () => {
  const kept = closeAfterTests()
  const home = kept(openTestFolder())
  const titled = (pr: number) =>
    entry(pr, pr === 1 ? 'TESTING' : 'PENDING', { prTitle: `漢字 ${'title '.repeat(30)}` })
  const busy = { body: JSON.stringify(queue('RUNNING', ...[1, 2, 3, 4, 5, 6].map(titled))) }
  const calm = { body: JSON.stringify(queue('RUNNING', entry(2, 'TESTING'))) }
  const merged = { body: JSON.stringify({ state: 'MERGED' }) }
  const start = async (answer: (index: number) => Answer, shell?: string) => {
    const service = kept(
      await startTestServer({
        answer: ({ path }, index) => (path.endsWith('/getQueue') ? answer(index) : merged),
      }),
    )
    const words = ['queue', 'watch', '--interval', '1s', '--base-url', service.baseUrl()]
    const options = { terminal: 90, ...(shell === undefined ? {} : { shell }) }
    return { screen: kept(openTmuxScreen(home, words, options)), service }
  }
  const blocks = (lines: readonly string[]) => lines.filter(line => line.startsWith('Queue for')).length

  testWith('tmux')('it is redrawn in place, and q leaves it there with the cursor below', async () => {
    const { screen, service } = await start(index => (index === 0 ? busy : calm), 'echo before; "$@"')
    await screen.waitForLine(/#6 +PENDING/)
    expect(screen.variable('cursor_flag')).toBe('0')
    await screen.waitForLine(/^last merge #6, \d+s ago/)
    await service.waitForRequests(service.requests.length + 2)
    const lines = screen.lines()
    expect(lines[0]).toBe('before')
    expect(blocks(lines)).toBe(1)
    expect(lines.filter(line => /^ +\d {2}#/.test(line))).toHaveLength(1)
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    expect(screen.lines().at(-1)).toBe('code 0')
    expect(blocks(screen.lines())).toBe(1)
    expect({ cursor: screen.variable('cursor_flag'), wrap: screen.variable('wrap_flag') }).toEqual({
      cursor: '1',
      wrap: '1',
    })
    screen.close()
  })

  testWith('tmux')('it survives resizing: smaller, and larger again', async () => {
    const { screen, service } = await start(() => busy)
    await screen.waitForLine(/Press q to quit/)
    for (const [columns, rows] of [
      [45, 24],
      [45, 9],
      [100, 30],
    ] as const) {
      screen.resize(columns, rows)
      // Drawn at least once since then.
      await service.waitForRequests(service.requests.length + 2)
      const seen = () => ({ blocks: blocks(screen.lines()), foot: screen.lines().at(-1) })
      await expect.poll(seen, { timeout: 3_000 }).toEqual({
        blocks: 1,
        foot: expect.stringMatching(/^Updated \ds ago, every 1s\. Press q to quit\.$/),
      })
    }
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    screen.close()
  })

  testWith('tmux')(
    'Ctrl-C leaves it with 130 within 1 s, the cursor to be seen and what is typed, too',
    async () => {
      const { screen } = await start(() => busy, '"$@"; echo "code $?"; stty -a | grep -ow -e "-\\?echo"')
      await screen.waitForLine(/Press q to quit/)
      const began = Date.now()
      screen.press('C-c')
      await screen.waitForLine(/^code 130$/)
      expect(Date.now() - began).toBeLessThan(1_000)
      await screen.waitForLine(/^echo$/)
      expect(screen.variable('cursor_flag')).toBe('1')
      expect(screen.lines()).toContain('mergeq: stopped by SIGINT.')
      screen.close()
    },
  )

  testWith('tmux')('SIGTERM leaves the cursor to be seen', async () => {
    const file = home.path('pid')
    const { screen } = await start(() => busy, `"$@" & echo $! > ${file}; wait $!`)
    await screen.waitForLine(/Press Ctrl-C to quit/)
    expect(screen.variable('cursor_flag')).toBe('0')
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGTERM')
    await screen.waitForLine(/^code 143$/)
    expect(screen.variable('cursor_flag')).toBe('1')
    screen.close()
  })

  testWith('tmux')('q leaves at once while an answer is waited for', async () => {
    const service = kept(await startTestServer({ answer: (_, index) => (index === 0 ? busy : 'silence') }))
    const screen = kept(
      openTmuxScreen(home, ['queue', 'watch', '--interval', '1s', '--base-url', service.baseUrl()]),
    )
    await screen.waitForLine(/Press q to quit/)
    await service.waitForRequests(2)
    const began = Date.now()
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    expect(Date.now() - began).toBeLessThan(1_000)
    screen.close()
  })
})
