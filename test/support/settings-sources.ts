import { afterEach } from 'vitest'
import type { Setting } from './harness.ts'

export { token } from './tokens.ts'
export const closing: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(closing.splice(0).map(close => close())))

/** A world in which settings are stored. */
export const file = '/home/me/.config/mergeq/config.json'
export const stored = (document: unknown): Pick<Setting, 'env' | 'files'> => ({
  env: { HOME: '/home/me' },
  files: { [file]: JSON.stringify(document) },
})
export const profiles = (of: Readonly<Record<string, Readonly<Record<string, string | number>>>>) =>
  stored({ profiles: of })

/** Two settings as one; the second wins. */
export const mergeSettings = (one: Setting, other: Setting): Setting => ({
  ...one,
  ...other,
  env: { ...one.env, ...other.env },
  files: { ...one.files, ...other.files },
})

export const requestIn = (out: string) => JSON.parse(out) as { url: string; body?: Record<string, unknown> }
