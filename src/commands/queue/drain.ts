import { command } from '../../command/command.ts'
import { runStateCommand, stateCommand } from './shared/states/state-command.ts'

export const definition = command({
  ...stateCommand,
  name: 'queue drain',
  summary: 'Start no new tests; let running tests finish and merge what passes',
  examples: ['mergeq queue drain', 'mergeq queue drain --all --record states.json'],
  run: (options, cli) => runStateCommand(cli, 'DRAINING', options),
})
