import { changeSentence } from '../../api/change-sentence.ts'
import { createQueue } from '../../api/operations/queues.ts'
import { command } from '../../command/command.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { forOne, send, show } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'

export const definition = command({
  name: 'queue create',
  summary: 'Create a merge queue for a branch',
  operation: createQueue,
  options: { ...paramsOf(createQueue) },
  set: setOf(createQueue),
  examples: ['mergeq queue create --target-branch release --concurrency 2'],
  run: (queue, cli) =>
    forOne(cli, createQueue, queue, async () => {
      const sent = await send(cli, createQueue, queue)
      return show(sent, `${changeSentence(createQueue, queue)}.`)
    }),
})
