import { shellQuote } from '../../domain/shell-quote.ts'
import { type CompletionSpec, type CompletionValue, listSuggestions } from './completion-spec.ts'

/**
 * Returns the shell function `_mergeq_value` for bash and zsh. The function offers the values at a position
 * in the command line; `renderValue` returns the statements that do so in the syntax of the shell.
 */
export const renderValueFunction = (
  spec: CompletionSpec,
  renderValue: (value: CompletionValue) => string,
): string => `_mergeq_value() {
  case $1 in
${listSuggestions(spec)
  .map(([key, value]) => `    ${shellQuote(key)}${key.endsWith('#') ? '*' : ''}) ${renderValue(value)} ;;`)
  .join('\n')}
    *) return 1 ;;
  esac
}`
