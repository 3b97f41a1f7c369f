import { findSimilarName } from '../../domain/similar-name.ts'
import { topicNames } from '../help/topic-names.ts'
import { formatCommandLine } from './command-line.ts'
import { correctCommand, type KnownCommands } from './correct-command.ts'

/**
 * Returns the question for words of `mergeq help` that name neither a command nor a topic; undefined if none
 * is similar.
 */
export function hintForHelp(words: readonly string[], known: KnownCommands): string | undefined {
  const topic = findSimilarName(words.join('-'), topicNames)
  const target = topic ?? correctCommand(words, known)?.target.replace(/^help /, '')
  if (target === undefined || target.startsWith('-')) return undefined
  const line = formatCommandLine(['help', ...target.split(' ').filter(word => !word.startsWith('-'))])
  return line === undefined ? undefined : `Did you mean: ${line}`
}
