/**
 * Returns a function that calls `create` at its first call, and at every call returns that result: the same
 * value, or the same promise with its value or error.
 */
export function memoize<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}
