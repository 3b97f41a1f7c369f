import { command } from '../../command/command.ts'
import { option } from '../../command/inputs.ts'
import { fileName } from '../../values/types.ts'
import { restoreStates } from './resume/restore-states.ts'
import { runStateCommand, stateCommand } from './shared/states/state-command.ts'

const { options, ...shared } = stateCommand

export const definition = command({
  ...shared,
  name: 'queue resume',
  summary: 'Resume testing and merging',
  options: {
    ...options,
    from: option(
      fileName('file'),
      'Restore the states that --record wrote; skip queues whose state has changed since',
    ),
  },
  examples: ['mergeq queue resume', 'mergeq queue resume --from states.json'],
  run({ from, ...values }, cli) {
    if (from === undefined) return runStateCommand(cli, 'RUNNING', values)
    return restoreStates(cli, from, values.yes)
  },
})
