import type { TerminalEvents } from './host.ts'

/** The terminal of a process. */
export interface Terminal {
  /** Reports events until the returned function is called. */
  watch(events: TerminalEvents): () => void
  /**
   * Suspends the job of this process, as Ctrl-Z does without raw mode, after the watchers have restored the
   * terminal. Does nothing on Windows, which has no jobs.
   */
  suspend(): void
}

/**
 * How long a suspension may take to begin, in milliseconds. The system ignores it where no shell could
 * continue the process: then the screen returns after this time.
 */
const suspensionDelay = 100

/**
 * Creates the terminal of a process. While someone watches, SIGTSTP and SIGCONT are handled; without, they
 * have their usual effect.
 */
export function createTerminal(proc: NodeJS.Process): Terminal {
  const watchers = new Set<TerminalEvents>()
  let isSuspended = false
  const resume = () => {
    if (watchers.size === 0) return
    if (isSuspended) proc.on('SIGTSTP', suspend)
    isSuspended = false
    for (const { resume } of watchers) resume()
  }
  const suspend = async () => {
    if (isSuspended || proc.platform === 'win32') return
    isSuspended = true
    await Promise.allSettled([...watchers].map(({ suspend }) => suspend()))
    // Without a listener the signal suspends. It goes to the whole job: a shell waits for all its processes.
    proc.off('SIGTSTP', suspend)
    proc.kill(0, 'SIGTSTP')
    setTimeout(() => {
      if (isSuspended) resume()
    }, suspensionDelay)
  }
  const resize = () => {
    for (const { resize } of watchers) resize?.()
  }
  const listen = () => {
    proc.on('SIGTSTP', suspend).on('SIGCONT', resume)
    proc.stdout.on('resize', resize)
  }
  const stopListening = () => {
    proc.off('SIGTSTP', suspend).off('SIGCONT', resume)
    proc.stdout.off('resize', resize)
  }
  return {
    watch(events) {
      if (watchers.size === 0) listen()
      watchers.add(events)
      return () => {
        watchers.delete(events)
        if (watchers.size === 0) stopListening()
      }
    },
    suspend: () => void suspend(),
  }
}
