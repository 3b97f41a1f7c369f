import { offersOf, type Spec, type Value } from './spec.ts'

/** A word as bash and zsh take it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The function that finds what may stand at a place, for bash and zsh: `found` sets it in the shell's own way. */
export const valueFunction = (spec: Spec, found: (value: Value) => string): string => `_mergeq_value() {
  case $1 in
${offersOf(spec)
  .map(([key, value]) => `    ${quoted(key)}${key.endsWith('#') ? '*' : ''}) ${found(value)} ;;`)
  .join('\n')}
    *) return 1 ;;
  esac
}`
