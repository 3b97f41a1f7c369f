import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import type { CommandContext } from '../../cli/context.ts'
import { defineCustomCommand } from '../../cli/custom-command.ts'
import { flag } from '../../cli/inputs.ts'
import { readOrigin } from '../../cli/origin.ts'
import { printPreview } from '../../cli/preview.ts'
import { emptyTokenNote, isTokenVariableEmpty, type Token } from '../../config/api-token.ts'
import { isPermanent, MergeqError, toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { keyValueTable } from '../../output/view.ts'
import { describeVerification, verifyToken } from './verification/verify-token.ts'

/** Returns the last four characters of a token, or nothing for a token of fewer than twelve characters. */
const formatTokenEnd = ({ value }: Token): string => (value.length < 12 ? '' : value.slice(-4))

const facts = [
  ['source', 'source'],
  ['origin', 'origin'],
  ['ends with', 'lastCharacters'],
  ['verification', 'verification'],
] as const

const screenFacts = facts.map(
  ([title, path]) => [title === 'ends with' ? 'token ends with' : title, path] as const,
)

interface Verification {
  readonly verification: 'accepted' | 'rejected' | 'unavailable'
  readonly failure?: MergeqError
}

/** Verifies a token. Throws an error of this machine, such as an interruption. */
async function checkToken(token: Token, context: CommandContext): Promise<Verification> {
  try {
    await verifyToken(token, context)
    return { verification: 'accepted' }
  } catch (error) {
    const failure = toMergeqError(error)
    const { kind, message, details } = failure
    if (kind === 'auth') return { verification: 'rejected', failure }
    if (isPermanent(failure) && details.overLimit !== true) throw failure
    const text = `The token could not be verified: ${message}`
    return { verification: 'unavailable', failure: new MergeqError('unavailable', text, details) }
  }
}

/**
 * `auth status`: shows the source, the origin and the last characters of the token that would be sent, and
 * asks the service whether it accepts the token.
 */
export const authStatusCommand = defineCustomCommand({
  command: 'auth status',
  summary: 'Show which token is used and whether the service accepts it',
  operations: [getMergeQueueMetrics],
  toleratesErrors: true,
  exitKinds: ['auth', 'unavailable'],
  output: {
    table: 'the source, origin and last characters of the token, and whether the service accepts it',
    json: '{"source","origin","lastCharacters","verification"}; verification is accepted, rejected, unavailable or skipped',
    ndjson: 'the same, on one line',
  },
  fields: { names: ['source', 'origin', 'lastCharacters', 'verification'], columns: facts },
  inputs: { noVerify: flag({ name: 'no-verify', summary: 'Do not send the token to the service' }) },
  examples: ['mergeq auth status', 'mergeq auth status --json'],
  async dryRun({ noVerify }, context) {
    const verification = noVerify ? '' : ` and verify the token with ${await describeVerification(context)}`
    return printPreview('auth status', `Would show which token is used${verification}.`, context)
  },
  async run({ noVerify }, context) {
    const origin = await readOrigin(context)
    const { env } = context.host
    // Without a token, the error says the same.
    const token = await context.client().token()
    if (isTokenVariableEmpty(env)) await context.logger.warn(emptyTokenNote)
    const { verification, failure } = noVerify
      ? { verification: 'skipped', failure: undefined }
      : await checkToken(token, context)
    const record: JsonObject = {
      source: token.source,
      origin,
      lastCharacters: formatTokenEnd(token),
      verification,
    }
    await context.printer.print({
      records: [record],
      document: ([first = {}]) => first,
      view: () => ({
        ...keyValueTable(record, facts),
        terminalView: () =>
          keyValueTable(
            record,
            screenFacts.filter(([, path]) => record[path] !== ''),
          ),
      }),
    })
    await context.printer.end()
    if (failure !== undefined) throw failure
    return 0
  },
})
