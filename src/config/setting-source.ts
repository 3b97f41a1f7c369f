import type { SettingKey } from './setting-definitions.ts'

/** The text of a setting and its origin. */
export interface ResolvedValue {
  readonly value: string
  /** The source of the value, for messages: an option, a variable, a file, a profile, the CI job or git. */
  readonly origin: string
  /**
   * Where the source holds the value, for messages about an invalid value: its key, and its file unless
   * `origin` is the file.
   */
  readonly place?: string
  /** Why another user may have written the value; such a value never decides where a token is sent. */
  readonly foreignReason?: string
  /** How to fix an invalid value, unless the message about it says so. */
  readonly fix?: string
}

/** Returns a text or a whole number as a value; undefined when it is empty or anything else. */
export const toResolvedValue = (value: unknown, origin: string): ResolvedValue | undefined => {
  const text = Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && text !== '' ? { value: text, origin } : undefined
}

/** A source of settings; the first source that has a value wins. */
export interface SettingSource {
  /** Returns the value of a setting, or undefined when the source has none. */
  find(name: SettingKey): ResolvedValue | undefined | Promise<ResolvedValue | undefined>
}
