import { command } from '../../command/command.ts'
import { runStateCommand, stateCommand } from './shared/states/state-command.ts'

export const definition = command({
  ...stateCommand,
  name: 'queue pause',
  summary: 'Pause testing and merging; let running tests finish',
  examples: ['mergeq queue pause', 'mergeq queue pause --all --record states.json'],
  run: (options, cli) => runStateCommand(cli, 'PAUSED', options),
})
