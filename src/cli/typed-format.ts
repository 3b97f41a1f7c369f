import type { ParsedArgs } from '../config/settings.ts'

/** Returns the name of the format that was typed, in lower case: it may be unknown. Undefined without one. */
export const typedFormat = (args: ParsedArgs): string | undefined =>
  args.has('--json') ? 'json' : args.get('--output')?.[0]?.toLowerCase()
