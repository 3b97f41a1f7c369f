import type { Again, Causer } from './reason-table.ts'

/** The words of the service, as every command gives them in JSON. */
export interface ServiceWords {
  readonly serviceReason: string | null
  readonly by: Causer | null
  readonly actor: string | null
  readonly again: Again | null
  /** Null if a wait could not read the words. */
  readonly mayBeMerged: boolean | null
}
