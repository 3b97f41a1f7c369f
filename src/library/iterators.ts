import { toPublicError } from './options.ts'

/** Yields what an iterator yields; its errors become those that the caller receives. */
export async function* withPublicErrors<T>(
  values: AsyncGenerator<T, void>,
  redact: (text: string) => string,
): AsyncGenerator<T, void> {
  const next = () =>
    values.next().catch(error => {
      throw toPublicError(error, redact)
    })
  try {
    for (let result = await next(); result.done !== true; result = await next()) yield result.value
  } finally {
    await values.return(undefined)
  }
}

/** Makes `return` and `throw` abort `stop` at once: in a generator they wait for the value that was asked for. */
export function stoppable<T>(
  values: AsyncGenerator<T, void>,
  stop: AbortController,
): AsyncGenerator<T, void> {
  const [end, fail] = [values.return.bind(values), values.throw.bind(values)]
  return Object.assign(values, {
    return(...given: Parameters<typeof end>) {
      stop.abort()
      return end(...given)
    },
    throw(...given: Parameters<typeof fail>) {
      stop.abort()
      return fail(...given)
    },
  })
}

interface Given<T> {
  readonly values: readonly T[]
  taken(): void
}

/**
 * Yields what `run` gives. `give` resolves when all of it was taken and more is asked for: while nobody asks, nothing
 * happens. The end of the iterator aborts `stop`, which must end `run`; its error is then no error.
 */
export async function* valuesOf<T>(
  run: (give: (values: readonly T[]) => Promise<void>) => Promise<unknown>,
  stop: AbortController,
): AsyncGenerator<T, void> {
  let offer: (given?: Given<T>) => void = () => undefined
  let fail: (error: unknown) => void = () => undefined
  const nextOffer = () =>
    new Promise<Given<T> | undefined>((resolve, reject) => {
      offer = resolve
      fail = reject
    })
  let offered = nextOffer()
  let given: Given<T> | undefined
  const running = run(values => new Promise(taken => offer({ values, taken }))).then(
    () => offer(),
    error => (stop.signal.aborted ? offer() : fail(error)),
  )
  try {
    for (;;) {
      given = await offered
      if (given === undefined) return
      yield* given.values
      offered = nextOffer()
      given.taken()
    }
  } finally {
    stop.abort()
    given?.taken()
    await running
  }
}
