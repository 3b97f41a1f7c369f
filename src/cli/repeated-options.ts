import type { ParsedArgs } from '../config/args.ts'
import { shellWord } from '../domain/shell-quote.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'

/**
 * Returns the options with which another command line refers to the same queue, each after a space: those
 * that were typed, and the repository if a URL named it. May be empty.
 */
export function repeatedOptions(repo: Repository, args: ParsedArgs): string {
  const options = ['--repo', '--target-branch', '--base-url', '--profile'].flatMap(name => {
    const [value] = args.get(name) ?? []
    return value === undefined ? [] : [` ${name} ${shellWord(value)}`]
  })
  const isUrl = (args.get('pr') ?? []).some(reference => reference.includes('/')) && !args.has('--repo')
  return [...(isUrl ? [` --repo ${shellWord(repositoryName(repo))}`] : []), ...options].join('')
}
