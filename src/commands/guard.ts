import { type Field, on } from '../cli/inputs.ts'
import {
  guarded,
  isQueued,
  isTested,
  lossText,
  nameOfRecord,
  type Push,
  pushesIn,
} from '../domain/git-push.ts'
import { read } from '../api/operations/queues.ts'
import { nameOf, type Repository } from '../domain/values/parsers.ts'
import { asFailure, Failure, usage } from '../errors.ts'
import type { Desk } from '../cli/context.ts'
import { exchange } from '../api/call.ts'
import { readRuns } from '../cli/invocation.ts'
import { rehearse } from '../cli/run-operation.ts'
import { contextOf } from '../config/config.ts'
import type { JsonObject } from '../json.ts'
import { command } from '../cli/command.ts'

/** What git gives its hook: the name of the remote, and its address. */
const remote: Field<string | undefined> = {
  words: [
    { spell: '[remote...]', summary: 'What git gives its hook: a remote and its address', repeats: true },
  ],
  read: given => given.get('remote')?.[1],
}

/** The longest that a push waits for an answer, in milliseconds; --timeout makes it less. */
const patience = 3_000

/** What git has written for its hook. */
async function readPushes(desk: Desk): Promise<readonly Push[]> {
  if (desk.world.input.terminal)
    throw usage(
      '`mergeq guard` is run by git, which tells it what is pushed.',
      'Install it with `mergeq guard --install`.',
    )
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of contextOf(desk.settings, desk).open('-'))
    text += decoder.decode(piece, { stream: true })
  return pushesIn(text + decoder.decode())
}

/** Whether a push to this address leaves the branches of the repository itself alone: it goes to a fork. */
async function isElsewhere(address: string | undefined, repo: Repository): Promise<boolean> {
  const { readRemote } = await import('../config/git-remote.ts')
  const there = address === undefined ? undefined : readRemote(address)
  return there !== undefined && nameOf(there).toLowerCase() !== nameOf(repo).toLowerCase()
}

/** The record of a pull request that a push would take out of the queue; undefined where there is none. */
async function endangered(
  { branch, from }: Push,
  address: string | undefined,
  desk: Desk,
): Promise<JsonObject | undefined> {
  const [run] = await readRuns(guarded, desk)
  if (run === undefined) return undefined
  const one = { ...run, values: { ...run.values, head: branch } }
  const record = await exchange(guarded, one, desk)
    .then(({ reply }) => reply.records[0])
    .catch(error => {
      const failure = asFailure(error)
      // A branch of which the service knows nothing is in no queue; a web page says nothing of that.
      if (failure.kind === 'not-found' && failure.details.page !== true) return undefined
      throw failure
    })
  if (record === undefined || !isQueued(record)) return undefined
  // Branches of two forks may have the same name: the head tells whose pull request it is.
  const { prSha } = record
  const isAnother = typeof prSha === 'string' && prSha !== '' && !from.startsWith(prSha)
  return isAnother && (await isElsewhere(address, run.values.repo)) ? undefined : record
}

/** Stops a push: what would be lost, and the two ways on. */
async function stop(record: JsonObject, { branch, isDeletion }: Push, desk: Desk): Promise<Failure> {
  const [run] = await readRuns(read, desk)
  const queue =
    run === undefined
      ? undefined
      : await exchange(read, run, desk).then(
          ({ reply }) => reply.records[0],
          () => undefined,
        )
  const { targetBranch = '' } = run?.values ?? {}
  const name = nameOfRecord(record)
  const loss = isTested(record) ? 'its place and its test run would be lost' : 'its place would be lost'
  const cancel = typeof record.prNumber === 'number' ? ` ${record.prNumber}` : ''
  return new Failure(
    'check-failed',
    `the ${isDeletion ? 'deletion' : 'push'} of ${branch} was stopped: ${lossText(record, queue, { targetBranch, now: desk.world.clock.now() })}, and ${isDeletion ? 'deleting its head branch' : 'a push'} takes it out: ${loss}.`,
    {
      hint: [
        `Wait for it: mergeq pr wait${cancel}`,
        `Cancel ${name} first, then push: mergeq pr cancel${cancel}`,
        'Push all the same: MERGEQ_GUARD=off git push (or git push --no-verify)',
      ].join('\n'),
    },
  )
}

/** The same desk for questions that must be answered soon: nothing is repeated, and each has what time is left. */
function inHaste(desk: Desk, until: number): Desk {
  const { clock } = desk.world
  return {
    ...desk,
    during: (_, work) => work(),
    options: { ...desk.options, retries: 0 },
    limits: { timeout: () => Math.max(1, until - clock.now()) },
  }
}

async function guardPush(address: string | undefined, desk: Desk): Promise<number> {
  const pushes = await readPushes(desk)
  const { world, options } = desk
  const hasty = inHaste(desk, world.clock.now() + Math.min(patience, options.timeout ?? patience))
  for (const push of pushes) {
    if (options.dryRun) {
      const runs = await readRuns(guarded, desk)
      return rehearse(
        guarded,
        runs.map(run => ({ ...run, values: { ...run.values, head: push.branch } })),
        desk,
      )
    }
    const record = await endangered(push, address, hasty)
    if (record !== undefined) throw await stop(record, push, hasty)
  }
  return 0
}

/** `mergeq guard`: a pre-push hook of git that will not let a push take a pull request out of the queue. */
export const guard = command({
  command: 'guard',
  summary: 'Keep a push from taking a pull request out of the queue: a git pre-push hook',
  asks: [guarded, read],
  ends: ['check-failed'],
  prints: 'nothing; what it says stands on standard error',
  fields: {
    remote,
    install: on('--install', 'Install it as the pre-push hook of this checkout'),
    uninstall: on('--uninstall', 'Remove it again'),
    isStrict: on('--fail-closed', 'Stop the push, too, when the queue cannot be asked'),
  },
  examples: [
    'mergeq guard --install',
    'MERGEQ_GUARD=off git push',
    'mergeq guard --install --fail-closed',
    'mergeq guard --uninstall',
  ],
  async run(values, desk) {
    if (values.install && values.uninstall)
      throw usage('--install and --uninstall contradict each other.', 'Leave one of them out.')
    if (values.install || values.uninstall) {
      const hooks = await import('./guard/hook.ts')
      return values.install ? hooks.install(values.isStrict, desk) : hooks.uninstall(desk)
    }
    if (desk.world.env.MERGEQ_GUARD === 'off') return 0
    try {
      return await guardPush(values.remote, desk)
    } catch (error) {
      const { kind, message, exit, details } = asFailure(error)
      const isTyped = kind === 'usage' && desk.world.input.terminal
      if (isTyped || kind === 'check-failed' || kind === 'interrupted') throw error
      if (values.isStrict)
        throw new Failure(kind, `the push was stopped, because the queue could not be asked: ${message}`, {
          ...details,
          exit,
          hint: `${details.hint ?? ''}\nPush all the same: MERGEQ_GUARD=off git push (or git push --no-verify)`.trim(),
        })
      await desk.voice.warn(`guard: the queue could not be asked, and the push goes on: ${message}`)
      return 0
    }
  },
})
