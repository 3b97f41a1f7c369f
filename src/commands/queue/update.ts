import type { BodyOverride } from '../../api/added-fields.ts'
import type { CallResult } from '../../api/call.ts'
import { outline } from '../../api/operations/fields.ts'
import { getQueue, updateQueue } from '../../api/operations/queues.ts'
import { receiptRecord } from '../../api/receipts.ts'
import type { JsonObject } from '../../base/json.ts'
import { command } from '../../command/command.ts'
import { withoutDryRun } from '../../command/dry-run.ts'
import { kebabCase } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { forOne, readForPerson, send, show } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { factTable, type Result } from '../../output/view.ts'
import { type Queue, queueName } from '../../values/repository.ts'
import { describeUpdate, suggestUndo } from './shared/setting-changes.ts'

/** The settings that were sent: those of options, and those of `--set`, as `{ 'a.b': 1 }` for `a.b=1`. */
function sentSettings(
  { deleteRequiredStatuses, ...options }: JsonObject,
  added: readonly BodyOverride[] = [],
): JsonObject {
  const overridden = added.map(({ path, value }) => [path.join('.'), value])
  return {
    ...options,
    ...(deleteRequiredStatuses ? { requiredStatuses: [] } : {}),
    ...Object.fromEntries(overridden),
  }
}

export const definition = command({
  name: 'queue update',
  summary: 'Change queue settings; other settings stay as they are',
  operation: updateQueue,
  alsoSends: [getQueue],
  options: { ...paramsOf(updateQueue) },
  set: setOf(updateQueue),
  prints: {
    table:
      'one sentence; on a pipe, a row for each setting that the service returns, or else a row with pr, ok, delivery (how sure the result is), message',
    json: `the document from the service, or else the result of the change (a receipt): ${outline(receiptRecord)}`,
  },
  examples: ['mergeq queue update --concurrency 5 --batch', 'mergeq queue update --set newSetting=true'],
  async run(values, cli) {
    const { repo, targetBranch, ...options } = values
    const queue = { repo, targetBranch }
    const settings = sentSettings(options, cli.client().added?.fields)
    const before = await readForPerson(withoutDryRun(cli), getQueue, queue)
    if (cli.options.dryRun && before !== undefined) {
      const changes = describeUpdate(settings, before, {})
      await cli.logger.info(`${queueName(queue)}: ${changes.join(', ') || 'no setting changed'}`)
    }
    const code = await forOne(cli, updateQueue, values, async () => {
      const sent = await send(cli, updateQueue, values)
      return sent === 'printed' ? sent : showUpdate(queue, settings, before, sent)
    })
    if (code === 0 && before !== undefined && !cli.options.dryRun)
      await suggestUndo(queue, settings, before, cli)
    return code
  },
})

/** Shows what changed or, where the settings from before are not known, the settings that the service returned. */
function showUpdate(
  { repo, targetBranch }: Queue,
  sentSettings: JsonObject,
  before: JsonObject | undefined,
  sent: CallResult,
): Result {
  const [queue] = sent.response.records
  const name = queueName({ repo, targetBranch })
  const sentence = `Updated the queue for ${name}`
  const texts = before && describeUpdate(sentSettings, before, queue ?? {})
  const changes = texts && `${name}: ${texts.join(', ') || 'no setting changed'}`
  if (queue === undefined) return show(sent, changes ?? `${sentence}.`)
  const settings = Object.keys(queue).filter(key => key !== 'enqueuedPullRequests')
  const tableWith = (nameOf: (key: string) => string) =>
    factTable(settings.map(key => [nameOf(key), queue[key] ?? null]))
  return show(sent, {
    ...tableWith(key => key),
    screen() {
      if (texts === undefined || changes === undefined)
        return { heading: [`${sentence}:`], ...tableWith(kebabCase) }
      if (texts.length < 2) return { sentence: changes }
      return { heading: [`${name}:`, ...texts.map(text => `  ${text}`)] }
    },
  })
}
