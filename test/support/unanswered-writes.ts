/** The requests in one line: `c rrr c` is the change, three readings and the change once more. */
export const inLetters = (operations: readonly string[], change: string): string =>
  operations
    .map(operation => (operation === change ? ' c ' : 'r'))
    .join('')
    .replace(/ +/g, ' ')
    .trim()
