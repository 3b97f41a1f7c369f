import { interrupt, type TerminalEvents } from './host.ts'

/** Matches a key: the sequence of a terminal, such as `ESC [ A` for the up arrow, or a character. */
const keys = /\u001B(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])|./gsu

/**
 * How long a suspension may take to begin, in milliseconds. The system ignores it where no shell could
 * continue the process: then the screen returns after this time.
 */
const suspensionDelay = 100

/**
 * Reports what happens to the terminal of a process until the returned function is called. In raw mode, which
 * keys need, the terminal sends no signals: Ctrl-C and Ctrl-Z arrive as characters. Ctrl-Z and SIGTSTP then
 * have the same effect: the terminal is restored, the job is suspended, and SIGCONT resumes the screen.
 */
export function watchTerminal(proc: NodeJS.Process, { press, ...events }: TerminalEvents): () => void {
  const { stdin, stdout } = proc
  const setRawMode = (isRaw: boolean) => {
    if (press !== undefined) stdin.setRawMode(isRaw)
  }
  let isSuspended = false
  const resume = () => {
    if (isSuspended) proc.on('SIGTSTP', suspend)
    isSuspended = false
    setRawMode(true)
    events.resume()
  }
  const suspend = async () => {
    if (isSuspended || proc.platform === 'win32') return
    isSuspended = true
    await events.suspend().catch(() => undefined)
    if (!isSuspended) return
    setRawMode(false)
    // Without a listener the signal suspends. It goes to the whole job: a shell waits for all its processes.
    proc.off('SIGTSTP', suspend)
    proc.kill(0, 'SIGTSTP')
    setTimeout(() => {
      if (isSuspended) resume()
    }, suspensionDelay)
  }
  const readKeys = (piece: Uint8Array) => {
    for (const [key] of piece.toString().matchAll(keys)) {
      if (key === '\u0003') interrupt(proc)
      else if (key === '\u001A') suspend()
      else press?.(key)
    }
  }
  proc.on('SIGTSTP', suspend).on('SIGCONT', resume)
  stdout.on('resize', events.resize)
  setRawMode(true)
  // A terminal that is closed also sends a signal.
  if (press !== undefined) stdin.on('error', () => undefined).on('data', readKeys)
  return () => {
    isSuspended = false
    proc.off('SIGTSTP', suspend).off('SIGCONT', resume)
    stdout.off('resize', events.resize)
    if (press !== undefined) stdin.off('data', readKeys).pause()
    setRawMode(false)
  }
}
