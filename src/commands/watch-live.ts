import { type Change, changeText } from '../contract/changes.ts'
import { read } from '../contract/queues.ts'
import { canAsk, type Desk } from '../run/desk.ts'
import { openBlock } from '../view/block.ts'
import { isColored } from '../view/look.ts'
import { isCiJob } from '../view/runner.ts'
import { type JsonObject, span } from '../view/shapes.ts'
import { queueTexts, type Stage, type Watched, withoutRepeats } from './watch-stage.ts'

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

/** How many changes stay in sight. */
const mostChanges = 3

/** What is to be seen in the block. */
interface Sight {
  queue: JsonObject | undefined
  merge: { readonly pr: number; readonly at: number } | undefined
  changes: readonly (Change & { readonly noticed: number })[]
  trouble: string | undefined
  readAt: number
}

/** A block that is drawn anew every second, until a person presses q. */
export async function openLiveStage(watched: Watched, interval: number, desk: Desk): Promise<Stage> {
  const { world } = desk
  const { clock, out, env, input } = world
  const { frame } = await import('../view/table.ts')
  const block = await openBlock(out)
  const color = isColored({ color: desk.options.color, env, terminal: out.terminal })
  const sight: Sight = {
    queue: undefined,
    merge: undefined,
    changes: [],
    trouble: undefined,
    readAt: clock.now(),
  }
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
    sight.trouble = text
  }
  const plain = withoutRepeats(desk)
  // While the block is drawn nothing else may be written to the terminal.
  const silent: Desk = {
    ...plain,
    options: { ...plain.options, quiet: true },
    voice: { ...desk.voice, warn: notice, note: notice, detail: async () => undefined },
    saySandbox: async () => undefined,
    sayOnce: notice,
  }
  let reading = plain

  const draw = async () => {
    const now = clock.now()
    const { columns, rows } = out
    const { queue = {}, merge, changes, trouble, readAt } = sight
    const { heading: _, ...shape } = read.view({ records: [queue], bytes: new Uint8Array() }, watched)
    const heading = [
      ...(sight.queue === undefined ? ['The queue could not be read yet.'] : queueTexts(queue, watched)),
      merge === undefined ? 'no merge seen yet' : `last merge #${merge.pr}, ${span(now - merge.at)} ago`,
    ]
    const foot = [
      '',
      ...changes.map(change => `${changeText(change)}, ${span(now - change.noticed)} ago`),
      ...(trouble === undefined ? [] : [trouble]),
      `Read ${span(now - readAt)} ago, every ${span(interval)}. ${release === undefined ? 'Ctrl-C' : 'q'} leaves.`,
    ]
    await block.draw(frame({ ...shape, heading }, foot, { columns, rows, color, now }), { columns, rows })
  }

  return {
    desk: () => reading,
    async show(queue, changes = []) {
      const now = clock.now()
      const merged = changes.findLast(({ pr, to }) => pr !== null && to === 'MERGED')
      if (merged?.pr != null) sight.merge = { pr: merged.pr, at: now }
      sight.changes = [...sight.changes, ...changes.map(change => ({ ...change, noticed: now }))].slice(
        -mostChanges,
      )
      Object.assign(sight, { queue, trouble: undefined, readAt: now })
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
