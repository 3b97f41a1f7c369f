import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import { flag } from '../../cli/inputs.ts'
import { emptyTokenNote, isTokenVariableEmpty, type Token } from '../../config/token.ts'
import { isPermanent, MergeqError, toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { keyValueTable } from '../../output/view.ts'
import { describeVerification, readOrigin, verifyToken } from './service.ts'

/** Returns the last four characters of a token, or nothing for a token of fewer than twelve characters. */
const formatTokenEnd = ({ value }: Token): string => (value.length < 12 ? '' : value.slice(-4))

const facts = [
  ['source', 'source'],
  ['origin', 'origin'],
  ['ends with', 'lastCharacters'],
  ['verification', 'verification'],
] as const

/** Verifies a token. Throws an error of this machine, such as an interruption. */
async function checkToken(token: Token, context: CommandContext) {
  try {
    await verifyToken(token, context)
    return { verification: 'accepted', failure: undefined }
  } catch (error) {
    const failure = toMergeqError(error)
    const { kind, message, details } = failure
    if (kind === 'auth') return { verification: 'rejected', failure }
    if (isPermanent(failure) && details.overLimit !== true) throw failure
    const text = `The token could not be verified: ${message}`
    return { verification: 'unavailable', failure: new MergeqError('unavailable', text, details) }
  }
}

export const authStatusCommand = defineCommand({
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
  options: { noVerify: flag({ name: 'no-verify', summary: 'Do not send the token to the service' }) },
  examples: ['mergeq auth status', 'mergeq auth status --json'],
  async run({ noVerify }, context) {
    if (context.options.dryRun) {
      const verification = noVerify ? '' : ` and verify the token with ${await describeVerification(context)}`
      return printPreview('auth status', `Would show which token is used${verification}.`, context)
    }
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
            facts
              .filter(([, path]) => record[path] !== '')
              .map(([title, path]) => [title === 'ends with' ? 'token ends with' : title, path]),
          ),
      }),
    })
    await context.printer.end()
    if (failure !== undefined) throw failure
    return 0
  },
})
