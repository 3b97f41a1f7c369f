import { afterAll } from 'vitest'

/** Keeps what the tests of a file or a group open, and closes it when they are over, the last first. */
export function closeAfterTests(): <T extends { close(): unknown }>(one: T) => T {
  const closing: (() => unknown)[] = []
  afterAll(async () => {
    for (const close of closing.toReversed()) await close()
  })
  return one => {
    closing.push(() => one.close())
    return one
  }
}
