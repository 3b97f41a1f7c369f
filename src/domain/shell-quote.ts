/** Returns a text in single quotes, which a POSIX shell reads as one word with the same characters. */
export const shellQuote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** Returns a text as one word of a POSIX shell, in single quotes only if it needs them. */
export const shellWord = (word: string): string =>
  /^(?!=)[\w./:@+=,-]+$/.test(word) ? word : shellQuote(word)
