import { joinList } from '../domain/format.ts'
import { type CommandLine, commandLinesByQueue } from '../domain/suggested-command.ts'
import { extendError, type MergeqError, withPeriod } from '../errors.ts'
import { type Operation, operationName } from './operation.ts'
import type { Resource } from './resource.ts'

/**
 * The failure when a signal ends requests of one operation that were sent and got no response: its message
 * names the operation and the resource of each request, its hint the commands that show their state
 * (docs/reference/cli.md, "Guarantees"). The exit code is that of the signal.
 */
export function interruptedChangeError(
  failure: MergeqError,
  { route, recovery }: Pick<Operation, 'route' | 'recovery'>,
  resources: readonly Resource[],
  commandLine: CommandLine,
): MergeqError {
  const operation = operationName(route)
  const names = resources.flatMap(nameIn)
  const command = recovery === undefined ? '' : recovery.inspectCommand
  // A command about a pull request shows nothing without its number.
  const shown = command.startsWith('pr ') ? resources.filter(({ pr }) => pr !== undefined) : resources
  const commands = command === '' ? [] : commandLinesByQueue(command.split(' '), shown, commandLine)
  const isSingle = resources.length === 1
  const what = `The ${isSingle ? 'request' : 'requests'}${names.length === 0 ? '' : ` for ${joinList(names)}`}`
  const state = isSingle ? 'was in progress' : 'were in progress'
  const advice = 'Check the current state before trying again'
  const separator = commands.length > 1 ? '\n' : ' '
  const hint = commands.length === 0 ? `${advice}.` : `${advice}:${separator}${commands.join('\n')}`
  const details = { operation, delivery: 'unknown', hint } as const
  const message = `${withPeriod(failure.message)} ${what} ${state} and may have been applied.`
  return extendError(failure, details, message)
}

const nameIn = ({ pr, targetBranch }: Resource): readonly string[] =>
  pr !== undefined ? [`#${pr}`] : targetBranch === undefined ? [] : [`the queue for ${targetBranch}`]
