import { createQueue } from '../../api/operations/queues.ts'
import { call, forEach, show } from '../../cli/calls.ts'
import { command } from '../../cli/command.ts'
import { requestOf } from '../../cli/requests.ts'
import { queueName } from '../../domain/values/repository.ts'

export const queueCreateCommand = command({
  name: 'queue create',
  summary: 'Create a merge queue for a branch',
  operation: createQueue,
  options: { request: requestOf(createQueue) },
  examples: ['mergeq queue create --target-branch release --concurrency 2'],
  run: ({ request }, cli) =>
    forEach(cli, [request], async () =>
      show(await call(cli, request), `Created the queue for ${queueName(request.values)}.`),
    ),
})
