import type { ParsedArgs } from '../config/args.ts'
import { shellWord } from '../domain/shell-quote.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'

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

/** Returns what `repeatedOptions` returns, with the repository of a pull request if a URL named it. */
export function repeatedOptionsOf(repo: Repository, args: ParsedArgs): string {
  const isUrl = (args.get('pr') ?? []).some(reference => reference.includes('/')) && !args.has('--repo')
  return `${isUrl ? ` --repo ${shellWord(repositoryName(repo))}` : ''}${repeatedOptions(args)}`
}
