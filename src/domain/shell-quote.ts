/** Returns a text in single quotes, which a POSIX shell reads as one word with the same characters. */
export const shellQuote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

export const shellWord = (word: string): string =>
  /^(?!=)[\w./:@+=,-]+$/.test(word) ? word : shellQuote(word)
