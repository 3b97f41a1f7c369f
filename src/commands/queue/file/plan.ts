import {
  type Difference,
  differences,
  digestOf,
  type Live,
  settingsOf,
  strangers,
} from '../../../domain/queue-file.ts'
import { read } from '../../../api/operations/queues.ts'
import { nameOf, repository } from '../../../domain/values/parsers.ts'
import { asFailure, usage } from '../../../errors.ts'
import type { Desk } from '../../../cli/context.ts'
import { exchange } from '../../../api/call.ts'
import { type Run, readRuns } from '../../../cli/invocation.ts'
import { encode } from '../../../output/json-text.ts'
import { type Json } from '../../../json.ts'
import { count, listed } from '../../../output/view.ts'
import { type CodeFile, laidOver, readFiles } from './read-files.ts'

/** The run that reads a queue. */
export type Reading = Run<typeof read.fields>

/** A queue that a file describes. */
export interface Item extends CodeFile {
  readonly run: Reading
}

/** What is between a file and its live queue. */
export interface Plan extends Item {
  /** Undefined where the branch has no queue. */
  readonly live: Live | undefined
  readonly digest: string
  readonly differences: readonly Difference[]
}

/** `main in github.com/acme/web`. */
export const placeName = ({ values: { repo, targetBranch } }: Reading): string =>
  `${targetBranch} in ${nameOf(repo)}`

/** The run for the queue that a file names; what it leaves open comes from the settings, and a flag must not contradict. */
export async function runFor({ path, code }: CodeFile, desk: Desk): Promise<Reading> {
  const given = new Map(desk.given)
  const lay = async (
    flag: string,
    value: string | undefined,
    typed: () => Promise<string>,
    plain: string,
  ) => {
    if (value === undefined) return
    if (given.has(flag) && (await typed()) !== plain)
      throw usage(
        `${flag} says ${given.get(flag)?.[0]}, and ${path} is of ${value}.`,
        'Leave one of them out.',
      )
    given.set(flag, [value])
  }
  const { repo, targetBranch } = code
  const plainRepo = repo === undefined ? '' : nameOf(repository(repo))
  await lay('--repo', repo, async () => nameOf(await desk.settings.need('repo')), plainRepo)
  await lay('--target-branch', targetBranch, () => desk.settings.need('targetBranch'), targetBranch ?? '')
  const [run] = await readRuns(read, { ...desk, given })
  if (run === undefined) throw usage('No queue was given.')
  return run
}

/** The queues that a path describes, each once. */
export async function readItems(path: string, withState: boolean, desk: Desk): Promise<readonly Item[]> {
  const items: Item[] = []
  const given = new Map(desk.given)
  given.delete('--set')
  for (const file of await readFiles(path, desk)) {
    const code = laidOver(file.code, desk.given, withState)
    const run = await runFor(file, { ...desk, given })
    const twin = items.find(item => placeName(item.run) === placeName(run))
    if (twin !== undefined)
      throw usage(`${twin.path} and ${file.path} are of the same queue: ${placeName(run)}.`)
    if (Object.hasOwn(file.code.settings, 'state') && !withState)
      await desk.voice.note(`${file.path}: state is left alone (--include-state makes it a part).`)
    items.push({ ...file, code, run })
  }
  return items
}

/** The live settings of a queue; undefined where the branch has none. */
export async function readLive(run: Reading, withState: boolean, desk: Desk): Promise<Live | undefined> {
  try {
    const { reply } = await exchange(read, run, desk)
    return settingsOf(reply.records[0] ?? {}, withState)
  } catch (error) {
    const { status, page } = asFailure(error).details
    if (status === 404 && page !== true) return undefined
    throw error
  }
}

/**
 * Reads every live queue, and says what differs. A setting that neither mergeq nor the live queue knows is a usage
 * failure, unless it is allowed: then it is warned of.
 */
export async function planAll(
  items: readonly Item[],
  withState: boolean,
  allowUnknown: boolean,
  desk: Desk,
): Promise<readonly Plan[]> {
  const plans: Plan[] = []
  for (const item of items) {
    const live = await readLive(item.run, withState, desk)
    const standing = live?.settings ?? {}
    const odd = strangers(item.code.settings, standing)
    const [first] = odd
    if (first !== undefined && !allowUnknown)
      throw (await import('./unknown-settings.ts')).unknownSetting(first, item.path, standing, desk.given)
    if (odd.length > 0)
      await desk.sayOnce(
        `${item.path}: neither mergeq nor the live queue knows ${listed(odd)}: sent as it is.`,
      )
    const digest = await digestOf(live === undefined ? null : live.settings)
    plans.push({ ...item, live, digest, differences: differences(standing, item.code.settings) })
  }
  return plans
}

/** The digest of all live queues: of one, its own. */
export const digestOfAll = async (plans: readonly Plan[]): Promise<string> => {
  const [first, ...rest] = plans.map(({ digest }) => digest)
  return first !== undefined && rest.length === 0 ? first : digestOf([first ?? null, ...rest])
}

/** Whether a queue is not as its file says. */
export const isDifferent = ({ live, differences }: Plan): boolean =>
  live === undefined || differences.length > 0

/** A value as it stands in a plan. */
export const shown = (value: Json | undefined): string =>
  typeof value === 'string' ? value : encode(value ?? null)

/** A plan as a person reads it: what is between the queue and its file, a line each. */
export function planLines({ run, live, differences: all }: Plan): readonly string[] {
  const name = placeName(run)
  const differ = `${count(all.length, 'setting')} ${all.length === 1 ? 'differs' : 'differ'}`
  return [
    live === undefined
      ? `The queue of ${name} is not there: it would be created.`
      : all.length === 0
        ? `The queue of ${name} is as its file says.`
        : `The queue of ${name}: ${differ}.`,
    ...all.map(({ setting, live: is, file }) =>
      live === undefined ? `- ${setting}: ${shown(file)}` : `- ${setting}: ${shown(is)} -> ${shown(file)}`,
    ),
  ]
}
