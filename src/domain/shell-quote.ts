/** A word in single quotes, as a POSIX shell takes it back unchanged. */
export const shellQuote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** A word as a POSIX shell takes it back unchanged: in single quotes only where it needs them. */
export const shellWord = (word: string): string => (/^[\w./:@+-]+$/.test(word) ? word : shellQuote(word))
