// When work is done: once, or several pieces of it at a time.

/** Returns a function that calls `create` once and then returns the same value or promise, failed or not. */
export function memoize<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}

/** How many requests are sent at a time (docs/reference/cli.md, "Several pull requests"). */
export const maxConcurrent = 4

/** Processes `width` items at a time, and yields the results in their order until `mayStart` is false. */
export async function* mapConcurrent<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
  mayStart = () => true,
): AsyncGenerator<R> {
  const started: Promise<R>[] = []
  for (let index = 0; ; index++) {
    if (mayStart())
      for (const item of items.slice(started.length, index + width)) {
        const result = work(item)
        // It may reject before its turn: the rejection is handled where the result is awaited.
        result.catch(() => undefined)
        started.push(result)
      }
    const next = started[index]
    if (next === undefined) return
    yield await next
  }
}
