import { flag } from '../contract/field.ts'
import { poll } from '../contract/pulls.ts'
import { spelled, standing } from '../contract/states.ts'
import { duration } from '../contract/words.ts'
import { asFailure, exitOf, type Failure, usage, worst } from '../failure.ts'
import type { Desk } from '../run/desk.ts'
import { exchange } from '../run/exchange.ts'
import { type Run, readRuns } from '../run/prepare.ts'
import { type JsonObject, textAt } from '../view/shapes.ts'
import { command } from './command.ts'

/** Reads an interval: a duration of at least a second. */
function interval(word: string): number {
  const length = word === 'auto' ? 0 : duration(word)
  if (word !== 'auto' && length < 1_000)
    throw usage(`'${word}' is shorter than a second.`, 'Poll at most once a second.')
  return length
}

/** The flags of a wait (CLI.md section 5). */
export const waitFields = {
  interval: flag('--interval <duration|auto>', 'Time between polls, at least 1s (default auto)', interval),
}

const defaultLimit = 60 * 60_000

/** Time between polls by state, in milliseconds: the habits of service-observed.md section 7. */
const pace = new Map([
  ['NOT_READY', 60_000],
  ['PENDING', 30_000],
])
const defaultPace = 10_000

/** Failures that end a wait at once; any other failed poll is not a result (CLI.md section 5). */
const isFinal = ({ kind }: Failure): boolean => kind === 'auth' || kind === 'usage' || kind === 'interrupted'

const mostErrors = 10

/** Polls one pull request until it has settled or the time is over. */
async function waitFor(
  run: Run<typeof poll.fields>,
  every: number,
  until: number,
  desk: Desk,
): Promise<number> {
  const { world, voice } = desk
  const started = world.clock.now()
  let [last, errors] = ['', 0]
  const finish = async (outcome: string, kind: Parameters<typeof exitOf>[0]) => {
    const exit = exitOf(kind)
    const elapsedSeconds = Math.round((world.clock.now() - started) / 1_000)
    const result: JsonObject = {
      type: 'result',
      pr: run.values.pr ?? null,
      outcome,
      state: last || null,
      elapsedSeconds,
      exit,
    }
    const sentence = `#${run.values.pr ?? '?'} ${outcome} after ${elapsedSeconds} s (${last || 'never seen'}).`
    await desk.printer.print({
      records: [result],
      document: ([one = {}]) => one,
      shape: () => ({
        columns: [
          { title: 'PR', manner: 'pr' },
          { title: 'OUTCOME', manner: 'plain' },
          { title: 'STATE', manner: 'state' },
          { title: 'SECONDS', manner: 'number' },
        ],
        rows: [[result.pr, outcome, last, elapsedSeconds]],
        sentence,
      }),
    })
    return exit
  }
  for (;;) {
    try {
      const [record = {}] = (await exchange(poll, run, desk)).reply.records
      errors = 0
      const state = spelled(textAt(record, 'state') ?? '')
      if (state !== last)
        await voice.note(`#${run.values.pr ?? '?'} ${last === '' ? '' : `${last} -> `}${state}`)
      last = state
      const stands = standing(record)
      if (stands === 'ok') return finish('merged', 'ok')
      if (stands !== 'pending') return finish(stands, stands)
    } catch (error) {
      const failure = asFailure(error)
      errors++
      if (isFinal(failure) || errors >= mostErrors) throw failure
      await voice.note(failure.message)
    }
    const now = world.clock.now()
    if (now >= until) return finish('timed-out', until === started ? 'pending' : 'timed-out')
    const pause = every === 0 ? (pace.get(last) ?? defaultPace) : every
    await world.clock.sleep(Math.min(pause, until - now), world.interrupted)
  }
}

/** Waits for every pull request of a run; the worst ending wins. */
export async function waitForAll(every: number | undefined, desk: Desk): Promise<number> {
  const runs = await readRuns(poll, desk)
  const patient = await forAttempts(desk)
  const typed = desk.given.get('--timeout')?.[0]
  const until = desk.world.clock.now() + (typed === undefined ? defaultLimit : duration(typed))
  const codes = await Promise.all(
    runs.map(async one => {
      try {
        return await waitFor(one, every ?? 0, until, patient)
      } catch (error) {
        const failure = asFailure(error)
        await desk.voice.fail(failure)
        return failure.exit
      }
    }),
  )
  await desk.printer.end()
  return worst(codes)
}

/** In a wait `--timeout` bounds the whole wait: attempts have the limit that the environment or the settings give. */
async function forAttempts(desk: Desk): Promise<Desk> {
  const given = new Map(desk.given)
  given.delete('--timeout')
  const timeout = await desk.settings.under(given).read('timeout')
  return { ...desk, options: { ...desk.options, timeout } }
}

export const wait = command({
  command: 'pr wait',
  summary: 'Wait until pull requests have merged, failed or been cancelled',
  on: poll,
  fields: waitFields,
  examples: ['mergeq pr wait 123 --timeout 30m', 'mergeq pr submit 123 && mergeq pr wait 123'],
  run: ({ interval: every }, desk) => waitForAll(every, desk),
})
