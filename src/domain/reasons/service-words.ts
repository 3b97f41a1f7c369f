import type { Again, Causer } from './reason-table.ts'

/** The words of the service, as every command gives them in JSON. */
export interface ServiceWords {
  /** The word of the service: `pr_closed`; null if it gives none. */
  readonly serviceReason: string | null
  readonly by: Causer | null
  /** The login of who did it; null if the service names nobody. */
  readonly actor: string | null
  readonly again: Again | null
  /** Null if a wait could not read the words. */
  readonly mayBeMerged: boolean | null
}
