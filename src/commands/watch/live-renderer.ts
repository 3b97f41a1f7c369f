import { canAsk, type Desk } from '../../cli/context.ts'
import { isCiJob } from '../../config/continuous-integration.ts'
import { openBlock } from '../../output/live-block.ts'
import { isColored } from '../../output/color.ts'
import { type Shape, span } from '../../output/view.ts'
import { type Stage, withoutRepeats } from './renderer.ts'

/** Whether a block is drawn: a table for a person at a terminal that can be moved about in, and nothing else there. */
export const isLive = ({ options, world }: Desk): boolean =>
  world.out.terminal &&
  !isCiJob(world.env) &&
  world.env.TERM !== 'dumb' &&
  options.format === 'table' &&
  options.fields.length === 0 &&
  !options.verbose

/** Time between drawings: ages grow, and the terminal may have another size. */
const tick = 1_000

/** What is to be seen in the block. */
export interface Picture<L> {
  /** Takes in what a look found. */
  take(look: L, now: number): void
  /** A table, and lines below it. */
  draw(now: number): { readonly shape: Shape; readonly foot: readonly string[] }
}

/** A block that is drawn anew every second, until a person presses q. */
export async function openLiveStage<L>(picture: Picture<L>, interval: number, desk: Desk): Promise<Stage<L>> {
  const { world } = desk
  const { clock, out, env, input } = world
  const { frame } = await import('../../output/table.ts')
  const block = await openBlock(out)
  const color = isColored({ color: desk.options.color, env, terminal: out.terminal })
  let trouble: string | undefined
  let readAt = clock.now()
  const leaving = new AbortController()
  const left = new Promise<never>((_, reject) =>
    leaving.signal.addEventListener('abort', () => reject(leaving.signal.reason)),
  )
  left.catch(() => undefined)
  const stop = AbortSignal.any([world.interrupted, leaving.signal])
  const release = canAsk(desk)
    ? input.keys(key => {
        if (/^q$/i.test(key)) leaving.abort()
      })
    : undefined
  const notice = async (text: string) => {
    trouble = text
  }
  const plain = withoutRepeats(desk)
  // While the block is drawn nothing else may be written to the terminal.
  const silent: Desk = {
    ...plain,
    during: (_, work) => work(),
    voice: { ...desk.voice, warn: notice, note: notice, detail: async () => undefined },
    saySandbox: async () => undefined,
    sayOnce: notice,
  }
  let reading = plain

  const draw = async () => {
    const now = clock.now()
    const { columns, rows } = out
    const { shape, foot } = picture.draw(now)
    const last = `Read ${span(now - readAt)} ago, every ${span(interval)}. ${release === undefined ? 'Ctrl-C' : 'q'} leaves.`
    const below = ['', ...foot, ...(trouble === undefined ? [] : [trouble]), last]
    await block.draw(frame(shape, below, { columns, rows, color, now }), { columns, rows })
  }

  return {
    desk: () => reading,
    async show(look) {
      readAt = clock.now()
      trouble = undefined
      picture.take(look, readAt)
      await draw()
    },
    async tell(text) {
      await notice(text)
      await draw()
    },
    async rest(milliseconds) {
      reading = silent
      const until = clock.now() + milliseconds
      try {
        for (let ahead = milliseconds; ahead > 0; ahead = until - clock.now()) {
          await clock.sleep(Math.min(tick, ahead), stop)
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
