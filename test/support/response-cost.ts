import { type Behavior, type Responder, withoutEffect } from './responders.ts'

export const mebibyte = 1024 * 1024

/** So many bytes of a text that is repeated, between a head and a tail. */
export const filled = (unit: string, bytes: number, head = '', tail = '') =>
  `${head}${unit.repeat(Math.ceil(bytes / unit.length)).replace(/,$/, '')}${tail}`

export const deep = (bytes: number) => filled('[', bytes)

export const respondAlways = (respond: Responder) => (): Behavior => withoutEffect(respond)
