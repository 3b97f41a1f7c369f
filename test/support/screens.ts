import { renderScreen } from '../../src/output/table.ts'
import type { DialectName } from '../../src/sandbox/dialects.ts'
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts'
import type { Scenario } from '../../src/sandbox/scenarios.ts'
import { openStory, type Setting, type Story, serveScript } from './harness.ts'

/** What a person sees after a command line, and what happened before. */
export interface Screen {
  /** Says what the screen shows; unique in its file. */
  readonly title: string
  /** The command lines whose screen this is, without the program's name. */
  readonly lines: readonly string[]
  /** What the golden file has besides 80 columns and the hosted dialect: other widths, the other dialect. */
  readonly also?: readonly (number | 'both')[]
  /** What happened before: command lines, and numbers of seconds that pass. */
  readonly before?: readonly (string | number)[]
  readonly sandbox?: Omit<SandboxOptions, 'now'>
  readonly setting?: Setting
}

/** The terminal that a screen is drawn for. */
export interface ScreenTerminal {
  readonly dialect: DialectName
  readonly columns: number
  readonly env: Readonly<Record<string, string>>
  /** Whether the service has the token in all titles, names and messages. */
  readonly isPlanted?: boolean
}

/** The token of every screen; nothing of it may be shown. */
export const secret = 'mqtok-Zx81kQp7Lw0Vt53uRy6Bn2'

/** At this speed a test run takes about 200 seconds. */
const speed = 0.01

/** #9 fails, #6 fails once and then passes, #12 becomes mergeable late, #8 is cancelled while it is tested. */
const scenario: Scenario = {
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

/** What a live view draws on the alternate screen, which is gone when it ends. */
const alternateScreen = /\u001B\[\?1049h.*?\u001B\[\?1049l/gs

/** The system chooses the port of a sandbox. */
const address = /127\.0\.0\.1:\d+/g

/** Returns a text with the token in it: in the middle of several words, and at the end of a name. */
function plant(key: string, value: unknown): unknown {
  if (typeof value !== 'string' || /state|priority|method|mode$/i.test(key)) return value
  const middle = value.indexOf(' ', value.length / 3)
  if (middle > 0) return `${value.slice(0, middle)} ${secret}${value.slice(middle)}`
  return /author|name|variant|owner|message/i.test(key) ? `${value}-${secret}` : value
}

/** Serves what the sandbox of a story answers, with the token in the texts of its documents. */
const servePlanted = ({ answer }: Story) =>
  serveScript(request => {
    const { status, headers, body } = answer(request)
    const { 'content-type': type = '', date = '' } = headers
    const planted = type.includes('json') ? JSON.stringify(JSON.parse(body, plant)) : body
    return { status, body: planted, headers: { 'content-type': type, date } }
  })

/** Returns what a terminal shows of a screen: each command line after `$ `, its output, and its exit code. */
export async function drawScreen(screen: Screen, terminal: ScreenTerminal): Promise<string> {
  const story = await openStory({
    speed,
    token: secret,
    scenario,
    ...screen.sandbox,
    dialect: terminal.dialect,
  })
  try {
    for (const step of screen.before ?? [])
      if (typeof step === 'number') story.clock.now += step * 1_000
      else await story.mergeq(step)
    const planted = terminal.isPlanted === true ? await servePlanted(story) : undefined
    const pieces: string[] = []
    for (const line of screen.lines) {
      const { setting } = screen
      pieces.push(`$ mergeq ${line}`.trimEnd(), '\n')
      const { code } = await story.mergeq(line, {
        ...setting,
        terminal: true,
        inputTerminal: true,
        columns: terminal.columns,
        env: {
          ...(planted === undefined ? {} : { MERGEQ_BASE_URL: planted.baseUrl }),
          ...setting?.env,
          ...terminal.env,
        },
        screen: pieces,
      })
      if (code !== 0) pieces.push(`(exit code ${code})\n`)
    }
    await planted?.close()
    // The bell after a wait is heard, not seen.
    const shown = pieces.join('').replaceAll('\u0007', '')
    return (terminal.env.TERM === 'dumb' ? shown : shown.replaceAll(alternateScreen, ''))
      .replaceAll(sandboxNotice, '')
      .replaceAll(address, '127.0.0.1:40000')
  } finally {
    await story.close()
  }
}

/** Renders a screen as a single text. */
export const drawTable = (...table: Parameters<typeof renderScreen>): string =>
  [...renderScreen(...table)].join('')
