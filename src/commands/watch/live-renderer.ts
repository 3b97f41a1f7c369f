import { type CommandContext, canPrompt } from '../../cli/context.ts'
import { type WatchRenderer, withoutRetries } from '../../cli/watch/watch-renderer.ts'
import { isContinuousIntegration } from '../../config/continuous-integration.ts'
import { formatDuration } from '../../domain/format.ts'
import { shouldColor } from '../../output/color.ts'
import { createLiveBlock } from '../../output/live-block.ts'
import type { View } from '../../output/view.ts'

/** Whether a block is drawn: a table for a person at a terminal that can be moved about in, and nothing else there. */
export const isLive = ({ options, host }: CommandContext): boolean =>
  host.out.terminal &&
  !isContinuousIntegration(host.env) &&
  host.env.TERM !== 'dumb' &&
  options.format === 'table' &&
  options.fields.length === 0 &&
  !options.verbose

/** Time between drawings: ages grow, and the terminal may have another size. */
const redrawInterval = 1_000

/** What is to be seen in the block. */
export interface LiveScreen<L> {
  /** Takes in what a look found. */
  update(look: L, now: number): void
  /** A table, and lines below it. */
  draw(now: number): { readonly shape: View; readonly foot: readonly string[] }
}

/** A block that is drawn anew every second, until a person presses q. */
export async function createLiveRenderer<L>(
  picture: LiveScreen<L>,
  interval: number,
  context: CommandContext,
): Promise<WatchRenderer<L>> {
  const { host } = context
  const { clock, out, env, input } = host
  const { drawFrame } = await import('../../output/table.ts')
  const block = await createLiveBlock(out)
  const color = shouldColor({ color: context.options.color, env, terminal: out.terminal })
  let trouble: string | undefined
  let readAt = clock.now()
  const leaving = new AbortController()
  const left = new Promise<never>((_, reject) =>
    leaving.signal.addEventListener('abort', () => reject(leaving.signal.reason)),
  )
  left.catch(() => undefined)
  const stop = AbortSignal.any([host.interrupted, leaving.signal])
  const release = canPrompt(context)
    ? input.keys(key => {
        if (/^q$/i.test(key)) leaving.abort()
      })
    : undefined
  const notice = async (text: string) => {
    trouble = text
  }
  const plain = withoutRetries(context)
  // While the block is drawn nothing else may be written to the terminal.
  const silent: CommandContext = {
    ...plain,
    withSpinner: (_, work) => work(),
    logger: { ...context.logger, warn: notice, info: notice, debug: async () => undefined },
    noteSandbox: async () => undefined,
    warnOnce: notice,
  }
  let reading = plain

  const draw = async () => {
    const now = clock.now()
    const { columns, rows } = out
    const { shape, foot } = picture.draw(now)
    const last = `Read ${formatDuration(now - readAt)} ago, every ${formatDuration(interval)}. ${release === undefined ? 'Ctrl-C' : 'q'} leaves.`
    const below = ['', ...foot, ...(trouble === undefined ? [] : [trouble]), last]
    await block.draw(drawFrame(shape, below, { columns, rows, color, now }), { columns, rows })
  }

  return {
    context: () => reading,
    async show(look) {
      readAt = clock.now()
      trouble = undefined
      picture.update(look, readAt)
      await draw()
    },
    async notify(text) {
      await notice(text)
      await draw()
    },
    async sleep(milliseconds) {
      reading = silent
      const until = clock.now() + milliseconds
      try {
        for (let ahead = milliseconds; ahead > 0; ahead = until - clock.now()) {
          await clock.sleep(Math.min(redrawInterval, ahead), stop)
          await draw()
        }
        return true
      } catch (error) {
        if (leaving.signal.aborted) return false
        throw error
      }
    },
    unlessLeft: work => Promise.race([work, left]),
    isLeft: () => leaving.signal.aborted,
    async close() {
      release?.()
      await block.close()
    },
  }
}
