import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { creationContradictions, stepOf } from '../support/creation-oracle.ts'
import {
  type Act,
  actNames,
  type ChangeFault,
  type FaultySandbox,
  type Loss,
  type Pull,
  pullKey,
  queueKey,
  type ReadFault,
  runAgainstFaults,
  runAtTwoServices,
  type Said,
  type Scenario,
  type Sending,
  type Settings,
  type Version,
  type WaitCall,
} from '../support/faulty-sandbox.ts'
import { noon, type Outcome } from '../support/harness.ts'
import { type Command, commands, files } from '../support/history-commands.ts'
import { changeExamples, type Moment } from '../support/operations.ts'
import { replaceTransport } from '../support/replaced-transport.ts'
import { sampleRuns } from '../support/sample.ts'
import { hasOtherHead, type Shown, shownTo, waitContradictions } from '../support/wait-oracle.ts'

replaceTransport()

const repository = 'github.com/acme/web'
const queueStates = ['RUNNING', 'PAUSED', 'DRAINING']
const pullStates = 'NOT_READY PENDING TESTING TESTS_PASSED PENDING_FAILURE MERGED FAILED CANCELLED'.split(' ')
const losses: readonly Loss[] = ['reset', 'time-out', 307, 408, 503, 'cut', 'page']
const nonsense = ['{}', '{"message":"busy"}', '12345678901234567890', 'null', '[]', '"OK"']

/**
 * The limits of docs/lost-responses.md, in milliseconds: applied late, and shown late, together less than the last
 * reading comes after the failure.
 */
const [latest, latestShown] = [4_000, 5_500]

const loss = fc.constantFrom(...losses)
/** Nobody answers: it may have been applied or not, or will be. */
const ambiguous: fc.Arbitrary<ChangeFault> = fc.oneof(
  fc.record({ kind: fc.constantFrom('lost', 'applied, lost'), loss }),
  fc.record({ kind: fc.constant('applied late, lost'), loss, delay: fc.nat(latest) }),
)
const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const refusedWith = (...statuses: readonly number[]) =>
  fc.record({ kind: fc.constant('refused'), status: fc.constantFrom(...statuses) })
const changeFault: fc.Arbitrary<ChangeFault> = fc.oneof(
  weighted(3, fc.constant({ kind: 'works' })),
  weighted(1, fc.constantFrom({ kind: 'no connection' }, { kind: '429' })),
  weighted(8, ambiguous),
  weighted(4, refusedWith(401, 403, 404, 409)),
)
const faults = fc.array(changeFault, { maxLength: 4 })

const readFault: fc.Arbitrary<ReadFault> = fc.oneof(
  weighted(4, fc.constant({ kind: 'works' })),
  weighted(5, fc.record({ kind: fc.constant('stale'), lag: fc.nat(latest) })),
  weighted(1, fc.record({ kind: fc.constant('lost'), loss })),
  weighted(1, fc.record({ kind: fc.constant('other body'), body: fc.constantFrom(...nonsense) })),
  weighted(2, fc.constantFrom({ kind: 'attempt before' }, { kind: 'brief 404' }, { kind: 'no words' })),
  weighted(1, refusedWith(401, 403)),
)

const act: fc.Arbitrary<Act> = fc.record({
  at: fc.oneof(
    weighted(3, fc.integer({ min: -6_000, max: 12_000 })),
    weighted(1, fc.integer({ min: -600_000, max: 120_000 })),
  ),
  what: fc.constantFrom(...actNames),
  pr: fc.constantFrom(7, 7, 7, 8, 9),
  branch: fc.constantFrom('main', 'main', 'main', 'prod'),
})

const settings: fc.Arbitrary<Settings> = fc.record({
  state: fc.constantFrom(...queueStates),
  mode: fc.constantFrom('single', 'parallel'),
  concurrency: fc.constantFrom(1, 3, 5, 7),
  batch: fc.boolean(),
})

const pull = fc.option(fc.constantFrom(...pullStates, 'FAILED', 'CANCELLED'), { nil: undefined, freq: 3 })

/** A change that is applied late is shown less late. */
function withinLimits<S extends Pick<Scenario, 'changes' | 'readings'>>(one: S): S {
  const delay = Math.max(
    0,
    ...one.changes.map(fault => (fault.kind === 'applied late, lost' ? fault.delay : 0)),
  )
  const readings = one.readings.map(fault =>
    fault.kind === 'stale' ? { ...fault, lag: Math.min(fault.lag, latestShown - delay) } : fault,
  )
  return { ...one, readings }
}

const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    skew: fc.oneof(fc.constant(0), fc.integer({ min: -3_600_000, max: 3_600_000 })),
    latency: fc.constantFrom(0, 20, 20, 300, 1_500),
    changes: fc
      .tuple(fc.oneof(weighted(1, changeFault), weighted(4, ambiguous)), faults)
      .map(([first, others]) => [first, ...others]),
    readings: fc
      .tuple(
        fc.oneof(weighted(3, readFault), weighted(1, fc.constant<ReadFault>({ kind: 'brief 404' }))),
        fc.array(readFault, { maxLength: 10 }),
      )
      .map(([first, others]) => [first, ...others]),
    acts: fc.array(act, { maxLength: 6 }),
    queues: fc.oneof(
      weighted(4, fc.record({ main: settings, prod: settings })),
      weighted(1, fc.record({ main: settings })),
      weighted(1, fc.record({ prod: settings })),
    ),
    pulls: fc.record({ 'main#7': pull, 'prod#7': pull, 'main#8': pull, 'main#9': pull }),
    refusesQueued: fc.boolean(),
    deletesNothing: fc.boolean(),
    dated: fc.integer({ min: 0, max: 9 }).map(number => number > 0),
    checkout: fc.boolean(),
  })
  .map(withinLimits)

const examples = new Map<string, (typeof changeExamples)[number]>(
  changeExamples.map(example => [example.name, example]),
)

/** What a command said of one thing that it did. */
interface Claim {
  readonly operation: string | undefined
  readonly key: string | undefined
  readonly delivery: string | undefined
  readonly exit: number
}

const fullKey = (short: string): string => {
  const [branch = '', pr] = short.split('#')
  return pr === undefined ? queueKey(repository, branch) : pullKey(repository, branch, pr)
}

/** The moments at which a history took a value between two moments, the one before included. */
const during = <T>(history: readonly Version<T>[] = [], from: number, to: number): readonly Version<T>[] => {
  const first = history.findLastIndex(({ at }) => at <= from)
  const within = history.filter(({ at }, index) => index >= first && at <= to)
  return first < 0 ? [{ at: from, value: undefined, shown: '', by: undefined }, ...within] : within
}

/** Whether what a change is for was so at a moment from its first sending to the end. */
function wasSo(sandbox: FaultySandbox, { operation, key, body, at }: Sending, end: number): boolean {
  const { change, operation: { params = {} } = {} } = examples.get(operation) ?? {}
  // Settings have no date: a reading that is behind may show what another client changed right before
  // (docs/lost-responses.md).
  const from = change?.isUndated === true ? at - latestShown : at
  const moments: readonly Pick<Moment, 'pull' | 'queue'>[] =
    'pr' in params
      ? during(sandbox.pulls.get(key), from, end).map(({ value }) => ({ pull: value }))
      : during(sandbox.queues.get(key), from, end).map(({ value }) => ({ queue: value }))
  return moments.some(moment => change?.isSo?.({ ...moment, body, at }) === true)
}

/**
 * Whether another client undid what was applied without leaving a trace: settings of a queue and the priority
 * of a queued pull request have none, so no reading can show that they were ours for a while.
 */
function wasUndone(sandbox: FaultySandbox, { number, key }: Sending): boolean {
  const versions: readonly Version<unknown>[] = sandbox.queues.get(key) ?? sandbox.pulls.get(key) ?? []
  const ours = versions.findIndex(({ by }) => by === number)
  const dateOf = (value: unknown) => Object(value).changedAt
  // A queue that is deleted takes the records of its pull requests with it.
  if (ours >= 0 && versions.slice(ours + 1).some(({ value }) => value === undefined)) return true
  return (
    ours >= 0 &&
    versions.slice(ours).some(({ value }) => !isDeepStrictEqual(value, versions[ours]?.value)) &&
    dateOf(versions[ours - 1]?.value) === dateOf(versions[ours]?.value)
  )
}

/** Everything that the program says wrongly about a history: nothing, if all is well. */
function contradictions(
  command: Command,
  sandbox: FaultySandbox,
  outcome: Outcome,
  {
    end,
    skew,
    dated,
    said,
  }: { readonly end: number; readonly said: readonly Said[] } & Pick<Scenario, 'skew' | 'dated'>,
): readonly string[] {
  const { code, out, err } = outcome
  const { sendings } = sandbox
  const found: string[] = []
  const wrong = (text: string) => {
    found.push(text)
  }
  const isApply = command.line.startsWith('queue apply')
  const allowed = command.keys.map(fullKey)
  for (const { operation, key } of sendings)
    if (command.keys.length > 0 && !allowed.includes(key)) wrong(`sent ${operation} for ${key}`)
  if (command.line.startsWith('pr wait') && sendings.length > 0) wrong('a wait sent a change')
  const groups = new Map<string, Sending[]>()
  for (const sending of sendings) {
    // An apply to a new queue has two updates: each is replayed by itself.
    const what = isApply ? stepOf(sending) : sending.operation
    const name = `${what} ${sending.key}`
    groups.set(name, [...(groups.get(name) ?? []), sending])
  }
  for (const [name, group] of groups) {
    const { replay = 'never' } = examples.get(group[0]?.operation ?? '')?.operation.change?.recovery ?? {}
    const counted = group.filter(({ fault }) => fault.kind !== '429')
    const isReplayed = replay !== 'never' && !command.line.includes('--retries 0')
    const most = (command.line.startsWith('pr land') ? 3 : 1) * (isReplayed ? 2 : 1)
    if (counted.length > most) wrong(`${name} was sent ${counted.length} times`)
    if (new Set(group.map(({ text }) => text)).size > 1) wrong(`${name} was sent with other bytes`)
    const [first, second] = counted
    const isReplay = most === 2 && first !== undefined && second !== undefined
    if (isReplay && second.at - first.endedAt > 60_000)
      wrong(`${name} was replayed after ${second.at - first.endedAt} ms`)
    // A later change than the sending leaves the outcome open.
    const isLater = ({ at, changedAt }: Shown) =>
      at < (second?.at ?? 0) && changedAt > (first?.at ?? 0) + 4_000
    if (isReplay && shownTo(sandbox, first.key, skew).some(isLater))
      wrong(`${name} was replayed after a reading that showed a later change`)
  }
  const claims = claimsOf(command, out, err, code)
  for (const { operation, key, delivery, exit } of claims) {
    const matching = sendings.filter(
      sending =>
        (operation === undefined || sending.operation === operation) &&
        (key === undefined || sending.key === key),
    )
    // The receipt of an apply is about its last step.
    const all = isApply ? matching.filter(({ text }) => text === matching.at(-1)?.text) : matching
    const about = `${operation} ${key} ${delivery} ${exit}`
    const [first] = all
    if (first === undefined) {
      if (delivery !== undefined) wrong(`${about}: nothing of that was sent`)
      continue
    }
    const isApplied = all.some(({ appliedAt = Number.POSITIVE_INFINITY }) => appliedAt <= end)
    if (delivery === 'unknown' && exit !== 11 && exit !== 15) wrong(`${about}: unknown is exit 11`)
    if (exit === 11 && delivery !== 'unknown') wrong(`${about}: exit 11 is unknown`)
    if (exit === 0) {
      const holds = delivery === 'confirmed-by-read' ? isApplied : isAcceptedIn(all)
      if (!holds && !wasSo(sandbox, first, end)) wrong(`${about}: neither was it applied, nor was it so`)
      if (delivery === 'confirmed' && !isAcceptedIn(all)) wrong(`${about}: no answer confirmed it`)
    }
    const saysNot = delivery === 'not-applied' || (delivery === undefined && [2, 4, 5, 6, 7].includes(exit))
    const applied = all.filter(({ appliedAt }) => appliedAt !== undefined)
    if (saysNot && applied.length > 0 && !applied.some(one => wasUndone(sandbox, one)))
      wrong(`${about}: it was applied`)
  }
  for (const { text, sent } of said) {
    const [, operation] = /(\w+): The change was not applied\. Retrying once\./.exec(text) ?? []
    if (operation === undefined) continue
    const isOfIt = (one: Sending) => one.operation === operation
    // Of several at a time, any that is sent once more may be meant.
    const firsts = sendings
      .slice(sent)
      .flatMap(
        replay => sendings.slice(0, sent).findLast(one => isOfIt(one) && one.text === replay.text) ?? [],
      )
    const isWrong = (one: Sending) => one.appliedAt !== undefined && !wasUndone(sandbox, one)
    if (firsts.length > 0 && firsts.every(isWrong))
      wrong(`${operation}: said not to be applied before its replay, and it was`)
  }
  for (const [name, group] of groups)
    if (/^renumber/.test(name) && /Retrying once\./.test(err) && group.length < 2)
      wrong(`${name}: said to be sent once more, and it was not`)
  for (const [, numbers = ''] of err.matchAll(/^Cancelled (#\d.*)\.$/gm))
    for (const [, pr] of numbers.matchAll(/#(\d+)/g)) {
      const sending = sendings.find(one => one.key === pullKey(repository, 'main', pr))
      if (sending === undefined || !wasSo(sandbox, sending, end)) wrong(`#${pr}: said to be cancelled`)
    }
  const exits = resultsIn(out).map(({ exit }) => exit)
  if (exits.length > 0 && !exits.includes(code)) wrong(`exit ${code}, and no result has it`)
  for (const result of resultsIn(out)) {
    const branch = command.keys[0]?.split('#')[0] ?? ''
    const key = pullKey(repository, branch, result.pr)
    // What `pr land` finds in the queue is not sent: then a reading that is behind may show what was so before the wait.
    const sent = sendings.find(one => one.key === key && one.operation === 'submitPullRequest')
    const at = sent?.at ?? noon - latestShown
    if (result.outcome === 'reached' && !wasUnderTest(sandbox, { key, at }, end))
      wrong(`#${result.pr} reached: it was not under test`)
  }
  for (const key of isApply ? allowed : []) {
    const isDone = (sending: Sending, until: number) =>
      sendings.some(
        ({ text, appliedAt = Number.POSITIVE_INFINITY }) => text === sending.text && appliedAt <= until,
      ) || wasSo(sandbox, sending, until)
    const own = sendings.filter(sending => sending.key === key)
    const exit = allowed.length === 1 ? code : claims.find(claim => claim.key === key)?.exit
    found.push(...creationContradictions(own, { code: exit, err }, end, isDone))
  }
  const isMoved = (key: string) => {
    const sent = sendings.filter(sending => sending.key === key)
    return hasOtherHead(command.line, sandbox.heads.get(key) ?? [], sent, { end, dated })
  }
  if (code === 14 && command.line.startsWith('pr ') && !allowed.some(isMoved))
    wrong('14, and the head never moved')
  const branch = command.keys[0]?.split('#')[0] ?? ''
  return [
    ...found,
    ...waitContradictions(command.line, sandbox, resultsIn(out), { branch, end, skew, dated }),
  ]
}

const isAcceptedIn = (all: readonly Sending[]): boolean => all.some(({ isAccepted }) => isAccepted)

/**
 * A state that began within a second of the submission cannot be distinguished from one of the previous
 * attempt by its date.
 */
const wasUnderTest = (
  sandbox: FaultySandbox,
  { key, at }: Pick<Sending, 'key' | 'at'>,
  end: number,
): boolean => {
  const isSo = ({ value }: Version<Pull>) =>
    value !== undefined &&
    (/^(TESTING|TESTS_PASSED|PENDING_FAILURE)$/.test(value.state) ||
      // A merge counts whenever it was.
      value.state === 'MERGED')
  const history = sandbox.pulls.get(key)
  return (
    during(history, at, end).some(isSo) ||
    during(history, at - 2_000, at).some(one => isSo(one) && one.at >= at - 2_000)
  )
}

type Receipt = Readonly<Record<string, unknown>>

const documentsIn = (text: string): readonly Receipt[] =>
  text
    .split('\n')
    .filter(line => line.startsWith('{'))
    .flatMap(line => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })

const resultsIn = (out: string) => documentsIn(out).filter(({ type }) => type === 'result')

/** What a command claims: each receipt; without one, what its exit code says of the one thing that it did. */
function claimsOf({ keys, line }: Command, out: string, err: string, code: number): readonly Claim[] {
  const receipts = documentsIn(out).filter(({ delivery }) => delivery !== undefined)
  // `queue pause` and the like of several queues print one list.
  const [states] = /^\[.*\]$/m.exec(out) ?? []
  if (states !== undefined)
    return JSON.parse(states).map(({ repo, targetBranch, exit }: Receipt) => ({
      operation: 'updateQueue',
      key: `${repo} ${targetBranch}`,
      delivery: exit === 11 ? 'unknown' : undefined,
      exit: Number(exit),
    }))
  const claims = receipts.map(({ operation, repo, targetBranch, pr, delivery, exit = 0 }) => ({
    operation: String(operation),
    // What an unknown operation is about, nothing tells.
    key: /^renumber/.test(String(operation))
      ? undefined
      : pr === undefined
        ? `${repo} ${targetBranch}`
        : pullKey(String(repo), String(targetBranch), Number(pr)),
    delivery: String(delivery),
    exit: Number(exit),
  }))
  if (claims.length > 0 || resultsIn(out).length > 0 || code >= 124) return claims
  const { error } = documentsIn(err).findLast(one => one.error !== undefined) ?? {}
  const operation = Object(error).operation
  const isSingle = keys.length < 2
  if (!isSingle && code !== 0) return []
  return [
    {
      operation: code === 0 || operation === undefined ? undefined : String(operation),
      key: isSingle && keys[0] !== undefined ? fullKey(keys[0]) : undefined,
      delivery: code === 11 ? 'unknown' : undefined,
      exit: code,
    },
  ].filter(() => !line.startsWith('queue apply'))
}

const waits = commands.filter(({ line }) => /^pr (land|wait)|--wait/.test(line))

/** What happens to the pull request that is waited for: it moves on, ends, gets another head, or somebody acts on it. */
const actOnWait: fc.Arbitrary<Act> = fc.record({
  at: fc.oneof(
    weighted(5, fc.integer({ min: 1_000, max: 60_000 })),
    // After the first pause before another attempt.
    weighted(1, fc.integer({ min: 295_000, max: 420_000 })),
  ),
  what: fc.constantFrom<Act['what']>(
    ...(['advance', 'advance', 'advance', 'advance', 'stall', 'stall', 'fail', 'push'] as const),
    ...(['doubt', 'pause'] as const),
    ...(['submitPullRequest', 'cancelPullRequest'] as const),
  ),
  pr: fc.constant(7),
  branch: fc.constant('main'),
})
/** Some readings, and then some that fail: a wait gives up. */
const outage = fc
  .record({ before: fc.array(readFault, { maxLength: 4 }), loss, failures: fc.integer({ min: 2, max: 6 }) })
  .map(({ before, loss, failures }): readonly ReadFault[] => [
    ...before,
    ...Array.from({ length: failures }, () => ({ kind: 'lost', loss }) as const),
  ])
/** The words of an end cannot be read, a few times or always. */
const wordless = fc
  .record({ before: fc.array(readFault, { maxLength: 3 }), readings: fc.constantFrom(3, 6, 60) })
  .map(({ before, readings }): readonly ReadFault[] => [
    ...before,
    ...Array.from({ length: readings }, () => ({ kind: 'no words' }) as const),
  ])
/** The first attempt is accepted, and a later one is lost. */
const laterLost = fc
  .array(ambiguous, { minLength: 1, maxLength: 3 })
  .map((lost): readonly ChangeFault[] => [{ kind: 'works' }, ...lost])
const waitScenario = fc
  .record({
    scenario,
    acts: fc.array(actOnWait, { minLength: 3, maxLength: 14 }),
    changes: fc.oneof(
      fc.constant<readonly ChangeFault[]>([]),
      fc.array(changeFault, { maxLength: 4 }),
      laterLost,
    ),
    readings: fc.oneof(
      fc.constant<readonly ReadFault[]>([]),
      fc.array(readFault, { maxLength: 20 }),
      fc.array(outage, { maxLength: 4 }).map(outages => outages.flat()),
      wordless,
    ),
  })
  .map(({ scenario: { queues, ...one }, ...more }) =>
    withinLimits({
      ...one,
      ...more,
      queues: { ...queues, main: { state: 'RUNNING', mode: 'single', concurrency: 5, batch: false } },
    }),
  )

/** What one pull request is asked for, and the queue: a signal may come at any moment. */
const single = commands.filter(({ keys, line }) => keys.length === 1 && !line.startsWith('api'))
const interruptedAt = fc.oneof(fc.nat(3_000), fc.nat(60_000))

const applies = commands.filter(({ line }) => line.startsWith('queue apply'))
/** The queue is missing. */
const creationScenario = scenario.map(one => ({ ...one, queues: {} }))

const sequence = fc.oneof(
  weighted(15, fc.record({ command: fc.constantFrom(...commands), scenario })),
  weighted(5, fc.record({ command: fc.constantFrom(...waits), scenario: waitScenario })),
  weighted(1, fc.record({ command: fc.constantFrom(...applies), scenario: creationScenario })),
  weighted(3, fc.record({ command: fc.constantFrom(...single), scenario: waitScenario, interruptedAt })),
)

/** After a signal nothing is sent, and what was in progress is named. */
function afterSignal(
  { keys }: Command,
  { sendings }: FaultySandbox,
  { code, err }: Outcome,
  { at, end }: { readonly at: number; readonly end: number },
): readonly string[] {
  const names = keys.map(key => (key.includes('#') ? `#${key.split('#')[1]}` : key))
  const open = sendings.filter(one => one.at <= at && one.endedAt > at)
  return [
    ...(code === 130 ? [] : [`exit ${code} after a signal`]),
    ...(end > at + 1_000 ? [`it went on for ${end - at} ms`] : []),
    ...sendings.filter(one => one.at > at).map(({ operation }) => `${operation} was sent after the signal`),
    ...(open.length > 0 && !names.some(name => err.includes(name))
      ? ['what was in progress is not named']
      : []),
  ]
}

const sequences = Number(process.env.MERGEQ_RANDOM_WRITES ?? sampleRuns(1_500))

test('no result of a change contradicts its history', async () => {
  await fc.assert(
    fc.asyncProperty(sequence, async ({ command, scenario, ...more }) => {
      const interruptedAt = 'interruptedAt' in more ? more.interruptedAt : undefined
      const line = `${command.line} --json --verbose`
      const setting = / - /.test(command.line) ? { inputStaysOpen: true } : {}
      const moment = { ...scenario, interruptedAt }
      const { sandbox, end, said, ...outcome } = await runAgainstFaults(line, moment, { files, ...setting })
      const at = noon + (interruptedAt ?? Number.POSITIVE_INFINITY)
      const facts = { end, said, skew: scenario.skew, dated: scenario.dated }
      const wrong = [
        ...(end >= at
          ? afterSignal(command, sandbox, outcome, { at, end })
          : contradictions(command, sandbox, outcome, facts)),
      ]
      // Its time is over, wherever standard input hangs.
      if ('inputStaysOpen' in setting && end < at)
        wrong.push(...(outcome.code === 124 ? [] : [`exit ${outcome.code}`]))
      if (wrong.length === 0) return
      const story = [command.line, ...sandbox.log, outcome.err, outcome.out, `exit ${outcome.code}`]
      expect(wrong, story.join('\n')).toEqual([])
    }),
    { numRuns: sequences },
  )
}, 1_000_000)

const waitCalls: readonly WaitCall[] = [
  { line: 'pr wait 7 --timeout 60s', isLanding: false, options: { timeout: '60s', interval: '2s' } },
  {
    line: 'pr wait 7 --timeout 40s',
    isLanding: false,
    options: { timeout: '40s', interval: '2s', until: 'testing' },
  },
  {
    line: 'pr land 7 --timeout 60s',
    isLanding: true,
    options: { timeout: '60s', interval: '2s', resubmit: 'any' },
  },
]
const atService = fc.record({ call: fc.constantFrom(...waitCalls), scenario: waitScenario })

test('no call of a client says of a service what another one said', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(atService, atService), async calls => {
      for (const { call, scenario, sandbox, results, end } of await runAtTwoServices(calls)) {
        const { skew, dated } = scenario
        const facts = { branch: 'main', end, skew, dated }
        const said = results.map(result => ({ ...result }))
        // The clock that two calls share may pass while one of them loads a module: how long it took is not judged.
        const wrong = [...waitContradictions(call.line, sandbox, said, facts)].filter(
          text => !text.startsWith('it took '),
        )
        const isReached = said.every(({ outcome }) => outcome === 'reached')
        const key = pullKey(repository, 'main', 7)
        if (isReached && !call.isLanding && !wasUnderTest(sandbox, { key, at: noon - latestShown }, end))
          wrong.push('reached: it was not under test')
        expect(wrong, [call.line, ...sandbox.log, JSON.stringify(said)].join('\n')).toEqual([])
      }
    }),
    { numRuns: Math.ceil(sequences / 10) },
  )
}, 1_000_000)
