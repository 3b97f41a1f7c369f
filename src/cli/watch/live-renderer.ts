import type { ServiceClient, ServiceLogger } from '../../api/service-client.ts'
import { isContinuousIntegration } from '../../config/continuous-integration.ts'
import { formatAge } from '../../domain/format.ts'
import { shouldColor } from '../../output/color.ts'
import { createLiveBlock } from '../../output/live-block.ts'
import type { View } from '../../output/view.ts'
import type { CommandContext } from '../context.ts'
import { canPrompt } from '../prompt.ts'
import type { WatchRenderer } from './watch-renderer.ts'

/**
 * Whether a watch redraws a block on the terminal: for the table format, outside CI, on a terminal that can
 * move the cursor.
 */
export const isLive = ({ options, host }: CommandContext): boolean =>
  host.out.terminal &&
  !isContinuousIntegration(host.env) &&
  host.env.TERM !== 'dumb' &&
  options.format === 'table' &&
  options.fields.length === 0 &&
  !options.verbose

/** Milliseconds between redraws, which show growing ages and follow the size of the terminal. */
const redrawInterval = 1_000

/** The content of the block that is redrawn. */
export interface LiveScreen<Update> {
  /** Takes the result of a reading; `now` is in milliseconds since 1970. */
  update(update: Update, now: number): void
  /** Returns the table and the lines below it. */
  draw(now: number): { readonly view: View; readonly foot: readonly string[] }
}

/**
 * Creates the renderer that redraws a block every second, until a person presses q. `interval` is the time
 * between readings, in milliseconds.
 */
export async function createLiveRenderer<Update>(
  screen: LiveScreen<Update>,
  interval: number,
  context: CommandContext,
): Promise<WatchRenderer<Update>> {
  const { host } = context
  const { clock, out, env, input } = host
  const { drawFrame } = await import('../../output/table.ts')
  const block = await createLiveBlock(out)
  const color = shouldColor({ color: context.options.color, env, terminal: out.terminal })
  let notice: string | undefined
  let readAt = clock.now()
  const quit = new AbortController()
  const quitPromise = new Promise<never>((_, reject) =>
    quit.signal.addEventListener('abort', () => reject(quit.signal.reason)),
  )
  quitPromise.catch(() => undefined)
  const stopSignal = AbortSignal.any([host.interrupted, quit.signal])
  const releaseKeys = canPrompt(context)
    ? input.keys(key => {
        if (/^q$/i.test(key)) quit.abort()
      })
    : undefined
  const setNotice = async (text: string) => {
    notice = text
  }
  // Other output to the terminal would corrupt the block.
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

  const draw = async () => {
    const now = clock.now()
    const { columns, rows } = out
    const { view, foot } = screen.draw(now)
    const statusLine = `Updated ${formatAge(now - readAt)} ago, every ${formatAge(interval)}. Press ${releaseKeys === undefined ? 'Ctrl-C' : 'q'} to quit.`
    const footLines = ['', ...foot, ...(notice === undefined ? [] : [notice]), statusLine]
    await block.draw(drawFrame(view, footLines, { columns, rows, color, now }), { columns, rows })
  }

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
      releaseKeys?.()
      await block.close()
    },
  }
}
