import type { ListEnd } from '../../../api/list.ts'
import type { Cli } from '../../../command/command.ts'
import type { ListEnding } from '../../../command/lists.ts'
import { cutListSentence } from '../../../command/shared-inputs.ts'
import { countRead, pluralize } from '../../../values/format.ts'
import { type Repository, repositoryName } from '../../../values/repository.ts'

/** `adjective` is the status in words, such as `quarantined`. */
export function statusListEnding(
  adjective: string,
  { shown, hidden, complete, isBroken }: ListEnd,
  {
    pageToken,
    repo,
    order = '',
  }: { readonly pageToken?: string | undefined; readonly repo: Repository; readonly order?: string },
  { settings: { commandLine } }: Cli,
): ListEnding | undefined {
  if (pageToken !== undefined) return undefined
  const where = repositoryName(repo)
  if (shown > 0) {
    if (!complete && !isBroken) return { footer: [cutListSentence(pluralize(shown, `${adjective} test`))] }
    return { footer: [`${countRead(shown, `${adjective} test`, complete)} in ${where}${order}.`] }
  }
  if (isBroken) return undefined
  return {
    sentence:
      hidden > 0
        ? `No ${adjective} test in ${where} matches the options.`
        : `No test in ${where} is ${adjective}. To list the tests that failed, run: ${commandLine(['flaky', 'list'])}`,
  }
}
