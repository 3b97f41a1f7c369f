import { shellQuote } from '../../domain/shell-quote.ts'
import { type CompletionSpec, type CompletionValue, suggestionsOf } from './completion-spec.ts'

/** The function that finds what may stand at a place, for bash and zsh: `found` sets it in the shell's own way. */
export const valueFunction = (
  spec: CompletionSpec,
  found: (value: CompletionValue) => string,
): string => `_mergeq_value() {
  case $1 in
${suggestionsOf(spec)
  .map(([key, value]) => `    ${shellQuote(key)}${key.endsWith('#') ? '*' : ''}) ${found(value)} ;;`)
  .join('\n')}
    *) return 1 ;;
  esac
}`
