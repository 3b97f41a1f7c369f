import type { ParsedArgs } from '../config/args.ts'
import { shellWord } from '../domain/shell-quote.ts'

/**
 * Returns the options of a command line that name the service and the queue, each after a space: another
 * command line with them refers to the same queue.
 */
export const repeatedOptions = (args: ParsedArgs): string =>
  ['--repo', '--target-branch', '--base-url', '--profile']
    .flatMap(name => {
      const [value] = args.get(name) ?? []
      return value === undefined ? [] : [` ${name} ${shellWord(value)}`]
    })
    .join('')
