import { type ExtraListEnd, readListIfAvailable } from '../../../api/extra-reads.ts'
import type { ParamValues } from '../../../api/operation.ts'
import { listUnhealthyTests } from '../../../api/operations/tests.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { Invocation } from '../../../cli/custom-command.ts'
import { flag } from '../../../cli/inputs.ts'
import type { JsonObject } from '../../../json.ts'

/** The option that leaves out flaky and broken tests that did not fail in the range. */
export const windowOnlyInput = flag({
  name: 'window-only',
  summary: 'Ignore flaky and broken tests that did not fail in the range',
})

/** The members of a body that say which tests a list is about. */
const sharedMembers: readonly string[] = ['repo', 'org_url_slug']

/**
 * Reads the flaky and the broken tests, also those that did not fail lately, where the service lists them
 * (docs/reference/service.md, "list-unhealthy-tests"). Logs a note if the list could not be read completely.
 */
export async function readUnhealthyTests(
  params: Omit<ParamValues<typeof listUnhealthyTests.params>, 'limit'>,
  { overrides }: Pick<Invocation, 'overrides'>,
  context: Pick<CommandContext, 'client' | 'logger'>,
  take: (tests: readonly JsonObject[]) => void,
): Promise<ExtraListEnd> {
  const end = await readListIfAvailable(context.client(), listUnhealthyTests, params, take, {
    overrides: overrides.filter(({ path: [member = ''] }) => sharedMembers.includes(member)),
  })
  if (end.problem !== undefined)
    await context.logger.info(`The list of flaky and broken tests is incomplete: ${end.problem}.`)
  return end
}
