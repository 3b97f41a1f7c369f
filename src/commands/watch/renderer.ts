import type { Desk } from '../../cli/context.ts'

/** Where what is watched is shown, and what may end the watching; `L` is what one look finds. */
export interface Stage<L> {
  /** The desk that a reading is made at. */
  desk(): Desk
  /** Shows what a look found. */
  show(look: L): Promise<void>
  /** Says what went wrong while the watching goes on. */
  tell(text: string): Promise<void>
  /** Rests so many milliseconds; false when a person has left. */
  rest(milliseconds: number): Promise<boolean>
  /** Waits for work unless a person leaves first; then it rejects. */
  unlessLeft<T>(work: Promise<T>): Promise<T>
  isLeft(): boolean
  close(): Promise<void>
}

/** A watch is repeated by itself: a failed reading is counted, not sent again (WIRE.md section 3). */
export const withoutRepeats = (desk: Desk): Desk => ({ ...desk, options: { ...desk.options, retries: 0 } })

/** A stage for a pipe, a CI job, and every format but the table: whatever `show` writes, line by line. */
export function openLineStage<L>(show: (look: L) => Promise<void>, desk: Desk): Stage<L> {
  const { voice, world } = desk
  const reading = withoutRepeats(desk)
  return {
    desk: () => reading,
    show,
    tell: text => voice.note(text),
    async rest(milliseconds) {
      await world.clock.sleep(milliseconds, world.interrupted)
      return true
    },
    unlessLeft: work => work,
    isLeft: () => false,
    close: async () => undefined,
  }
}
