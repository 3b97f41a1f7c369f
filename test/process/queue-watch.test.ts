import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import type { Answer } from '../support/harness.ts'
import { testWith } from '../support/programs.ts'
import { entry, queue } from '../support/queue-watch.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startTestServer } from '../support/test-servers.ts'
import { openTmuxScreen, type TmuxScreen } from '../support/tmux-screen.ts'

describe('in a real terminal', () => {
  const kept = closeAfterTests()
  const home = kept(openTestFolder())
  const titled = (pr: number) =>
    entry(pr, pr === 1 ? 'TESTING' : 'PENDING', { prTitle: `漢字 ${'title '.repeat(30)}` })
  const busy = { body: JSON.stringify(queue('RUNNING', ...[1, 2, 3, 4, 5, 6].map(titled))) }
  const calm = { body: JSON.stringify(queue('RUNNING', entry(2, 'TESTING'))) }
  const merged = { body: JSON.stringify({ state: 'MERGED' }) }
  const start = async (answer: (index: number) => Answer, shell?: string, interval = '1s') => {
    let queueReads = 0
    const service = kept(
      await startTestServer({
        answer: ({ path }) =>
          path.endsWith('/getQueue') ? answer(queueReads++) : path.includes('Metrics') ? {} : merged,
      }),
    )
    const words = ['queue', 'watch', '--interval', interval, '--base-url', service.baseUrl()]
    const options = { terminal: 90, ...(shell === undefined ? {} : { shell }) }
    return { screen: kept(openTmuxScreen(home, words, options)), service }
  }
  /** The flags of the terminal: cursor, line wrapping, alternate screen. */
  const flagsOf = (screen: TmuxScreen) =>
    ['cursor_flag', 'wrap_flag', 'alternate_on'].map(name => screen.variable(name)).join('')
  const [onScreen, restored] = ['001', '110']

  testWith('tmux')('the watch has a screen of its own; q ends it and leaves its last frame', async () => {
    const { screen, service } = await start(index => (index === 0 ? busy : calm), 'echo before; "$@"')
    await screen.waitForLine(/#6 +● pending/)
    expect(flagsOf(screen)).toBe(onScreen)
    await screen.waitForLine(/^LEFT {2}✓ #\d merged \d+s ago/)
    await service.waitForRequests(service.requests.length + 2)
    const lines = screen.lines()
    expect(lines[0]).toMatch(/^acme\/web main {2}● RUNNING {3}testing 1\/2 {3}waiting 0$/)
    expect(lines.filter(line => /^ *\d {2}#/.test(line))).toHaveLength(1)
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    const [before, headline, titles, row, left, ...rest] = screen.lines()
    expect([before, headline, rest]).toEqual(['before', lines[0], ['code 0']])
    expect([titles, row, left]).toEqual([
      expect.stringMatching(/^ +PR +STATE/),
      expect.stringMatching(/^1 +#2 +◐ testing/),
      expect.stringMatching(/^LEFT {2}✓ #\d merged .*✓ #\d merged/),
    ])
    expect(flagsOf(screen)).toBe(restored)
    screen.close()
  })

  testWith('tmux')('it survives resizing, smaller and larger, at once', async () => {
    const { screen } = await start(() => busy, '"$@"', '1h')
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
      await expect.poll(seen, { timeout: 3_000 }).toEqual({
        headlines: 1,
        below: below > 0,
        foot: expect.stringMatching(/^Updated \d+s ago, every 1h\. Press q to quit\.$/),
      })
    }
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    screen.close()
  })

  testWith('tmux')('arrow keys, j and k and page keys scroll at once', async () => {
    const { screen } = await start(() => busy, '"$@"', '1h')
    await screen.waitForLine(/Press q to quit/)
    screen.resize(90, 8)
    await screen.waitForLine(/^3 more below/)
    for (const [key, line] of [
      ['j', /^1 more above, 2 more below/],
      ['Down', /^2 more above, 1 more below/],
      ['NPage', /^3 more above/],
      ['Up', /^2 more above, 1 more below/],
      ['k', /^1 more above, 2 more below/],
      ['PPage', /^3 more below/],
    ] as const) {
      screen.press(key)
      await screen.waitForLine(line)
    }
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    screen.close()
  })

  const echoes = '"$@"; echo "code $?"; stty -a | grep -ow -e "-\\?echo"'

  testWith('tmux')('Ctrl-C exits with 130 within 1 s, and only the last frame stays', async () => {
    const { screen } = await start(() => busy, echoes)
    await screen.waitForLine(/Press q to quit/)
    const began = Date.now()
    screen.press('C-c')
    await screen.waitForLine(/^code 130$/)
    expect(Date.now() - began).toBeLessThan(1_000)
    await screen.waitForLine(/^echo$/)
    expect(flagsOf(screen)).toBe(restored)
    expect(screen.lines()).toContain('mergeq: stopped by SIGINT.')
    expect(screen.lines()[0]).toMatch(/^acme\/web main {2}● RUNNING/)
    screen.close()
  })

  testWith('tmux')('Ctrl-Z restores the terminal and suspends it; fg continues it', async () => {
    const shell = `set -m; ${echoes}; read line; fg`
    const { screen, service } = await start(() => busy, shell)
    await screen.waitForLine(/Press q to quit/)
    for (const again of [false, true]) {
      screen.press('C-z')
      await screen.waitForLine(again ? /^code 148$/ : /^echo$/)
      expect(flagsOf(screen)).toBe(restored)
      if (again) break
      const suspendedAt = service.requests.length
      await new Promise(resolve => setTimeout(resolve, 1_500))
      expect(service.requests).toHaveLength(suspendedAt)
      screen.press('Enter')
      await screen.waitForLine(/Press q to quit/)
      expect(flagsOf(screen)).toBe(onScreen)
      await service.waitForRequests(suspendedAt + 1)
    }
    screen.close()
  })

  testWith('tmux')('Ctrl-Z changes nothing where no shell could continue it', async () => {
    const { screen, service } = await start(() => busy)
    await screen.waitForLine(/Press q to quit/)
    screen.press('C-z')
    await service.waitForRequests(service.requests.length + 2)
    await expect.poll(() => flagsOf(screen), { timeout: 3_000 }).toBe(onScreen)
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    screen.close()
  })

  testWith('tmux')('SIGTERM restores the terminal', async () => {
    const file = home.path('pid')
    const { screen } = await start(() => busy, `"$@" & echo $! > ${file}; wait $!`)
    await screen.waitForLine(/Press Ctrl-C to quit/)
    expect(flagsOf(screen)).toBe(onScreen)
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGTERM')
    await screen.waitForLine(/^code 143$/)
    expect(flagsOf(screen)).toBe(restored)
    screen.close()
  })

  testWith('tmux')('with TERM=dumb it prints a line for each change', async () => {
    const { screen } = await start(index => (index === 0 ? busy : calm), 'TERM=dumb "$@" --for 3s')
    await screen.waitForLine(/^code 0$/)
    expect(screen.lines()).toContain('#1 TESTING -> MERGED')
    expect(screen.lines().join('\n')).not.toContain('Press q')
    expect(flagsOf(screen)).toBe(restored)
    screen.close()
  })

  testWith('tmux')('q leaves at once while an answer is waited for', async () => {
    let queueReads = 0
    const service = kept(
      await startTestServer({
        answer: ({ path }) => (path.includes('Metrics') ? {} : queueReads++ === 0 ? busy : 'silence'),
      }),
    )
    const screen = kept(
      openTmuxScreen(home, ['queue', 'watch', '--interval', '1s', '--base-url', service.baseUrl()]),
    )
    await screen.waitForLine(/Press q to quit/)
    await service.waitForRequests(3)
    const began = Date.now()
    screen.press('q')
    await screen.waitForLine(/^code 0$/)
    expect(Date.now() - began).toBeLessThan(1_000)
    screen.close()
  })
})
