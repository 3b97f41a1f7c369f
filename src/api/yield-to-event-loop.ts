import type { Host } from '../host/host.ts'

/** Lets the event loop run once, so that a signal is noticed; rejects with the reason of an interruption. */
export async function yieldToEventLoop({ interrupted }: Pick<Host, 'interrupted'>): Promise<void> {
  await new Promise(setImmediate)
  interrupted.throwIfAborted()
}
