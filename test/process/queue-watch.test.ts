import { describe, expect } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { testWith } from '../support/programs.ts'
import { entry, queue } from '../support/queue-watch.ts'
import { startTestServer } from '../support/service.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { openTmuxScreen, type TmuxScreen } from '../support/tmux-screen.ts'

describe('queue watch in a real terminal', () => {
  const kept = closeAfterTests()
  const home = kept(openTestFolder())
  const titled = (pr: number) =>
    entry(pr, pr === 1 ? 'TESTING' : 'PENDING', { prTitle: `漢字 ${'title '.repeat(30)}` })
  const busy = { body: JSON.stringify(queue('RUNNING', ...[1, 2, 3, 4, 5, 6].map(titled))) }
  const calm = { body: JSON.stringify(queue('RUNNING', entry(2, 'TESTING'))) }
  const merged = { body: JSON.stringify({ state: 'MERGED' }) }

  /** Starts a watch of a queue that is busy at first; a shell line has it as `"$@"`. */
  const start = async (later: typeof busy | 'silence' = busy, shell = '"$@"', interval = '1s') => {
    let reads = 0
    const service = kept(
      await startTestServer({
        answer: ({ path }) =>
          path.endsWith('/getQueue')
            ? reads++ === 0
              ? busy
              : later
            : path.includes('Metrics')
              ? {}
              : merged,
      }),
    )
    const words = ['queue', 'watch', '--interval', interval, '--base-url', service.baseUrl()]
    return { screen: kept(openTmuxScreen(home, words, { terminal: 90, shell })), service }
  }
  /** The flags of the terminal: cursor, line wrapping, alternate screen. */
  const flagsOf = (screen: TmuxScreen) =>
    ['cursor_flag', 'wrap_flag', 'alternate_on'].map(name => screen.variable(name)).join('')
  const [onScreen, restored] = ['001', '110']
  const quit = async (screen: TmuxScreen) => {
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    expect(flagsOf(screen)).toBe(restored)
  }

  testWith('tmux')('the watch has a screen of its own; q ends it and leaves its last frame', async () => {
    const { screen, service } = await start(calm, 'echo before; "$@"')
    await screen.waitForLine(/#6 +● pending/)
    expect(flagsOf(screen)).toBe(onScreen)
    await screen.waitForLine(/^Left the queue {2}✓ #\d merged \d+s ago/)
    await service.waitForRequests(service.requests.length + 2)
    expect(screen.lines().filter(line => /^ *\d {2}#/.test(line))).toHaveLength(1)
    await quit(screen)
    expect(screen.lines()).toEqual([
      'before',
      expect.stringMatching(/^acme\/web main {2}► running {3}1 of 2 test runs$/),
      expect.stringMatching(/^ +PR +STATE/),
      expect.stringMatching(/^1 +#2 +◐ testing/),
      expect.stringMatching(/^Left the queue {2}✓ #\d merged .*✓ #\d merged/),
      expect.stringMatching(/^ {2}✓ #\d merged .*✓ #\d merged/),
      'code 0',
    ])
  })

  testWith('tmux')('it is drawn again at once when it is resized or scrolled', async () => {
    const { screen } = await start(busy, '"$@"', '1h')
    await screen.waitForLine(/Press q to quit/)
    for (const [columns, rows, below] of [
      [45, 24, 0],
      [45, 9, 3],
      [100, 30, 0],
    ] as const) {
      screen.resize(columns, rows)
      const seen = () => ({
        headlines: screen.lines().filter(line => line.startsWith('acme/web main')).length,
        below: screen.lines().some(line => line.includes(`${below} more below`)),
        foot: screen.lines().at(-1),
      })
      await expect.poll(seen, { timeout: 10_000 }).toEqual({
        headlines: 1,
        below: below > 0,
        foot: expect.stringMatching(/^Updated \d+s ago, every 1h\. Press q to quit\.$/),
      })
    }
    screen.resize(90, 8)
    await screen.waitForLine(/^3 more below/)
    for (const [key, line] of [
      ['j', /^1 more above, 2 more below/],
      ['NPage', /^3 more above/],
    ] as const) {
      screen.press(key)
      await screen.waitForLine(line)
    }
    await quit(screen)
  })

  const echoes = '"$@"; echo "code $?"; stty -a | grep -ow -e "-\\?echo"'

  testWith('tmux')('Ctrl-C ends it as q does, and only the last frame stays', async () => {
    const { screen } = await start(busy, echoes)
    await screen.waitForLine(/Press q to quit/)
    screen.press('C-c')
    await screen.waitForLine(/^code 0$/)
    await screen.waitForLine(/^echo$/)
    expect(flagsOf(screen)).toBe(restored)
    expect(screen.lines()[0]).toMatch(/^acme\/web main {2}► running/)
  })

  testWith('tmux')('Ctrl-Z restores the terminal and suspends it; fg continues it', async () => {
    const { screen, service } = await start(busy, `set -m; ${echoes}; read line; fg`)
    await screen.waitForLine(/Press q to quit/)
    screen.press('C-z')
    await screen.waitForLine(/^echo$/)
    expect(flagsOf(screen)).toBe(restored)
    const suspendedAt = service.requests.length
    screen.press('Enter')
    await screen.waitForLine(/Press q to quit/)
    expect(flagsOf(screen)).toBe(onScreen)
    await service.waitForRequests(suspendedAt + 1)
    screen.press('C-z')
    await screen.waitForLine(/^code 148$/)
    expect(flagsOf(screen)).toBe(restored)
  })

  testWith('tmux')('Ctrl-Z has no effect if no shell could continue the watch', async () => {
    const { screen, service } = await start()
    await screen.waitForLine(/Press q to quit/)
    screen.press('C-z')
    await service.waitForRequests(service.requests.length + 2)
    await expect.poll(() => flagsOf(screen), { timeout: 10_000 }).toBe(onScreen)
    await quit(screen)
  })

  testWith('tmux')('q quits during a request that is never answered', async () => {
    const { screen, service } = await start('silence')
    await screen.waitForLine(/Press q to quit/)
    await service.waitForRequests(3)
    await quit(screen)
  })
})
