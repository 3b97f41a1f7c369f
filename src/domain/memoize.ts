/** Returns a function that calls `create` once and then returns the same value or promise, failed or not. */
export function memoize<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}
