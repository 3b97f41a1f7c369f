import { getQueue } from '../../api/operations/queues.ts'
import { command } from '../../cli/command.ts'
import { changeState, setQueueState, stateRequest } from './change-state.ts'

export const queueDrainCommand = command({
  name: 'queue drain',
  summary: 'Start no new tests; let running tests finish and merge what passes',
  operation: setQueueState,
  alsoSends: [getQueue],
  options: { request: stateRequest('DRAINING') },
  examples: ['mergeq queue drain'],
  run: ({ request }, cli) => changeState(cli, request),
})
