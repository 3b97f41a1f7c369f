import { shellWord } from '../domain/shell-quote.ts'
import { repositoryName } from '../domain/values/repository.ts'
import type { Resource } from './resource.ts'

export const resourceCommand = (command: string, { repo, targetBranch, pr }: Resource): string =>
  [
    command,
    ...(pr === undefined ? [] : [String(pr)]),
    ...(repo === undefined ? [] : ['-R', shellWord(repositoryName(repo))]),
    ...(targetBranch === undefined ? [] : ['-b', shellWord(targetBranch)]),
  ].join(' ')
