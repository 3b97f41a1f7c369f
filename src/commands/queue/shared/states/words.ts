import { failureFields, oneOf, ownRecord, queueNameFields } from '../../../../api/operations/fields.ts'
import type { Cli } from '../../../../command/command.ts'
import { queueNameColumns } from '../../../../command/several-queues.ts'
import { columns } from '../../../../output/view.ts'
import { joinTruncated, pluralize } from '../../../../values/format.ts'
import type { SettableState } from './change-one.ts'

export const stateChangeRecord = ownRecord({
  ...queueNameFields,
  ok: 'boolean',
  result: oneOf('changed', 'unchanged', 'skipped', 'error'),
  before: 'string | null',
  after: 'string | null',
  ...failureFields,
})

export const stateChangeColumns = columns(
  'repo',
  'targetBranch',
  'result',
  ['before', { format: 'state' }],
  'after',
  'message',
)

/** The columns that a person sees: the message of an error stands in the place of its word. */
export const stateChangeScreen = [
  ...queueNameColumns(),
  ...columns(
    [
      'result',
      { format: 'prose', show: ({ result, message = '' }) => (result === 'error' ? message : result) },
    ],
    ['before', { format: 'state', priority: 2 }],
    ['after', { priority: 1 }],
  ),
]

export const describeChanges = (
  does: string,
  queues: readonly { readonly name: string }[],
  note: string,
): string =>
  `This ${does} ${pluralize(queues.length, 'queue')}: ${joinTruncated(queues.map(({ name }) => name))}. ${note}`.trim()

export function recordAdvice(state: SettableState, record: string | undefined): readonly string[] {
  if (state === 'RUNNING')
    return ['To resume only those that an earlier pause --record paused, use --from <file>.']
  return record === undefined
    ? ['Without --record <file>, nothing keeps which queues are paused already.']
    : []
}

export async function suggestReturn(
  cli: Cli,
  { record, file }: { readonly record?: string | undefined; readonly file?: string | undefined },
): Promise<void> {
  if (cli.messages !== 'person') return
  const { commandLine } = cli.settings
  if (record !== undefined) {
    const line = commandLine(['queue', 'resume', '--from', record], { repo: null, targetBranch: null })
    await cli.logger.info(`To restore the states from before, run: ${line}`)
  } else if (cli.command !== 'queue resume') {
    const queues = file === undefined ? ['--all'] : ['-f', file]
    await cli.logger.info(`To resume all of them, run: ${commandLine(['queue', 'resume', ...queues])}`)
    await cli.logger.info('To keep which queues were paused before, add --record <file> next time.')
  }
}
