/**
 * The parsed command line: the typed values of each argument and option, by its name (`pr`, `--priority`).
 * An option without a value holds `true`; arguments and options that were not typed are absent.
 */
export type ParsedArgs = ReadonlyMap<string, readonly string[]>
