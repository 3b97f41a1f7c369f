import { type FaultySandbox, type Pull, pullKey, type Sending, type Version } from './faulty-sandbox.ts'
import { noon } from './harness.ts'
import { isQueued } from './operations.ts'

type Result = Readonly<Record<string, unknown>>

/** A reading that is behind shows what was so many milliseconds ago, at most: what was so for longer is known. */
const settled = 6_000

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000 }

interface Facts {
  readonly branch: string
  readonly end: number
  readonly skew: number
  readonly dated: boolean
}

/** The versions of a history between two moments, the one before included. */
const during = (history: readonly Version<Pull>[], from: number, to: number): readonly Version<Pull>[] =>
  history.filter(
    ({ at }, index) =>
      at <= to && (at >= from || (history[index + 1]?.at ?? Number.POSITIVE_INFINITY) > from),
  )

/** The value that all versions between two moments have; undefined if they differ, or if there are none. */
function constant<T>(versions: readonly Version<Pull>[], of: (pull: Pull | undefined) => T): T | undefined {
  const [first, ...others] = versions.map(({ value }) => of(value))
  return others.every(value => value === first) ? first : undefined
}

/**
 * Everything that a command line that waits does or says wrongly about its pull requests
 * (docs/reference/cli.md, "Waiting"), written without the code of the wait.
 */
export function waitContradictions(
  line: string,
  sandbox: FaultySandbox,
  results: readonly Result[],
  { branch, end, skew, dated }: Facts,
): readonly string[] {
  const found: string[] = []
  const [, count, unit = ''] = / --timeout (\d+)([sm])/.exec(line) ?? []
  const limit = Number(count) * (units[unit] ?? 0)
  // The whole command ends with it.
  if (count !== undefined && end - noon > limit + 2_000) found.push(`it took ${end - noon} of ${limit} ms`)
  for (const result of results) {
    const key = pullKey('github.com/acme/web', branch, result.pr)
    const history = sandbox.pulls.get(key) ?? []
    const sent = sandbox.sendings.filter(one => one.key === key && one.operation === 'submitPullRequest')
    const wrongs = [
      ...whatIsSubmitted(result, sent, history, end),
      ...whichEnd(result, sent, history, end, skew),
      ...(line.startsWith('pr land')
        ? whatIsSubmittedAgain(result, sent, history, shownTo(sandbox, key, skew), dated)
        : []),
    ]
    found.push(...wrongs.map(text => `#${result.pr} ${result.outcome} (${result.exit}): ${text}`))
  }
  return found
}

function whatIsSubmitted(
  { submitted, exit, attempts }: Result,
  sent: readonly Sending[],
  history: readonly Version<Pull>[],
  end: number,
): readonly string[] {
  const [first] = sent
  const isApplied = sent.some(({ appliedAt = Number.POSITIVE_INFINITY }) => appliedAt <= end)
  const wasQueued = first !== undefined && during(history, first.at, end).some(({ value }) => isQueued(value))
  return [
    ...(submitted === true && !isApplied && !wasQueued ? ['said to be submitted, and it was not'] : []),
    ...(submitted === false && isApplied ? ['said not to be submitted, and it was'] : []),
    ...(exit === 7 && (isApplied || Number(attempts ?? 1) > 1) ? ['7, and it was submitted'] : []),
    ...(exit === 11 && sent.length === 0 ? ['11, and nothing was sent'] : []),
  ]
}

/** An end must be so since the second in which the sending began; a merge counts whenever it was. */
function whichEnd(
  { outcome, submitted, attempts }: Result,
  [firstSent]: readonly Sending[],
  history: readonly Version<Pull>[],
  end: number,
  skew: number,
): readonly string[] {
  const state = { merged: 'MERGED', failed: 'FAILED', cancelled: 'CANCELLED' }[String(outcome)]
  if (state === undefined) return []
  // The first attempt may have been in the queue already.
  const first = Number(attempts ?? 1) > 1 ? { at: noon } : firstSent
  const secondOf = (time: number) => Math.floor((time + skew) / 1_000)
  const isEnd = ({ value }: Version<Pull>) =>
    value?.state === state &&
    (state === 'MERGED' || first === undefined || secondOf(value.changedAt) >= secondOf(first.at))
  // What was queued already need not be sent.
  const from = first === undefined || state === 'MERGED' ? Number.NEGATIVE_INFINITY : first.at
  if (first === undefined && submitted !== false) return ['never submitted']
  return during(history, from, end).some(isEnd) ? [] : ['it was not, since it was submitted']
}

interface Shown {
  readonly at: number
  readonly state: string
  readonly changedAt: number
}

/** What the readings of a pull request showed; times are by the program's clock. */
const shownTo = (sandbox: FaultySandbox, key: string, skew: number): readonly Shown[] =>
  sandbox.readings.flatMap(({ key: read, at, body }) => {
    const [, state] = /"state":"(\w+)"/.exec(body) ?? []
    const [, changedAt = ''] = /"stateChangedAt":"([^"]+)"/.exec(body) ?? []
    return read === key && state !== undefined
      ? [{ at, state: state.toUpperCase(), changedAt: Date.parse(changedAt) - skew }]
      : []
  })

/** Never another head, never what a person cancelled, and a merge of another head is no success. */
function whatIsSubmittedAgain(
  { outcome }: Result,
  [first, ...later]: readonly Sending[],
  history: readonly Version<Pull>[],
  shown: readonly Shown[],
  dated: boolean,
): readonly string[] {
  const heads = new Set(history.flatMap(({ value }) => value?.head ?? []))
  const wrongs = outcome === 'stale' && heads.size < 2 ? ['the head never moved'] : []
  if (first === undefined) return wrongs
  const headOf = (pull: Pull | undefined) => pull?.head
  const head = constant(during(history, first.at - settled, first.at + settled), headOf)
  const merged = history.findLast(({ value }) => value?.state === 'MERGED')
  const isOther = (other: string | undefined) => head !== undefined && other !== undefined && other !== head
  // Without the clock of the service no record is known to be of the submission.
  if (outcome === 'merged' && dated && isOther(merged?.value?.head)) wrongs.push('it merged at another head')
  for (const { at } of later) {
    const before = during(history, at - settled, at)
    if (isOther(constant(before, headOf))) wrongs.push('another head was submitted')
    // Every cancellation of a history is by a person, and the newest record that the command has seen counts.
    const seen = shown.filter(one => one.at <= at).toSorted((one, other) => other.changedAt - one.changedAt)
    if (seen[0]?.state === 'CANCELLED' && seen[0].changedAt > first.at + 1_000)
      wrongs.push('what a person cancelled was submitted again')
  }
  return wrongs
}
