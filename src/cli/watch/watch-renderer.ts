import type { ServiceClient } from '../../api/service-client.ts'
import type { CommandContext } from '../context.ts'

export interface WatchRenderer<Update> {
  client(): ServiceClient
  show(update: Update): Promise<void>
  notify(text: string): Promise<void>
  /** Sleeps that many milliseconds. Resolves to false as soon as a person quits. */
  sleep(milliseconds: number): Promise<boolean>
  /** Resolves with the result of the work; rejects as soon as a person quits. */
  untilQuit<T>(work: Promise<T>): Promise<T>
  hasQuit(): boolean
  close(): Promise<void>
}

/** Creates the renderer for pipes, CI jobs and every format except the table: `show` prints each update. */
export function createStreamRenderer<Update>(
  show: (update: Update) => Promise<void>,
  context: CommandContext,
): WatchRenderer<Update> {
  const { logger, host } = context
  return {
    client: () => context.client(),
    show,
    notify: text => logger.info(text),
    async sleep(milliseconds) {
      await host.clock.sleep(milliseconds, host.interrupted)
      return true
    },
    untilQuit: work => work,
    hasQuit: () => false,
    close: async () => undefined,
  }
}
