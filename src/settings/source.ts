import type { Name } from './table.ts'

/** A value as it was found, and where. */
export interface Found {
  readonly value: string
  readonly origin: string
}

/** A place where values are looked for; of several the first that has one wins. */
export interface Source {
  find(name: Name): Found | undefined | Promise<Found | undefined>
}
