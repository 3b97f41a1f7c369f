import type { SettingKey } from './setting-definitions.ts'

/** A value as it was found, and where. */
export interface ResolvedValue {
  readonly value: string
  readonly origin: string
  /** Where in the origin it is, for messages about a bad value: its key, and the file where the origin is none. */
  readonly place?: string
  /** Why somebody else may have written it: then it never decides where a token goes. */
  readonly foreign?: string
  /** What to do about a bad value, where the message about it does not say. */
  readonly fix?: string
}

/** A place where values are looked for; of several the first that has one wins. */
export interface SettingSource {
  find(name: SettingKey): ResolvedValue | undefined | Promise<ResolvedValue | undefined>
}
