import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { queue } from './command-checks.ts'
import { bareEnvironment, launcher } from './programs.ts'
import { quoteForShell, type RunOptions, type TestFolder } from './test-folder.ts'

/** A terminal that can be looked at: what a person would see in it. */
export type TmuxScreen = ReturnType<typeof openTmuxScreen>

let screens = 0

/**
 * Runs a shell line, in which `"$@"` is mergeq and its words, in a terminal of 24 rows; it stays open at the
 * end.
 */
export function openTmuxScreen(
  { folder, path }: TestFolder,
  words: readonly string[],
  { env = {}, shell = '"$@"', terminal = 80 }: RunOptions = {},
) {
  screens++
  const [socket, file] = [path(`tmux-${screens}`), path(`screen-${screens}.sh`)]
  let isClosed = false
  const variables = {
    ...bareEnvironment(join(folder, 'home')),
    ...queue,
    LC_ALL: 'C.UTF-8',
    ...env,
    TERM: 'screen',
  }
  const settings = Object.entries(variables).map(([name, value]) =>
    value === undefined ? `unset ${name}` : `export ${name}=${quoteForShell(value)}`,
  )
  const line = `set -- ${[launcher, ...words].map(quoteForShell).join(' ')}`
  writeFileSync(
    file,
    ['trap : INT', 'stty -echoctl', ...settings, line, shell, 'echo "code $?"', 'exec sleep 60'].join('\n'),
  )
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      // The server hands its environment on: a CI job's own variables must not reach what runs in it.
      env: { ...bareEnvironment(join(folder, 'home')), LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  tmux(
    'new-session',
    '-d',
    '-x',
    String(terminal),
    '-y',
    '24',
    '-c',
    join(folder, 'work'),
    `sh ${quoteForShell(file)}`,
  )
  /** The lines that hold something, without blanks at their ends. */
  const lines = () =>
    tmux('capture-pane', '-p')
      .split('\n')
      .map(one => one.trimEnd())
      .filter(one => one !== '')
  return {
    lines,
    /** A variable of tmux, such as `cursor_flag`, `alternate_on` or `pane_title`. */
    variable: (variable: string) => tmux('display-message', '-p', `#{${variable}}`).trimEnd(),
    /** Presses keys by the names that tmux gives them, such as `C-c` and `Enter`. */
    press: (...keys: readonly string[]) => void tmux('send-keys', ...keys),
    resize: (columns: number, rows: number) =>
      void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    /** Fails with what is to be seen after 10 s. */
    waitForLine: (due: RegExp) =>
      expect.poll(lines, { timeout: 10_000, interval: 25 }).toContainEqual(expect.stringMatching(due)),
    close() {
      if (!isClosed) tmux('kill-server')
      isClosed = true
    },
  }
}
