import type { Spinner } from './spinner.ts'

/** Waiting shorter than this is not worth a sign. */
const soon = 200

/** Where a spinner may turn: standard error, when it is a terminal. */
export interface Stage {
  readonly terminal: boolean
  /** Whether to colour. */
  readonly color: boolean
  /** The terminal's stream itself, which the spinner must be able to move about in. */
  readonly stream?: unknown
}

/** Shows what is being waited for until the work is done: a spinner, after 200 ms, on a terminal only. */
export async function during<T>(
  stage: Stage,
  isShown: boolean,
  text: string,
  work: () => Promise<T>,
): Promise<T> {
  if (!isShown || stage.stream === undefined || !stage.terminal) return work()
  let spinner: Spinner | undefined
  let isOver = false
  const timer = setTimeout(async () => {
    const { spin } = await import('./spinner.ts')
    if (!isOver) spinner = spin(stage.stream, text, stage.color)
  }, soon)
  try {
    return await work()
  } finally {
    isOver = true
    clearTimeout(timer)
    spinner?.stop()
  }
}
