import type { Screen, Spinner, SpinnerText } from './spinner.ts'

/** The time before the spinner appears, in milliseconds. */
const spinnerDelay = 200
/** The interval between updates of the text, in milliseconds. */
const refreshInterval = 100

/**
 * Runs `work` and shows a spinner with `text` from 200 ms on until it ends; `started` is called when it
 * appears. Returns what `work` returns.
 */
export async function withSpinner<T>(
  screen: Screen,
  color: boolean,
  text: SpinnerText,
  work: () => Promise<T>,
  started: (spinner: Spinner) => void = () => undefined,
): Promise<T> {
  let spinner: Spinner | undefined
  let isDone = false
  let timer = setTimeout(async () => {
    const { startSpinner } = await import('./spinner.ts')
    if (isDone) return
    spinner = startSpinner(screen, text, color)
    started(spinner)
    timer = setInterval(() => spinner?.refresh(), refreshInterval)
  }, spinnerDelay)
  try {
    return await work()
  } finally {
    isDone = true
    clearTimeout(timer)
    spinner?.stop()
  }
}
