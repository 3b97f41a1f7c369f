import { automaticDelay } from '../../src/wait/poll.ts'
import { type Answer, mergeq, noon, type Seen, type Setting } from './harness.ts'

export type Json = Readonly<Record<string, unknown>>
export const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }

/** From a second on, a pull request stands so; `undefined` is not there. */
export type Course = readonly (readonly [second: number, state: string | undefined, more?: Json])[]

/** Reads `TESTING, 6 MERGED`: from the start TESTING, from the second 6 on MERGED. */
const parseCourse = (text: string): Course =>
  text.split(', ').map(part => {
    const [state, second = '0'] = part.split(' ').reverse()
    return [Number(second), state]
  })

/** Returns the seconds at which a wait polls with the interval `auto`, if it reads these states one after the other. */
export function pollSeconds(
  ...states: readonly (readonly [state: string, readings: number])[]
): readonly number[] {
  const seconds = [0]
  for (const [state, readings] of states)
    for (let unchanged = 0; unchanged < readings; unchanged++)
      seconds.push((seconds.at(-1) ?? 0) + automaticDelay({ state, unchanged }) / 1_000)
  return seconds
}

interface History {
  readonly pulls: Readonly<Record<number, Course | string>>
  /** From a second on, the queue's state. */
  readonly queue?: readonly (readonly [second: number, state: string])[]
  /** What happens instead of an answer. */
  readonly fault?: (second: number, operation: string, body: string) => Answer | undefined
  readonly setting?: Setting
}

/**
 * Runs a command line against pull requests that stand as the story says, by the clock that the command
 * sleeps on.
 */
export async function runWithHistory(
  line: string,
  { pulls, queue = [[0, 'running']], fault, setting = {} }: History,
) {
  const clock = { now: noon }
  const asked: { readonly second: number; readonly operation: string; readonly pr: number }[] = []
  const at = <T extends readonly [number, ...unknown[]]>(course: readonly T[], second: number) =>
    course.findLast(([from]) => from <= second)
  const recordOf = (number: number, second: number): Json | undefined => {
    const pull = pulls[number] ?? []
    const [from, state, more] = at(typeof pull === 'string' ? parseCourse(pull) : pull, second) ?? [
      0,
      undefined,
    ]
    if (state === undefined) return undefined
    return {
      id: `entry-${number}`,
      prNumber: number,
      state: state.toLowerCase(),
      stateChangedAt: new Date(noon + from * 1_000).toISOString(),
      isCurrentlySubmittedToQueue: !/^(merged|failed|cancelled)$/i.test(state),
      ...more,
    }
  }
  const answer = (seen: Seen): Answer => {
    const second = (clock.now - noon) / 1_000
    const operation = seen.path.replace('/v1/', '')
    const pr = seen.method === 'POST' ? (JSON.parse(seen.body).pr?.number ?? 0) : 0
    asked.push({ second, operation, pr })
    const faulty = fault?.(second, operation, seen.body)
    if (faulty !== undefined) return faulty
    if (operation === 'getQueue') {
      const enqueuedPullRequests = Object.keys(pulls).flatMap(number => {
        const { isCurrentlySubmittedToQueue, ...entry } = recordOf(Number(number), second) ?? {}
        return isCurrentlySubmittedToQueue === true && entry.state !== 'not_ready' ? [entry] : []
      })
      return { body: JSON.stringify({ state: at(queue, second)?.[1], enqueuedPullRequests }) }
    }
    if (operation === 'getSubmittedPullRequests') {
      const prs: readonly { readonly number: number }[] = JSON.parse(seen.body).prs
      const records = prs.map(({ number }) => ({ number, record: recordOf(number, second) }))
      const pullRequests = records.flatMap(({ record }) => record ?? [])
      const notFound = records.flatMap(({ number, record }) => (record === undefined ? number : []))
      return { body: JSON.stringify({ pullRequests, notFound }) }
    }
    if (operation !== 'getSubmittedPullRequest') return { body: 'OK' }
    const record = recordOf(pr, second)
    return record === undefined ? { status: 404, body: 'Not Found' } : { body: JSON.stringify(record) }
  }
  const dated = (seen: Seen): Answer => {
    const one = answer(seen)
    return { ...one, headers: { date: new Date(clock.now).toUTCString(), ...one.headers } }
  }
  const outcome = await mergeq(line, { answer: dated, clock, ...setting, env: { ...env, ...setting.env } })
  const operations = asked.map(({ operation }) => operation)
  return { ...outcome, asked, operations, seconds: (clock.now - noon) / 1_000 }
}

export const documentsIn = (out: string): readonly Json[] =>
  out
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))

export const walk = 'NOT_READY, 2 PENDING, 4 TESTING, 6 TESTS_PASSED, 8 MERGED'
