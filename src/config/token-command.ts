import { usageError } from '../base/errors.ts'
import { isAbsolute } from './store.ts'

const hint =
  'For example: secret-tool lookup service mergeq\nWith blanks inside an argument, use a JSON array: ["pass","show","work/merge queue"]'

function wordsOf(text: string): readonly string[] {
  if (!text.startsWith('[')) {
    if (/["'`]/.test(text))
      throw usageError('No shell reads the command: quotes have no meaning in it.', hint)
    return text.split(/\s+/)
  }
  const invalid = usageError('The command is not a JSON array of strings.', hint)
  try {
    const words: unknown = JSON.parse(text)
    if (Array.isArray(words) && words.every(word => typeof word === 'string')) return words
  } catch {
    throw invalid
  }
  throw invalid
}

/** Parses the command line of a program: a JSON array, or words separated by blanks; nothing for `off`. */
export function parseTokenCommand(text: string): readonly string[] {
  const trimmed = text.trim()
  if (trimmed.toLowerCase() === 'off') return []
  const words = wordsOf(trimmed)
  const [program = ''] = words
  if (program.trim() === '' || words.some(word => word.includes('\0')))
    throw usageError('The command names no program.', hint)
  if (/[\\/]/.test(program) && !isAbsolute(program))
    throw usageError(
      'The program has a relative path.',
      'Use an absolute path, or the name of a program in a folder of PATH.',
    )
  return words
}
