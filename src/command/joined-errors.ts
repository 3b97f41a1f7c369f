import { extendError, isOutage, MergeqError } from '../base/errors.ts'
import type { Host } from '../host/host.ts'
import { printsData } from '../output/output-formats.ts'
import { formatInstant, joinList, pluralize } from '../values/format.ts'
import type { Cli } from './command.ts'

type Reporter = Pick<Cli, 'host' | 'logger' | 'messages' | 'options'>

/** Returns the errors of several requests, of which those that say the same of several things are one. */
export async function joinErrors(
  errors: readonly MergeqError[],
  cli: Reporter,
): Promise<readonly MergeqError[]> {
  const all = await joinRateLimited(errors, cli)
  return cli.messages === 'person' && cli.options.format.name === 'table' ? joinOutages(all) : all
}

/** Whether a request failed, or was not sent, because the service accepts no more requests now. */
const isRateLimited = ({ details }: MergeqError): boolean => details.status === 429

/** Returns until when the service asked to wait, in milliseconds since 1970; undefined where it did not say. */
function endOfPause(failures: readonly MergeqError[], { clock }: Pick<Host, 'clock'>): number | undefined {
  const ends = failures.flatMap(({ details: { sentAt = clock.now(), retryAfter } }) =>
    retryAfter === undefined ? [] : sentAt + retryAfter * 1_000,
  )
  const last = Math.max(...ends, 0)
  return last > clock.now() ? last : undefined
}

/** Makes one error of those that a rate limit kept back. For scripts each stays, and the sentence is logged. */
async function joinRateLimited(
  errors: readonly MergeqError[],
  { host, logger, options }: Reporter,
): Promise<readonly MergeqError[]> {
  const limited = errors.filter(isRateLimited)
  const [first] = limited
  if (first === undefined || limited.length === 1) return errors
  const noun = first.details.pr === undefined ? 'queue' : 'pull request'
  const were = `${pluralize(limited.length, noun)} were not reached`
  const end = endOfPause(limited, host)
  const until = end === undefined ? '' : `; it asks to wait until ${formatInstant(end)}`
  const sentence = `${first.details.host} reported that the rate limit was exceeded (429): ${were}${until}.`
  if (printsData(options.format)) {
    await logger.info(sentence)
    return errors
  }
  const { pr: _, repo: __, targetBranch: ___, ...details } = first.details
  const hint = end === undefined ? 'Run the command again later.' : 'Run the command again after that.'
  const joined = new MergeqError(first.kind, sentence, { ...details, hint, isShown: false })
  return [...errors.filter(error => !isRateLimited(error)), joined]
}

/** Matches the pull request that an error is about: `for #7 in the queue for main`, or `(#7)` at its end. */
const subject = /(?<=[ (])#\d+(?= in the queue for |\)\.$)/

/** Returns errors of which those of an outage that differ only in the pull request all have one message. */
function joinOutages(errors: readonly MergeqError[]): readonly MergeqError[] {
  const alike = new Map<string, string[]>()
  const keyOf = ({ message, details }: MergeqError) => `${message.replace(subject, '')}\n${details.hint}`
  for (const error of errors) {
    const numbers = subject.exec(error.message) ?? []
    const known = alike.get(keyOf(error)) ?? []
    known.push(...numbers)
    alike.set(keyOf(error), known)
  }
  return errors.map(error => {
    const names = joinList(alike.get(keyOf(error)) ?? [])
    return isOutage(error) ? extendError(error, {}, error.message.replace(subject, names)) : error
  })
}
