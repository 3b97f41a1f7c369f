import { callOperation } from '../../../api/call.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { type Invocation, readInvocations } from '../../../cli/invocation.ts'
import { joinList, pluralize } from '../../../domain/format.ts'
import {
  type Difference,
  differences,
  type LiveSettings,
  liveSettings,
  settingsDigest,
  unknownKeys,
} from '../../../domain/queue-file.ts'
import { parseRepository, repositoryName } from '../../../domain/values/parsers.ts'
import { toMergeqError, usageError } from '../../../errors.ts'
import type { Json } from '../../../json.ts'
import { stringifyJson } from '../../../json-text.ts'
import { queueGet } from '../get.ts'
import { type LoadedQueueFile, readQueueFiles, withOverrides } from './read-files.ts'

/** The run that reads a queue. */
export type QueueRequest = Invocation<typeof queueGet.inputs>

/** A queue that a file describes. */
export interface PlanItem extends LoadedQueueFile {
  readonly run: QueueRequest
}

/** What is between a file and its live queue. */
export interface Plan extends PlanItem {
  /** Undefined where the branch has no queue. */
  readonly live: LiveSettings | undefined
  readonly digest: string
  readonly differences: readonly Difference[]
}

/** `main in github.com/acme/web`. */
export const queueName = ({ values: { repo, targetBranch } }: QueueRequest): string =>
  `${targetBranch} in ${repositoryName(repo)}`

/** The run for the queue that a file names; what it leaves open comes from the settings, and a flag must not contradict. */
export async function requestFor(
  { path, code }: LoadedQueueFile,
  context: CommandContext,
): Promise<QueueRequest> {
  const args = new Map(context.args)
  const lay = async (
    flag: string,
    value: string | undefined,
    typed: () => Promise<string>,
    plain: string,
  ) => {
    if (value === undefined) return
    if (args.has(flag) && (await typed()) !== plain)
      throw usageError(
        `${flag} says ${args.get(flag)?.[0]}, and ${path} is of ${value}.`,
        'Leave one of them out.',
      )
    args.set(flag, [value])
  }
  const { repo, targetBranch } = code
  const plainRepo = repo === undefined ? '' : repositoryName(parseRepository(repo))
  await lay('--repo', repo, async () => repositoryName(await context.settings.require('repo')), plainRepo)
  await lay(
    '--target-branch',
    targetBranch,
    () => context.settings.require('targetBranch'),
    targetBranch ?? '',
  )
  const [run] = await readInvocations(queueGet, { ...context, args })
  if (run === undefined) throw usageError('No queue was given.')
  return run
}

/** The queues that a path describes, each once. */
export async function readItems(
  path: string,
  withState: boolean,
  context: CommandContext,
): Promise<readonly PlanItem[]> {
  const items: PlanItem[] = []
  const args = new Map(context.args)
  args.delete('--set')
  for (const file of await readQueueFiles(path, context)) {
    const code = withOverrides(file.code, context.args, withState)
    const run = await requestFor(file, { ...context, args })
    const twin = items.find(item => queueName(item.run) === queueName(run))
    if (twin !== undefined)
      throw usageError(`${twin.path} and ${file.path} are of the same queue: ${queueName(run)}.`)
    if (Object.hasOwn(file.code.settings, 'state') && !withState)
      await context.logger.info(`${file.path}: state is left alone (--include-state makes it a part).`)
    items.push({ ...file, code, run })
  }
  return items
}

/** The live settings of a queue; undefined where the branch has none. */
export async function readLive(
  run: QueueRequest,
  withState: boolean,
  context: CommandContext,
): Promise<LiveSettings | undefined> {
  try {
    const { reply } = await callOperation(context, getQueue, run.values, run)
    return liveSettings(reply.records[0] ?? {}, withState)
  } catch (error) {
    const { status, isWebPage } = toMergeqError(error).details
    if (status === 404 && isWebPage !== true) return undefined
    throw error
  }
}

/**
 * Reads every live queue, and says what differs. A setting that neither mergeq nor the live queue knows is a usage
 * failure, unless it is allowed: then it is warned of.
 */
export async function planAll(
  items: readonly PlanItem[],
  withState: boolean,
  allowUnknown: boolean,
  context: CommandContext,
): Promise<readonly Plan[]> {
  const plans: Plan[] = []
  for (const item of items) {
    const live = await readLive(item.run, withState, context)
    const standing = live?.settings ?? {}
    const odd = unknownKeys(item.code.settings, standing)
    const [first] = odd
    if (first !== undefined && !allowUnknown)
      throw (await import('./unknown-settings.ts')).unknownSetting(first, item.path, standing, context.args)
    if (odd.length > 0)
      await context.warnOnce(
        `${item.path}: neither mergeq nor the live queue knows ${joinList(odd)}: sent as it is.`,
      )
    const digest = await settingsDigest(live === undefined ? null : live.settings)
    plans.push({ ...item, live, digest, differences: differences(standing, item.code.settings) })
  }
  return plans
}

/** The digest of all live queues: of one, its own. */
export const digestOfAll = async (plans: readonly Plan[]): Promise<string> => {
  const [first, ...rest] = plans.map(({ digest }) => digest)
  return first !== undefined && rest.length === 0 ? first : settingsDigest([first ?? null, ...rest])
}

/** Whether a queue is not as its file says. */
export const isDifferent = ({ live, differences }: Plan): boolean =>
  live === undefined || differences.length > 0

/** A value as it stands in a plan. */
export const formatValue = (value: Json | undefined): string =>
  typeof value === 'string' ? value : stringifyJson(value ?? null)

/** A plan as a person reads it: what is between the queue and its file, a line each. */
export function describePlan({ run, live, differences: all }: Plan): readonly string[] {
  const name = queueName(run)
  const differ = `${pluralize(all.length, 'setting')} ${all.length === 1 ? 'differs' : 'differ'}`
  return [
    live === undefined
      ? `The queue of ${name} is not there: it would be created.`
      : all.length === 0
        ? `The queue of ${name} is as its file says.`
        : `The queue of ${name}: ${differ}.`,
    ...all.map(({ setting, live: is, file }) =>
      live === undefined
        ? `- ${setting}: ${formatValue(file)}`
        : `- ${setting}: ${formatValue(is)} -> ${formatValue(file)}`,
    ),
  ]
}
