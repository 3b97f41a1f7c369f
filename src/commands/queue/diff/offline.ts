import type { Cli } from '../../../command/command.ts'
import type { Column } from '../../../output/view.ts'
import { pluralize } from '../../../values/format.ts'
import { repositoryName } from '../../../values/repository.ts'
import { findSimilarName } from '../../../values/similar-name.ts'
import type { QueueFileItem } from '../shared/files/described-queues.ts'
import { settingNames, unknownKey } from '../shared/files/queue-file.ts'
import { unknownSettingError } from '../shared/plan.ts'

/** A name that is almost a known one is a usage error, any other is warned of. */
async function checkNames(items: readonly QueueFileItem[], cli: Cli): Promise<void> {
  for (const item of items) {
    const { settings } = item.content
    for (const name of Object.keys(settings)) {
      if (unknownKey({ [name]: settings[name] ?? null }, {}) === undefined) continue
      const error = unknownSettingError(name, item, {})
      if (findSimilarName(name, settingNames) !== undefined) throw error
      await cli.logger.warn(`${error.message} Only the live queue says whether the service knows it.`)
    }
  }
}

export async function checkOffline(
  items: readonly QueueFileItem[],
  columns: readonly Column[],
  cli: Cli,
): Promise<number> {
  await checkNames(items, cli)
  const files = new Set(items.map(({ path }) => path)).size
  const sentence = `${pluralize(files, 'queue file')} ${files === 1 ? 'is' : 'are'} valid. No queue was read.`
  const queues = items.map(({ queue: { repo, targetBranch }, path }) => ({
    repo: repositoryName(repo),
    targetBranch,
    file: path,
  }))
  await cli.printer.print({
    records: [],
    document: changes => ({ same: null, digest: null, queues, changes }),
    columns,
    screen: () => ({ sentence }),
  })
  if (cli.results !== 'screen') await cli.logger.info(sentence)
  return 0
}
