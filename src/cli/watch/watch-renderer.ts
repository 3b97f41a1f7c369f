import type { CommandContext } from '../context.ts'

/** Where what is watched is shown, and what may end the watching; `L` is what one look finds. */
export interface WatchRenderer<L> {
  /** The desk that a reading is made at. */
  context(): CommandContext
  /** Shows what a look found. */
  show(look: L): Promise<void>
  /** Says what went wrong while the watching goes on. */
  notify(text: string): Promise<void>
  /** Rests so many milliseconds; false when a person has left. */
  sleep(milliseconds: number): Promise<boolean>
  /** Waits for work unless a person leaves first; then it rejects. */
  unlessLeft<T>(work: Promise<T>): Promise<T>
  isLeft(): boolean
  close(): Promise<void>
}

/** A watch is repeated by itself: a failed reading is counted, not sent again (WIRE.md section 3). */
export const withoutRetries = (context: CommandContext): CommandContext => ({
  ...context,
  options: { ...context.options, retries: 0 },
})

/** A stage for a pipe, a CI job, and every format but the table: whatever `show` writes, line by line. */
export function createLineRenderer<L>(
  show: (look: L) => Promise<void>,
  context: CommandContext,
): WatchRenderer<L> {
  const { logger, host } = context
  const reading = withoutRetries(context)
  return {
    context: () => reading,
    show,
    notify: text => logger.info(text),
    async sleep(milliseconds) {
      await host.clock.sleep(milliseconds, host.interrupted)
      return true
    },
    unlessLeft: work => work,
    isLeft: () => false,
    close: async () => undefined,
  }
}
