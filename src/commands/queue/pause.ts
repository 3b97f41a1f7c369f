import { getQueue } from '../../api/operations/queues.ts'
import { command } from '../../cli/command.ts'
import { changeState, setQueueState, stateRequest } from './change-state.ts'

export const queuePauseCommand = command({
  name: 'queue pause',
  summary: 'Pause testing and merging; let running tests finish',
  operation: setQueueState,
  alsoSends: [getQueue],
  options: { request: stateRequest('PAUSED') },
  examples: ['mergeq queue pause'],
  run: ({ request }, cli) => changeState(cli, request),
})
