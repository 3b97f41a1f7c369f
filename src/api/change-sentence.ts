import { pullRequestName } from '../values/pull-request.ts'
import { queueName, shortRepositoryName } from '../values/repository.ts'
import type { Operation } from './operation.ts'
import type { Resource } from './resource.ts'

/** What a change is about; a pull request that nobody named says how it was found. */
interface ChangeSubject extends Resource {
  readonly guess?: string | undefined
}

/** Returns the sentence about a change, without a full stop: what it would do (`before`), or what it did (`after`). */
export function changeSentence(
  { route, change }: Pick<Operation, 'route' | 'change'>,
  subject: ChangeSubject,
  when: 'before' | 'after' = 'after',
): string {
  const { repo, targetBranch, testId, ticket } = subject
  if (change?.sentence === undefined || repo === undefined) throw new Error(`${route} has no sentence`)
  const names: Readonly<Record<string, string | undefined>> = {
    pr: pullRequestName(subject),
    queue: targetBranch && `the queue for ${queueName({ repo, targetBranch })}`,
    repo: shortRepositoryName(repo),
    test: testId,
    ticket,
  }
  return change.sentence[when].replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '')
}
