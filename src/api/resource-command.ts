import { shellWord } from '../domain/shell-quote.ts'
import { repositoryName } from '../domain/values/repository.ts'
import type { Resource } from './resource.ts'

/** A command line about the pull request and the queue of a request, for a shell. */
export const resourceCommand = (command: string, { repo, targetBranch, pr }: Resource): string =>
  [
    command,
    ...(pr === undefined ? [] : [String(pr)]),
    ...(repo === undefined ? [] : ['-R', shellWord(repositoryName(repo))]),
    ...(targetBranch === undefined ? [] : ['-b', shellWord(targetBranch)]),
  ].join(' ')
