import { shellWord } from '../domain/shell-quote.ts'
import { repositoryName } from '../domain/values/repository.ts'
import type { ResourceRef } from './resource.ts'

/** A command line about the pull request and the queue that a request concerned, for a shell. */
export const resourceCommand = (command: string, { repo, targetBranch, pr }: ResourceRef): string =>
  [
    command,
    ...(pr === undefined ? [] : [String(pr)]),
    ...(repo === undefined ? [] : ['-R', shellWord(repositoryName(repo))]),
    ...(targetBranch === undefined ? [] : ['-b', shellWord(targetBranch)]),
  ].join(' ')
