import { type Infer, ownRecord } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { failureOrThrow, isPermanent, MergeqError } from '../../base/errors.ts'
import { type Cli, command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import { flag } from '../../command/inputs.ts'
import { logProfile, profileAndOrigin } from '../../config/profile.ts'
import { emptyTokenNote, isTokenVariableEmpty, type Token } from '../../config/token.ts'
import { type StyledLine, signSpan } from '../../output/styled-text.ts'
import { type Fact, factTable, singleRecord } from '../../output/view.ts'
import { describeVerification, readOrigin, verifyToken } from './shared/service.ts'

/** Returns the last four characters of a token, or nothing for a token of fewer than twelve characters. */
const formatTokenEnd = ({ value }: Token): string => (value.length < 12 ? '' : value.slice(-4))

/** Verifies a token. Throws an error of this machine, such as an interruption. */
async function checkToken(token: Token, cli: Cli) {
  try {
    await verifyToken(token, cli)
    return { verification: 'accepted' }
  } catch (error) {
    const failure = failureOrThrow(error)
    const { kind, message, details } = failure
    if (kind === 'auth') return { verification: 'rejected', failure }
    if (isPermanent(failure)) throw failure
    const text = `The token could not be verified: ${message}`
    return { verification: 'unavailable', failure: new MergeqError('unavailable', text, details) }
  }
}

function statusLine(
  { source, isStored }: Token,
  { origin, lastCharacters, verification }: Infer<typeof statusRecord>,
): StyledLine {
  const name = isStored === true ? 'the stored token' : `the token from ${source}`
  const token = lastCharacters === '' ? name : `${name} (it ends with ${lastCharacters})`
  return verification === 'accepted'
    ? [signSpan('PASS'), ` ${origin} accepts ${token}.`]
    : `${token.charAt(0).toUpperCase()}${token.slice(1)} is used for ${origin}; it was not verified.`
}

const statusRecord = ownRecord({
  source: 'string',
  origin: 'string',
  profile: 'string',
  settingsFile: 'string',
  lastCharacters: 'string',
  verification: 'string',
})

export const definition = command({
  name: 'auth status',
  summary: 'Show which token is used and whether the service accepts it',
  alsoSends: [getMergeQueueMetrics],
  toleratesErrors: true,
  exits: ['auth', 'unavailable'],
  prints: {
    table: 'the source, origin and last characters of the token, and whether the service accepts it',
    note: 'verification is accepted, rejected, unavailable or skipped',
    documents: [statusRecord],
  },
  options: { noVerify: flag('Do not send the token to the service') },
  examples: ['mergeq auth status', 'mergeq auth status --json'],
  async run({ noVerify }, cli) {
    if (cli.options.dryRun) {
      const verification = noVerify ? '' : ` and verify the token with ${await describeVerification(cli)}`
      return printPreview(`Would show which token is used${verification}.`, cli)
    }
    const origin = await readOrigin(cli)
    // Without a token, the error says the same.
    const token = await cli.client().token()
    if (isTokenVariableEmpty(cli.host.env)) await cli.logger.warn(emptyTokenNote(cli.host.env))
    const { verification, failure } = noVerify ? { verification: 'skipped' } : await checkToken(token, cli)
    const { settings } = cli
    const record: Infer<typeof statusRecord> = {
      source: token.source,
      origin,
      profile: await settings.require('profile'),
      settingsFile: settings.store.path ?? '',
      lastCharacters: formatTokenEnd(token),
      verification,
    }
    const { settingsFile } = record
    const facts: readonly Fact[] = [
      ['source', record.source],
      ['origin', origin],
      ['profile', record.profile],
      ['settings file', settingsFile],
      ['token ends with', record.lastCharacters],
      ['verification', verification],
    ]
    const place = `Profile: ${await profileAndOrigin(settings)}${settingsFile === '' ? '' : ` (${settingsFile})`}`
    if (cli.results !== 'screen') await logProfile(cli)
    await cli.printer.print({
      ...singleRecord(record),
      ...factTable(facts.filter(([, value]) => value !== '')),
      screen: () => ({ heading: failure === undefined ? [statusLine(token, record), place] : [] }),
    })
    if (failure !== undefined) throw failure
    return 0
  },
})
