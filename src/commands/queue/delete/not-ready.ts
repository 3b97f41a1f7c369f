import { listPullRequests } from '../../../api/operations/pull-request-list.ts'
import { readListIfAvailable } from '../../../api/read-list-if-available.ts'
import { withMaxRetries } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { InputValues } from '../../../cli/inputs.ts'
import type { queueInputs } from '../../../cli/queue-inputs.ts'
import { getString } from '../../../json.ts'

const state = 'NOT_READY'

const { pagination: _, ...listWithoutPages } = listPullRequests

/** The operation that `readNotReady` sends. An incomplete list does not end the command. */
export const notReadyOperation = listWithoutPages

/**
 * Returns the numbers of the pull requests of a queue that are not ready, which getQueue does not list;
 * undefined where the service does not list them either, or where the list could not be read.
 */
export async function readNotReady(
  { repo, targetBranch }: InputValues<typeof queueInputs>,
  context: Pick<CommandContext, 'client'>,
): Promise<readonly number[] | undefined> {
  const client = context.client()
  const numbers: number[] = []
  const { isAvailable } = await readListIfAvailable(
    client,
    listPullRequests,
    { repo, targetBranch, states: [state] },
    records => {
      for (const record of records)
        if (typeof record.prNumber === 'number' && getString(record, 'state') === state)
          numbers.push(record.prNumber)
    },
    { limits: withMaxRetries(client, 0) },
  )
  return isAvailable ? numbers : undefined
}
