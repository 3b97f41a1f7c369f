import { sanitizeLine } from './sanitize.ts'
import type { Screen, Spinner } from './spinner.ts'

/** Waiting shorter than this, in milliseconds, is not worth a sign. */
const spinnerDelay = 200
const refreshInterval = 100

/**
 * Shows what is being waited for until the work is done: a spinner, after 200 ms. Without a
 * `screen` nothing is shown.
 */
export async function withSpinner<T>(
  screen: Screen | undefined,
  color: boolean,
  text: () => string,
  work: () => Promise<T>,
): Promise<T> {
  if (screen === undefined) return work()
  let spinner: Spinner | undefined
  let isOver = false
  let timer = setTimeout(async () => {
    const { startSpinner } = await import('./spinner.ts')
    if (isOver) return
    spinner = startSpinner(screen, sanitizeLine(text()), color)
    timer = setInterval(() => spinner?.say(sanitizeLine(text())), refreshInterval)
  }, spinnerDelay)
  try {
    return await work()
  } finally {
    isOver = true
    clearTimeout(timer)
    spinner?.stop()
  }
}
