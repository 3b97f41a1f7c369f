import type { DialectName } from '../../src/sandbox/dialects.ts'
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { openStory, type Setting, type Story } from './harness.ts'

/** What a person sees after a command line, and what happened before. */
export interface Screen {
  /** Says what the screen shows; unique in its file. */
  readonly title: string
  /** The command lines whose screen this is, without the program's name. */
  readonly lines: readonly string[]
  /** What happened before: command lines, and numbers of seconds that pass. */
  readonly before?: readonly (string | number)[]
  readonly sandbox?: Omit<SandboxOptions, 'now'>
  readonly setting?: Setting
  /** Changes the sandbox, or what it answers, before the screen is drawn. */
  readonly prepare?: (story: Story) => Setting | Promise<Setting>
  /** Why a rule does not apply to the screen. */
  readonly exceptions?: Readonly<Partial<Record<Rule, string>>>
}

/** A rule that the code checks on each screen. */
export type Rule = 'width' | 'iso' | 'boolean' | 'ratio' | 'sign'

/** The terminal that a screen is drawn for. */
export interface ScreenTerminal {
  readonly dialect: DialectName
  readonly columns: number
  readonly env: Readonly<Record<string, string>>
}

/** The token of every screen; nothing of it may be shown. */
export const secret = 'mqtok-Zx81kQp7Lw0Vt53uRy6Bn2'

/** At this speed a test run takes about 200 seconds. */
const speed = 0.01

/** #9 fails, #6 fails once and then passes, #12 becomes mergeable late, #8 is cancelled while it is tested. */
const scenario = {
  scripts: [
    { pr: 9, runs: ['fail'] },
    { pr: 6, runs: ['flake', 'pass'] },
    { pr: 8, runs: ['cancel'] },
    { pr: 12, readyAfter: 1_000 },
  ],
  settings: { concurrency: 3 },
}

/** The line that every command prints first in a sandbox, with its colors. */
const sandboxNotice = /^[^\n]*this is a sandbox; nothing here is real\.\n/gm

/** The system chooses the port of a sandbox. */
const address = /127\.0\.0\.1:\d+/g

/** Returns what a terminal shows of a screen: each command line after `$ `, its output, and its exit code. */
export async function drawScreen(screen: Screen, terminal: ScreenTerminal): Promise<string> {
  const story = await openStory({
    speed,
    token: secret,
    scenario: 'screens.json',
    readScenario: async () => JSON.stringify(scenario),
    ...screen.sandbox,
    dialect: terminal.dialect,
  })
  try {
    for (const step of screen.before ?? [])
      if (typeof step === 'number') story.clock.now += step * 1_000
      else await story.mergeq(step)
    const prepared = await screen.prepare?.(story)
    const pieces: string[] = []
    for (const line of screen.lines) {
      const setting = { ...screen.setting, ...prepared }
      pieces.push(`$ mergeq ${line}`.trimEnd(), '\n')
      const { code } = await story.mergeq(line, {
        ...setting,
        terminal: true,
        inputTerminal: true,
        columns: terminal.columns,
        env: { ...setting.env, ...terminal.env },
        screen: pieces,
      })
      if (code !== 0) pieces.push(`(exit code ${code})\n`)
    }
    return pieces.join('').replaceAll(sandboxNotice, '').replaceAll(address, '127.0.0.1:40000')
  } finally {
    await story.close()
  }
}
