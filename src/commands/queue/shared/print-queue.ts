import type { Operation } from '../../../api/operation.ts'
import { entryRecord } from '../../../api/operations/fields.ts'
import { getQueue, queueRecord, withNormalizedStates } from '../../../api/operations/queues.ts'
import { readActivity, readTestedTogether } from '../../../api/reads/queue-activity.ts'
import { anyField, recordDecoder } from '../../../api/response.ts'
import { usageError } from '../../../base/errors.ts'
import { getArray, isObject } from '../../../base/json.ts'
import { type Cli, readsMore, userOf } from '../../../command/command.ts'
import { printRequests } from '../../../command/dry-run.ts'
import { fieldsOfRecords, type RecordFields } from '../../../command/fields.ts'
import { hasName } from '../../../command/select-fields.ts'
import { read, show } from '../../../command/send.ts'
import type { ParsedArgs } from '../../../config/settings.ts'
import { positionEntries } from '../../../domain/queue-entries.ts'
import { pullRequestCsvColumns } from '../../../output/pull-request-columns.ts'
import { type Column, columns } from '../../../output/view.ts'
import { shorten } from '../../../values/format.ts'
import { type Queue, queueName } from '../../../values/repository.ts'
import { notReadySentence, queueScreen } from './screen.ts'

const entryColumns = columns(
  'position',
  'prNumber',
  'state',
  'priorityName',
  'stateChangedAt',
  'prAuthor',
  'prTitle',
)

const position: Column = { title: 'position', path: 'position', format: 'number', csvName: 'position' }

const csvColumns = [...pullRequestCsvColumns, position]

const queueFields = fieldsOfRecords([queueRecord], [], 'from-response')

const entryFields = fieldsOfRecords([entryRecord], entryColumns, 'from-response')

/** Those of the pull requests if a name belongs only to them, else those of the queue; names of both are an error. */
export function selectableFields(args: ParsedArgs): RecordFields {
  const names = (args.get('--fields')?.[0] ?? '').split(',').map(name => name.trim())
  const ofEntry = names.find(name => !hasName(queueFields, name) && hasName(entryFields, name))
  const ofQueue = names.find(name => !hasName(entryFields, name) && hasName(queueFields, name))
  if (ofEntry !== undefined && ofQueue !== undefined)
    throw usageError(
      `--fields: '${ofEntry}' is a field of a pull request, and '${ofQueue}' is a field of the queue.`,
      'Select fields of the pull requests or fields of the queue.',
    )
  if (ofEntry !== undefined) return entryFields
  // An error about an unknown name lists all names.
  return fieldsOfRecords([queueRecord, entryRecord], [], 'from-response')
}

const getPrintedQueue: typeof getQueue = {
  ...getQueue,
  decoder: recordDecoder(
    withNormalizedStates,
    anyField('list of enqueued pull requests (enqueuedPullRequests)'),
  ),
}

const getEntries: Operation<typeof getQueue.params> = {
  ...getQueue,
  adaptResponse: ({ records: [queue], bytes }) => ({
    records: getArray(queue, 'enqueuedPullRequests').filter(isObject),
    document: entries => entries,
    bytes,
  }),
}

/** On a terminal with what the metrics say about its last hour. */
export async function printQueue(place: Queue, cli: Cli): Promise<number> {
  const { args, host, logger, options, printer, results, settings } = cli
  const hasEntries =
    selectableFields(args) === entryFields ||
    (options.format.prints === 'records' && options.fields.length === 0)
  const isOnlyPrinted = options.format.name === 'json' && options.fields.length === 0
  const queueOperation = isOnlyPrinted ? getPrintedQueue : getQueue
  const operation = hasEntries ? getEntries : queueOperation
  if (options.dryRun) return printRequests(cli, operation, [place])
  const [sent, onScreen] = await Promise.all([
    read(cli, operation, place),
    results === 'screen' ? readActivity(cli.client(), place) : undefined,
  ])
  const { records } = sent.response
  const queue = hasEntries ? { enqueuedPullRequests: records } : (records[0] ?? {})
  const { enqueuedPullRequests: listed, state } = records[0] ?? {}
  const isEmpty = Array.isArray(listed) && listed.length === 0
  const saysMore = isEmpty && results !== 'json' && options.fields.length === 0
  const activity = onScreen ?? (saysMore && readsMore(cli) ? await readActivity(cli.client(), place) : {})
  const user = await userOf(cli)
  const batches = results === 'screen' ? await readTestedTogether(queue, cli.client(), place) : undefined
  await printer.print(
    show(sent, {
      columns: options.format.name === 'csv' ? csvColumns : entryColumns,
      rows: positionEntries(queue),
      screen: () =>
        queueScreen(queue, {
          ...place,
          activity: { ...activity, batches },
          columns: host.out.columns,
          commandLine: settings.commandLine,
          user,
        }),
    }),
  )
  if (results === 'rows' && saysMore) {
    const sentences = [
      `No pull requests are queued for ${queueName(place)}.`,
      `The queue is ${typeof state === 'string' ? shorten(state, 200) : 'in an unknown state'}.`,
      notReadySentence(activity.notReady) ?? [],
    ]
    await logger.info(sentences.flat().join(' '))
  }
  return 0
}
