import type { ServiceClient, ServiceLogger } from '../../api/service-client.ts'
import { canPrompt } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import { isContinuousIntegration } from '../../config/ci-systems.ts'
import { elapsedSince, formatAge } from '../../domain/format.ts'
import type { CommandLine } from '../../domain/suggested-command.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import {
  linkSpan,
  plainText,
  type Span,
  type StyledLine,
  shouldColor,
  stateSpan,
  styled,
} from '../../output/styled-text.ts'
import { linesView, type View } from '../../output/view.ts'
import type { QueueParams } from './plan.ts'
import { queueScreen } from './screen.ts'
import type { QueueUpdate, WatchRenderer } from './watch-loop.ts'

/** How many pull requests that left are kept at most. */
const maxDepartures = 1_000

interface Departed {
  readonly pr: number
  /** Undefined if its final state is not known. */
  readonly state: string | undefined
  /** When it left, in milliseconds since 1970. */
  readonly at: number
}

/** Returns what is said of a pull request that left: `✗ #4 failed 2m ago`. */
function departureText({ pr, state, at }: Departed, { repo }: QueueParams, now: number): readonly Span[] {
  const number = linkSpan(`#${pr}`, urlOfPullRequest(repo, pr))
  const age = { text: ` ${formatAge(now - at)} ago` }
  if (state === undefined) return [number, { text: ' left' }, age]
  const { text, style } = stateSpan(state)
  const [, sign = '', words = text] = /^(\S) (.*)$/.exec(text) ?? []
  const span = (text: string): Span => (style === undefined ? { text } : { text, style })
  return [...(sign === '' ? [] : [span(`${sign} `)]), number, span(` ${words}`), age]
}

/** Returns the line of what left the queue, newest first, as many as fit; then how many do not. */
function departuresLine(
  departures: readonly Departed[],
  queue: QueueParams,
  now: number,
  columns: number,
): StyledLine {
  let line: readonly (string | Span)[] = [styled('LEFT', 'bold')]
  for (const [index, departed] of departures.entries()) {
    const longer = [...line, index === 0 ? '  ' : '   ', ...departureText(departed, queue, now)]
    const others = departures.length - index - 1
    const rest = others === 0 ? '' : `   ${others} more`
    if (index > 0 && plainText(longer).length + rest.length > columns)
      return [...line, styled(`   ${others + 1} more`, 'dim')]
    line = longer
  }
  return line
}

interface LiveScreen {
  /** Takes the result of a reading; `now` is in milliseconds since 1970. */
  update(update: QueueUpdate, now: number): void
  draw(now: number, columns: number): { readonly view: View; readonly foot: readonly StyledLine[] }
}

export function createQueueScreen(watched: QueueParams, commandLine: CommandLine): LiveScreen {
  let last: QueueUpdate | undefined
  let departures: readonly Departed[] = []
  return {
    update(update, now) {
      last = update
      const left = (update.changes ?? []).flatMap(({ pr, to, at, position }) =>
        pr === null || position !== null
          ? []
          : // A time that cannot be compared with this clock counts as the time of the reading.
            [{ pr, state: to ?? undefined, at: now - (elapsedSince(at, now) ?? 0) }],
      )
      departures = [...left, ...departures].sort((one, other) => other.at - one.at).slice(0, maxDepartures)
    },
    draw(now, columns) {
      if (last === undefined) return { view: linesView(['The queue has not been read yet.']), foot: [] }
      const { queue, activity } = last
      const view = queueScreen(queue, { ...watched, columns, activity, commandLine })
      return {
        view,
        foot: departures.length === 0 ? [] : [departuresLine(departures, watched, now, columns)],
      }
    },
  }
}

/** Returns the offset after a key was pressed, at least 0; undefined for a key that does not scroll. */
export function scrollWith(key: string, offset: number, pageSize: number): number | undefined {
  switch (key) {
    case 'k':
    case '\u001B[A':
    case '\u001BOA':
      return Math.max(0, offset - 1)
    case 'j':
    case '\u001B[B':
    case '\u001BOB':
      return offset + 1
    case '\u001B[5~':
      return Math.max(0, offset - pageSize)
    case ' ':
    case '\u001B[6~':
      return offset + pageSize
    case 'g':
    case '\u001B[H':
    case '\u001B[1~':
      return 0
    case 'G':
    case '\u001B[F':
    case '\u001B[4~':
      return Number.MAX_SAFE_INTEGER
    default:
      return undefined
  }
}

/** For the table format, outside CI, on a terminal that can move the cursor. */
export const isLive = ({ options, presentation, host }: CommandContext): boolean =>
  presentation === 'screen' &&
  host.out.terminal &&
  !isContinuousIntegration(host.env) &&
  host.env.TERM !== 'dumb' &&
  !options.verbose

/** Milliseconds between redraws, which show growing ages. */
const redrawInterval = 1_000

/**
 * Creates the renderer that redraws the alternate screen every second and on every key, until a person
 * presses q. When it is closed, the last frame is printed on the normal screen. `interval` is the time
 * between readings, in milliseconds.
 */
export async function createLiveRenderer(
  watched: QueueParams,
  interval: number,
  context: CommandContext,
): Promise<WatchRenderer> {
  const { host, secrets } = context
  const { clock, out, env } = host
  const { createAlternateScreen, drawFrame } = await import('../../output/frame.ts')
  const terminal = createAlternateScreen(out)
  const screen = createQueueScreen(watched, context.settings.commandLine)
  const style = {
    color: shouldColor({ color: context.options.color, env, terminal: out.terminal }),
    links: (await out.hasLinks?.()) ?? false,
    redact: secrets.redact,
  }
  let notice: string | undefined
  let readAt = clock.now()
  let offset = 0
  let pageSize = 1
  let minWidths: readonly number[] = []
  let hasFrame = false
  let isSuspended = false
  const hasKeys = canPrompt(context)
  const quit = new AbortController()
  const quitPromise = new Promise<never>((_, reject) =>
    quit.signal.addEventListener('abort', () => reject(quit.signal.reason)),
  )
  quitPromise.catch(() => undefined)
  const stopSignal = AbortSignal.any([host.interrupted, quit.signal])

  const createFrame = (more: readonly StyledLine[], size: { rows: number; scrollHint?: string }) => {
    const { columns } = out
    const now = clock.now()
    const { view, foot } = screen.draw(now, columns - 1)
    return drawFrame(view, [...foot, ...more], { ...style, ...size, columns, now, offset, minWidths })
  }
  const draw = async () => {
    if (isSuspended) return
    hasFrame = true
    const age = formatAge(clock.now() - readAt)
    const key = hasKeys ? 'q' : 'Ctrl-C'
    const status = `Updated ${age} ago, every ${formatAge(interval)}. Press ${key} to quit.`
    const frame = createFrame(['', ...(notice === undefined ? [] : [notice]), status], {
      rows: out.rows,
      ...(hasKeys ? { scrollHint: 'arrow keys or j and k scroll' } : {}),
    })
    offset = frame.offset
    pageSize = frame.pageSize
    minWidths = frame.widths
    await terminal.draw(frame.lines)
  }
  /** Draws again after an event. An error of the output is thrown by the next regular frame. */
  const redraw = () => {
    if (hasFrame) draw().catch(() => undefined)
  }
  const press = (key: string) => {
    if (/^q$/i.test(key)) quit.abort()
    const scrolled = scrollWith(key, offset, pageSize)
    if (scrolled === undefined) return
    offset = scrolled
    redraw()
  }
  const releaseTerminal = await host.watchTerminal({
    ...(hasKeys ? { press } : {}),
    resize: redraw,
    async suspend() {
      isSuspended = true
      await terminal.leave()
    },
    resume() {
      isSuspended = false
      redraw()
    },
  })
  // Restored within the signal: a second one ends the process at once.
  const restore = () => {
    isSuspended = true
    terminal.leave().catch(() => undefined)
  }
  host.interrupted.addEventListener('abort', restore, { once: true })
  const setNotice = async (text: string) => {
    notice = text
  }
  // Other output to the terminal would corrupt the screen.
  const silentLogger: ServiceLogger = {
    debug: async () => undefined,
    info: setNotice,
    warn: setNotice,
    infoOnce: async () => undefined,
    warnOnce: setNotice,
    withSpinner: (_, work) => work(),
  }
  const client = context.client()
  let currentClient: ServiceClient = client

  return {
    client: () => currentClient,
    async show(update) {
      readAt = clock.now()
      notice = undefined
      screen.update(update, readAt)
      await draw()
    },
    async notify(text) {
      await setNotice(text)
      await draw()
    },
    async sleep(milliseconds) {
      currentClient = { ...client, logger: silentLogger }
      const wakeAt = clock.now() + milliseconds
      try {
        for (let remaining = milliseconds; remaining > 0; remaining = wakeAt - clock.now()) {
          await clock.sleep(Math.min(redrawInterval, remaining), stopSignal)
          await draw()
        }
        return true
      } catch (error) {
        if (quit.signal.aborted) return false
        throw error
      }
    },
    untilQuit: work => Promise.race([work, quitPromise]),
    hasQuit: () => quit.signal.aborted,
    async close() {
      host.interrupted.removeEventListener('abort', restore)
      releaseTerminal()
      await terminal.leave()
      if (!hasFrame) return
      const { lines } = createFrame([], { rows: out.rows - 1 })
      await out.write(`${lines.join('\n')}\n`)
    },
  }
}
