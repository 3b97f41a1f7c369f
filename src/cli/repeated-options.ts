import type { ParsedArgs } from '../config/args.ts'
import { shellWord } from '../domain/shell-quote.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { queueOptionNames } from './global-options.ts'

export const testPlaceOptions = ['--repo', '--org', '--base-url', '--profile']

/**
 * Returns the options of a command line that name the service and the queue, each after a space, so that a
 * further command line with them is about the same queue. `names` selects other options.
 */
export const repeatedOptions = (args: ParsedArgs, names: readonly string[] = queueOptionNames): string =>
  names
    .flatMap(name => {
      const [value] = args.get(name) ?? []
      return value === undefined ? [] : [` ${name} ${shellWord(value)}`]
    })
    .join('')

/**
 * Like `repeatedOptions`, but also names the repository that a URL or a receipt on standard input gave, and
 * the queue that `--set` gave.
 */
export function repeatedOptionsOf(
  { repo, targetBranch }: { readonly repo: Repository; readonly targetBranch: string },
  args: ParsedArgs,
): string {
  const references = [...(args.get('pr') ?? []), ...(args.get('--pr') ?? [])]
  const isSet = (args.get('--set') ?? []).some(field => /^(?:repo|targetBranch)[.=]/.test(field))
  const named = new Map(args)
  if (isSet || (references.some(word => word === '-' || word.includes('/')) && !args.has('--repo')))
    named.set('--repo', [repositoryName(repo)])
  if (isSet) named.set('--target-branch', [targetBranch])
  return repeatedOptions(named)
}
