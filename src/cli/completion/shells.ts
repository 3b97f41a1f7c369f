/** The shells that have a completion script, by the names that `mergeq completion` takes. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const

/** A shell that has a completion script. */
export type Shell = (typeof shells)[number]
