import { sanitizeLine } from './sanitize.ts'
import type { Screen, Spinner } from './spinner.ts'

/** The time before the spinner appears, in milliseconds. */
const spinnerDelay = 200
/** The interval between updates of the text, in milliseconds. */
const refreshInterval = 100

/** Runs `work` and shows a spinner with `text` from 200 ms on until it ends. Returns what `work` returns. */
export async function withSpinner<T>(
  screen: Screen,
  color: boolean,
  text: () => string,
  work: () => Promise<T>,
): Promise<T> {
  let spinner: Spinner | undefined
  let isDone = false
  let timer = setTimeout(async () => {
    const { startSpinner } = await import('./spinner.ts')
    if (isDone) return
    spinner = startSpinner(screen, sanitizeLine(text()), color)
    timer = setInterval(() => spinner?.setText(sanitizeLine(text())), refreshInterval)
  }, spinnerDelay)
  try {
    return await work()
  } finally {
    isDone = true
    clearTimeout(timer)
    spinner?.stop()
  }
}
