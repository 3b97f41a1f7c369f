import type { Spinner } from './spinner.ts'

/** Waiting shorter than this, in milliseconds, is not worth a sign. */
const soon = 200
const often = 100

/**
 * Shows what is being waited for until the work is done: a spinner, after 200 ms. `stream` is the terminal's own, which
 * a spinner must be able to move about in; without one nothing is shown.
 */
export async function during<T>(
  stream: unknown,
  color: boolean,
  text: () => string,
  work: () => Promise<T>,
): Promise<T> {
  if (stream === undefined) return work()
  let spinner: Spinner | undefined
  let isOver = false
  let timer = setTimeout(async () => {
    const { spin } = await import('./spinner.ts')
    if (isOver) return
    spinner = spin(stream, text(), color)
    timer = setInterval(() => spinner?.say(text()), often)
  }, soon)
  try {
    return await work()
  } finally {
    isOver = true
    clearTimeout(timer)
    spinner?.stop()
  }
}
