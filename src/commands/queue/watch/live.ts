import { readActivity, readTestedTogether } from '../../../api/reads/queue-activity.ts'
import { exitCodeOf, toMergeqError } from '../../../base/errors.ts'
import { getString } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { canPrompt } from '../../../command/confirm.ts'
import { isContinuousIntegration } from '../../../config/ci-systems.ts'
import { testSlots } from '../../../domain/queue-entries.ts'
import {
  linkSpan,
  plainText,
  type Span,
  type StyledLine,
  shouldColor,
  signSpan,
  styled,
  wordsSpan,
} from '../../../output/styled-text.ts'
import { elapsedSince, formatAge, formatAgo } from '../../../values/format.ts'
import { urlOfPullRequest } from '../../../values/pull-request.ts'
import type { Queue } from '../../../values/repository.ts'
import type { QueueChange } from '../../../wait/queue-changes.ts'
import type { QueueReader, QueueUpdate } from '../../../wait/queue-reader.ts'
import type { QueuesView } from '../../../wait/watch-queues.ts'
import { queueScreen } from '../shared/screen.ts'

/** How long what the metrics say is shown before they are read again, in milliseconds. */
const maxActivityAge = 60_000

/** Also reads the metrics, not each time, and who is tested together, when others are under test. */
export function withActivity(readQueue: QueueReader, values: Queue): QueueReader {
  let activity: ReturnType<typeof readActivity> | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let batches: Awaited<ReturnType<typeof readTestedTogether>>
  let testedBefore = ''
  return async (client, limits) => {
    const now = client.host.clock.now()
    if (now - readAt >= maxActivityAge) {
      readAt = now
      activity = readActivity(client, values)
    }
    const update = await readQueue(client, limits)
    const { testing } = testSlots(update.queue)
    const tested = testing.map(({ pr, record }) => `${pr} ${getString(record, 'stateChangedAt')}`).join()
    if (tested !== testedBefore) batches = await readTestedTogether(update.queue, client, values)
    testedBefore = tested
    return { ...update, activity: { ...(await activity), batches } }
  }
}

interface Departed {
  readonly pr: number
  /** Null if its final state is not known. */
  readonly state: string | null
  readonly at: number
}

/** Newest first. A time that cannot be compared with this clock counts as `now`. */
export function addDepartures(
  earlier: readonly Departed[],
  changes: readonly QueueChange[],
  now: number,
): readonly Departed[] {
  const left = changes.flatMap(({ pr, to, at, position }) =>
    pr === null || position !== null ? [] : [{ pr, state: to, at: now - (elapsedSince(at, now) ?? 0) }],
  )
  return [...left, ...earlier].sort((one, other) => other.at - one.at)
}

/** Returns what is said of a pull request that left: `✗ #4 failed 2m ago`. */
function departureText({ pr, state, at }: Departed, { repo }: Queue, now: number): readonly Span[] {
  const number = linkSpan(`#${pr}`, urlOfPullRequest(repo, pr))
  const age = { text: ` ${formatAgo(now - at)}` }
  if (state === null) return [number, { text: ' left' }, age]
  const sign = signSpan(state)
  return [...(sign.text === '' ? [] : [sign, { text: ' ' }]), number, { text: ' ' }, wordsSpan(state), age]
}

/** Returns the lines of what left the queue, newest first, as many as fit; then how many do not. */
export function departureLines(
  departures: readonly Departed[],
  queue: Queue,
  now: number,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly StyledLine[] {
  const lines: StyledLine[] = []
  let line: readonly (string | Span)[] = [styled('Left the queue', 'bold'), '  ']
  const hiddenText = (count: number) =>
    count === 0 ? '' : `   ${count} ${count === 1 ? 'other is' : 'others are'} not shown`
  for (const [index, departed] of departures.entries()) {
    const text = departureText(departed, queue, now)
    const longer = index === 0 ? [...line, ...text] : [...line, '   ', ...text]
    const others = departures.length - index - 1
    const isLastLine = lines.length + 1 >= rows
    const rest = isLastLine ? hiddenText(others) : ''
    if (index === 0 || plainText(longer).length + rest.length <= columns) line = longer
    else if (isLastLine) return [...lines, [...line, styled(hiddenText(others + 1), 'dim')]]
    else {
      lines.push(line)
      line = ['  ', ...text]
    }
  }
  return [...lines, line]
}

const rowKeys = new Map([
  ...['k', '\u001B[A', '\u001BOA'].map(key => [key, -1] as const),
  ...['j', '\u001B[B', '\u001BOB'].map(key => [key, 1] as const),
])
const pageKeys = new Map([
  ['\u001B[5~', -1],
  ['\u001B[6~', 1],
  [' ', 1],
])

/** Returns the offset after a key was pressed, at least 0. */
export const scrollWith = (key: string, offset: number, pageSize: number): number =>
  Math.max(0, offset + (rowKeys.get(key) ?? 0) + (pageKeys.get(key) ?? 0) * pageSize)

/** For the table format, outside CI, on a terminal that can move the cursor. */
export const isLive = ({ options, results, host }: Cli): boolean =>
  results === 'screen' &&
  !isContinuousIntegration(host.env) &&
  host.env.TERM !== 'dumb' &&
  host.out.canRedraw !== false &&
  !options.verbose

const redrawInterval = 1_000

/** How long a request stays open before the screen says that there is no answer, in milliseconds. */
const maxSilence = 3_000

/**
 * Watches on the alternate screen, which is redrawn every second and on every key, until `watch` ends or a
 * person presses q. Then the last frame is printed on the normal screen. `interval` is the time between
 * readings, in milliseconds.
 */
export async function watchLive(
  watched: Queue,
  interval: number,
  watch: (view: Pick<QueuesView, 'show' | 'notify' | 'sleep'>) => Promise<number>,
  cli: Cli,
): Promise<void> {
  const { host, secrets, serviceTime } = cli
  const { clock, out, env, interrupted } = host
  const { createAlternateScreen, drawFrame } = await import('../../../output/frame.ts')
  const terminal = createAlternateScreen(out)
  const style = {
    color: shouldColor({ color: cli.options.color, env, terminal: out.terminal }),
    links: (await out.hasLinks?.()) ?? false,
    redact: secrets.redact,
  }
  const { commandLine } = cli.settings
  const user = await cli.settings.read('user')
  const hasKeys = canPrompt(cli)
  let last: QueueUpdate | undefined
  let readAt = 0
  let departures: readonly Departed[] = []
  let notice: string | undefined
  /** When the open request began, in milliseconds since 1970. */
  let askedAt: number | undefined
  let offset = 0
  let pageSize = 1
  let minWidths: readonly number[] = []
  let isSuspended = false

  const createFrame = ({ queue, activity = {} }: QueueUpdate, more: readonly StyledLine[], rows: number) => {
    const now = serviceTime.now()
    const width = out.columns - 1
    const view = queueScreen(queue, { ...watched, columns: width, activity, commandLine, user })
    const scrollHint = hasKeys && more.length > 0 ? { scrollHint: 'arrow keys or j and k scroll' } : {}
    const options = { ...style, columns: out.columns, rows, now, offset, minWidths, ...scrollHint }
    const drawWith = (leftRows: number) => {
      const size = { columns: width, rows: leftRows }
      const left = departures.length === 0 ? [] : departureLines(departures, watched, now, size)
      return drawFrame(view, [...left, ...more], options)
    }
    const frame = drawWith(1)
    return frame.lines.length < rows ? drawWith(rows - frame.lines.length + 1) : frame
  }
  const silence = () => (askedAt === undefined ? 0 : clock.now() - askedAt)
  const isSilent = () => silence() >= maxSilence
  const isStale = () => notice !== undefined || isSilent()
  const draw = async () => {
    if (isSuspended || last === undefined) return
    const silent = isSilent() ? `; no answer for ${formatAge(silence())}` : ''
    const status = `Updated ${formatAgo(clock.now() - readAt)}, every ${formatAge(interval)}${silent}. Press ${hasKeys ? 'q' : 'Ctrl-C'} to quit.`
    const foot = notice === undefined ? [status] : [notice, status]
    const lines = isStale() ? foot.map(text => [styled(text, 'yellow')]) : foot
    const frame = createFrame(last, ['', ...lines], out.rows)
    offset = frame.offset
    pageSize = frame.pageSize
    minWidths = frame.widths
    await terminal.draw(frame.lines)
  }
  // An error of the output is thrown by the next regular frame.
  const redraw = () => void draw().catch(() => undefined)
  const leave = async () => {
    isSuspended = true
    await terminal.leave()
  }

  const quit = new AbortController()
  const hasQuit = new Promise<void>(resolve => quit.signal.addEventListener('abort', () => resolve()))
  const press = (key: string) => {
    if (/^q$/i.test(key)) quit.abort()
    offset = scrollWith(key, offset, pageSize)
    redraw()
  }
  const resume = () => {
    isSuspended = false
    redraw()
  }
  const releaseTerminal = await host.watchTerminal({
    ...(hasKeys ? { press } : {}),
    resize: redraw,
    suspend: leave,
    resume,
  })
  // Restored within the signal: a second one ends the process at once.
  const restore = () => void leave().catch(() => undefined)
  interrupted.addEventListener('abort', restore, { once: true })

  const view: Pick<QueuesView, 'show' | 'notify' | 'sleep'> = {
    async show(_, update) {
      last = update
      readAt = clock.now()
      askedAt = undefined
      notice = undefined
      departures = addDepartures(departures, update.changes, serviceTime.now())
      await draw()
    },
    async notify(text) {
      // Without a reading there is nothing to draw.
      if (last === undefined) return cli.logger.info(text)
      notice = text
      await draw()
    },
    async sleep(milliseconds) {
      askedAt = undefined
      await clock.sleep(milliseconds, AbortSignal.any([interrupted, quit.signal]))
      askedAt = clock.now()
    },
  }
  const timer = setInterval(redraw, redrawInterval)
  try {
    await Promise.race([watch(view), hasQuit])
  } catch (error) {
    if (toMergeqError(error).exit !== exitCodeOf('interrupted')) throw error
  } finally {
    clearInterval(timer)
    interrupted.removeEventListener('abort', restore)
    releaseTerminal()
    await leave()
    const stale = `Not up to date: read ${formatAgo(clock.now() - readAt)}.`
    const foot = isStale() ? [[styled(stale, 'yellow')]] : []
    if (last !== undefined) await out.write(`${createFrame(last, foot, out.rows - 1).lines.join('\n')}\n`)
  }
}
