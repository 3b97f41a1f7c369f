import { maxTokenLength } from '../domain/limits.ts'
import { joinCommandLine } from '../domain/suggested-command.ts'
import { refuseUtf16 } from '../domain/values/text.ts'
import { isMergeqError, MergeqError, usageError } from '../errors.ts'
import type { Environment, Host } from '../host/host.ts'
import { isContinuousIntegration } from './ci-systems.ts'
import { tryHint } from './setting-definitions.ts'
import { restrictCommand, type Store, tokensIn } from './store.ts'

export interface Token {
  readonly value: string
  readonly source: string
  /** Whether the token is stored; the settings store each token for a single origin. */
  readonly isStored?: boolean
}

/** Upper limit for a token and the white space around it, in bytes. */
export const maxTokenFileSize = 64 * 1024
/** The origin of the hosted service, which is the default base URL. */
export const defaultOrigin = 'https://api.trunk.io'
/** The longest time for reading a token from a pipe, in milliseconds. */
const pipeLimit = 10_000
/** What may be before a token: ASCII white space, and the byte order mark that editors on Windows write. */
const beforeToken = /^[\t\n\v\f\r ]*\uFEFF?[\t\n\v\f\r ]*/
const whiteSpace = '\t\n\v\f\r '

export const isBlankToken = (text: string): boolean => text.replace(beforeToken, '') === ''

/**
 * Validates a token: without a byte order mark before it and ASCII white space around it, it must be 1 to 4096
 * visible ASCII characters. `source` names the token in messages. Throws a usage error that shows the code point
 * and position of an invalid character, and never the token.
 */
export function parseToken(value: string, source: string): Token {
  const [before = ''] = beforeToken.exec(value) ?? []
  let end = value.length
  while (end > before.length && whiteSpace.includes(value.charAt(end - 1))) end--
  const trimmed = value.slice(before.length, end)
  if (trimmed === '')
    throw usageError(`Invalid token (${source}): it is empty.`, 'Use an API token of your organization.')
  if (trimmed.length > maxTokenLength)
    throw usageError(`Invalid token (${source}): it is longer than ${maxTokenLength} characters.`)
  const bad = /[^\x21-\x7e]/u.exec(trimmed)
  if (bad !== null) {
    const position = before.length + bad.index + 1
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    const character = bad[0] === ' ' ? 'a space' : `the character U+${code}`
    throw usageError(
      `Invalid token (${source}): it contains ${character} at position ${position}.`,
      'Copy the token again, without quotes, spaces or line breaks.',
    )
  }
  return { value: trimmed, source }
}

/** Returns whether MERGEQ_TOKEN is set but empty, as CI sets it for pull requests from forks. */
export const isTokenVariableEmpty = ({ MERGEQ_TOKEN }: Environment): boolean =>
  MERGEQ_TOKEN !== undefined && isBlankToken(MERGEQ_TOKEN)

/** Explains an empty MERGEQ_TOKEN, which in a CI job is usually not a mistake of the user. */
export const emptyTokenNote = (env: Environment): string =>
  isContinuousIntegration(env)
    ? 'MERGEQ_TOKEN is set but empty, which is normal in CI jobs for pull requests from forks, because they have no access to secrets.'
    : 'MERGEQ_TOKEN is set but empty.'

/** Whether variables give the token for an origin, so that none is taken from the stored settings. */
export const isTokenInEnvironment = (env: Environment, origin: string): boolean =>
  !isBlankToken(env.MERGEQ_TOKEN ?? '') ||
  (env.MERGEQ_TOKEN_FILE ?? '') !== '' ||
  (!isBlankToken(env.TRUNK_API_TOKEN ?? '') && origin === defaultOrigin)

/** The settings that decide which token is used. */
interface TokenSettings {
  readonly store: Store
  require(name: 'baseUrl' | 'profile'): Promise<string>
}

/** Names what a token is stored for: its origin, and its profile unless that is the profile `default`. */
export const describeTokenOwner = (origin: string, profile: string): string =>
  profile === 'default' ? origin : `${origin} in profile ${profile}`

/**
 * Returns the token in a file or a pipe. Throws a usage error for one that cannot be read, and for one without a
 * token.
 */
async function readTokenFile(path: string, { files, interrupted }: TokenHost): Promise<Token> {
  const hint = 'Use a file with an API token of your organization, or unset MERGEQ_TOKEN_FILE.'
  const limits = { maxBytes: maxTokenFileSize, time: pipeLimit, interrupted }
  const text = await files.readOnce(path, limits).catch(error => {
    if (isMergeqError(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw usageError(`MERGEQ_TOKEN_FILE: ${path} cannot be read: ${reason}.`, hint)
  })
  if (text === undefined) throw usageError(`MERGEQ_TOKEN_FILE: the file ${path} does not exist.`, hint)
  refuseUtf16(text, `MERGEQ_TOKEN_FILE: ${path}`)
  return parseToken(text, 'MERGEQ_TOKEN_FILE')
}

/** What finding a token needs of the operating system. */
type TokenHost = Pick<Host, 'env' | 'files' | 'interrupted'>

/**
 * Returns the token for the base URL of the settings (docs/reference/cli.md, "Token"): MERGEQ_TOKEN, the token in
 * the file of MERGEQ_TOKEN_FILE, TRUNK_API_TOKEN for the default origin only, or the token that is stored for this
 * origin and profile. Throws an auth error when there is none, and a usage error for a wrong one.
 *
 * @param isOption whether MERGEQ_TOKEN is an option of the library, which messages name
 */
export async function findToken(
  { env, files, interrupted }: TokenHost,
  settings: TokenSettings,
  isOption = false,
): Promise<Token> {
  const baseUrl = await settings.require('baseUrl')
  const { origin } = new URL(baseUrl)
  const name = isOption ? 'the option token' : 'MERGEQ_TOKEN'
  const {
    MERGEQ_TOKEN: mergeqToken = '',
    MERGEQ_TOKEN_FILE: file = '',
    TRUNK_API_TOKEN: trunkToken = '',
  } = env
  if (!isBlankToken(mergeqToken)) return parseToken(mergeqToken, name)
  if (file !== '') return readTokenFile(file, { env, files, interrupted })
  if (!isBlankToken(trunkToken) && origin === defaultOrigin) return parseToken(trunkToken, 'TRUNK_API_TOKEN')
  const profile = await settings.require('profile')
  const tokens = tokensIn(await settings.store.read(), profile)
  const stored = Object.hasOwn(tokens, origin) ? tokens[origin] : undefined
  const owner = describeTokenOwner(origin, profile)
  if (typeof stored === 'string')
    return { ...parseToken(stored, `the stored token for ${owner}`), isStored: true }
  const note =
    (isTokenVariableEmpty(env) && !isOption ? ` ${emptyTokenNote(env)}` : '') +
    (isBlankToken(trunkToken) ? '' : ` TRUNK_API_TOKEN is ignored: it is used only for ${defaultOrigin}.`)
  const storedOrigins = Object.keys(tokens)
  const ofProfile = profile === 'default' ? [] : ['--profile', profile]
  if (storedOrigins.length === 0) {
    const login = joinCommandLine(['auth', 'login', ...ofProfile])
    const where = profile === 'default' ? '' : ` for profile ${profile}`
    const isNew = profile === 'default' && !isContinuousIntegration(env)
    const advice = `, or run: ${login}${isNew ? `\n${tryHint}` : ''}`
    throw new MergeqError('auth', `No API token was found${where}.${note}`, {
      hint: `Set ${name} to an API token of your organization${isOption ? '.' : advice}`,
    })
  }
  const message = `No token is stored for ${owner}, only for ${storedOrigins.join(', ')}.${note}`
  const login = `, or run: ${joinCommandLine(['auth', 'login', '--base-url', baseUrl, ...ofProfile])}`
  throw new MergeqError('auth', message, {
    hint: `A stored token is sent only to its own origin. Set ${name}${isOption ? '.' : login}`,
  })
}

/**
 * Returns the token for the base URL of the settings, after `hide` has redacted it in all output. Warns of a
 * stored token that other users can read. Throws an auth error when there is none.
 */
export async function readToken(
  host: TokenHost,
  settings: TokenSettings,
  hide: (secret: string) => void,
  warn: (text: string) => Promise<void>,
  isOption = false,
): Promise<Token> {
  const token = await findToken(host, settings, isOption)
  hide(token.value)
  const mode = token.isStored === true ? await settings.store.takeSharedMode() : undefined
  if (mode !== undefined)
    await warn(
      `Other users can read the stored token (mode ${mode}). Run: ${restrictCommand(settings.store)}`,
    )
  return token
}
