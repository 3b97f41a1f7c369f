/** Violations of the structure rules that are still in the source, by rule. */
export const knownViolations: Readonly<Record<string, readonly string[]>> = {
  'every file has at most 250 lines': ['api/call.ts has 286 lines', 'cli/resume-file.ts has 263 lines'],
}
