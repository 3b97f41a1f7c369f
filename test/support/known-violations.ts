/** Violations of the structure rules that are still in the source, by rule. */
export const knownViolations: Readonly<Record<string, readonly string[]>> = {}
