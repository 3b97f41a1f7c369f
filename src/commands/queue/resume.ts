import { getQueue } from '../../api/operations/queues.ts'
import { command } from '../../cli/command.ts'
import { changeState, setQueueState, stateRequest } from './change-state.ts'

export const queueResumeCommand = command({
  name: 'queue resume',
  summary: 'Resume testing and merging',
  operation: setQueueState,
  alsoSends: [getQueue],
  options: { request: stateRequest('RUNNING') },
  examples: ['mergeq queue resume'],
  run: ({ request }, cli) => changeState(cli, request),
})
