import type { Screen, Spinner } from './spinner.ts'
import { oneLine } from './sanitize.ts'

/** Waiting shorter than this, in milliseconds, is not worth a sign. */
const soon = 200
const often = 100

/**
 * Shows what is being waited for until the work is done: a spinner, after 200 ms. Without a
 * `screen` nothing is shown.
 */
export async function during<T>(
  screen: Screen | undefined,
  color: boolean,
  text: () => string,
  work: () => Promise<T>,
): Promise<T> {
  if (screen === undefined) return work()
  let spinner: Spinner | undefined
  let isOver = false
  let timer = setTimeout(async () => {
    const { spin } = await import('./spinner.ts')
    if (isOver) return
    spinner = spin(screen, oneLine(text()), color)
    timer = setInterval(() => spinner?.say(oneLine(text())), often)
  }, soon)
  try {
    return await work()
  } finally {
    isOver = true
    clearTimeout(timer)
    spinner?.stop()
  }
}
