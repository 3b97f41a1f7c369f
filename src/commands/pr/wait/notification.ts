import { pluralize } from '../../../domain/format.ts'
import type { Host } from '../../../host/host.ts'
import { sanitizeLine } from '../../../output/sanitize.ts'
import { plainText } from '../../../output/styled-text.ts'
import { describeEnd, type EndedWait } from './describe-end.ts'

/** The largest length of the text of a notification, in characters. */
const maxLength = 150

/** Returns the text of a notification: the result of one pull request, or the number of each result. */
function notificationText(ended: readonly EndedWait[]): string {
  const [first, ...others] = ended
  if (first === undefined) return 'nothing to wait for'
  if (others.length === 0) return plainText(describeEnd(first))
  const outcomes = ended.map(({ end }) => end.outcome.replace('-', ' '))
  const counts = [...new Set(outcomes)].map(
    outcome => `${outcomes.filter(other => other === outcome).length} ${outcome}`,
  )
  return `${pluralize(ended.length, 'pull request')}: ${counts.join(', ')}`
}

/**
 * Rings the bell of the terminal on standard error and sends it a desktop notification (OSC 9). Writes
 * nothing where standard error is not a terminal.
 */
export async function sendNotification(
  ended: readonly EndedWait[],
  { err, env }: Pick<Host, 'err' | 'env'>,
): Promise<void> {
  if (!err.terminal || env.TERM === 'dumb') return
  const text = [...sanitizeLine(`mergeq: ${notificationText(ended)}`)].slice(0, maxLength).join('')
  await err.write(`\u0007\u001B]9;${text}\u0007`).catch(() => undefined)
}
