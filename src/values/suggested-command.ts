import type { Repository } from './repository.ts'

/** Returns a text in single quotes, which a POSIX shell reads as one word with the same characters. */
export const shellQuote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** Returns a text as one word of a POSIX shell, in double quotes, as other shells have them, where these are enough. */
export function shellWord(word: string): string {
  if (/^(?!=)[\w./:@+=,-]+$/.test(word)) return word
  return /^[\p{L}\p{N}_ -]+$/u.test(word) ? `"${word}"` : shellQuote(word)
}

/** The words of a command line after `mergeq`. */
export type CommandWords = readonly (string | number)[]

/** Returns a command line of mergeq that a person can paste into a POSIX shell. */
export const joinCommandLine = (words: CommandWords): string =>
  ['mergeq', ...words.map(word => shellWord(String(word)))].join(' ')

interface CommandPlace {
  /** Null for a command that is about all repositories. */
  readonly repo?: Repository | null | undefined
  /** Null for a command that is about all branches. */
  readonly targetBranch?: string | null | undefined
}

/**
 * Returns a command line with the words, and with the options that it needs to be about the same service,
 * organization and queue as the command that is running. `repeated` names further options of that command to
 * repeat, if they were typed.
 */
export type CommandLine = (words: CommandWords, place?: CommandPlace, repeated?: readonly string[]) => string

/** How many pull requests a suggested command line names at most. */
const maxNumbers = 50

/** Returns a command line for each queue with its pull requests; with `-` instead of more than 50 numbers. */
export function commandLinesByQueue(
  words: CommandWords,
  pullRequests: readonly (CommandPlace & { readonly pr?: number | undefined })[],
  commandLine: CommandLine,
): readonly string[] {
  const numbersByLine = new Map<string, { readonly place: CommandPlace; readonly numbers: number[] }>()
  for (const { repo, targetBranch, pr } of pullRequests) {
    const place = { repo, targetBranch }
    const line = commandLine(words, place)
    const entry = numbersByLine.get(line) ?? { place, numbers: [] }
    if (pr !== undefined) entry.numbers.push(pr)
    numbersByLine.set(line, entry)
  }
  return [...numbersByLine.values()].map(({ place, numbers }) =>
    commandLine([...words, ...(numbers.length > maxNumbers ? ['-'] : numbers)], place),
  )
}
