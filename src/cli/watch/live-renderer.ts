import type { ServiceClient, ServiceLogger } from '../../api/service-client.ts'
import { isContinuousIntegration } from '../../config/ci-systems.ts'
import { formatAge } from '../../domain/format.ts'
import { type StyledLine, shouldColor } from '../../output/styled-text.ts'
import type { View } from '../../output/view.ts'
import { canPrompt } from '../confirm.ts'
import type { CommandContext } from '../context.ts'
import { scrollWith } from './scroll-keys.ts'
import type { WatchRenderer } from './watch-renderer.ts'

/** For the table format, outside CI, on a terminal that can move the cursor. */
export const isLive = ({ options, presentation, host }: CommandContext): boolean =>
  presentation === 'screen' &&
  host.out.terminal &&
  !isContinuousIntegration(host.env) &&
  host.env.TERM !== 'dumb' &&
  !options.verbose

/** Milliseconds between redraws, which show growing ages. */
const redrawInterval = 1_000

export interface LiveScreen<Update> {
  /** Takes the result of a reading; `now` is in milliseconds since 1970. */
  update(update: Update, now: number): void
  draw(now: number, columns: number): { readonly view: View; readonly foot: readonly StyledLine[] }
}

/**
 * Creates the renderer that redraws the alternate screen every second and on every key, until a person
 * presses q. When it is closed, the last frame is printed on the normal screen. `interval` is the time
 * between readings, in milliseconds.
 */
export async function createLiveRenderer<Update>(
  screen: LiveScreen<Update>,
  interval: number,
  context: CommandContext,
): Promise<WatchRenderer<Update>> {
  const { host, secrets } = context
  const { clock, out, env } = host
  const { createAlternateScreen, drawFrame } = await import('../../output/frame.ts')
  const terminal = createAlternateScreen(out)
  const style = {
    color: shouldColor({ color: context.options.color, env, terminal: out.terminal }),
    links: (await out.hasLinks?.()) ?? false,
    redact: secrets.redact,
  }
  let [notice, readAt]: [string | undefined, number] = [undefined, clock.now()]
  let [offset, pageSize, minWidths]: [number, number, readonly number[]] = [0, 1, []]
  let [hasFrame, isSuspended] = [false, false]
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
