import { isMergeqError, MergeqError, usageError, withName } from '../base/errors.ts'
import type { Environment } from '../host/host.ts'
import { maxTokenFileSize, maxTokenLength } from '../values/limits.ts'
import { joinCommandLine } from '../values/suggested-command.ts'
import { beforeText, isBlank, refuseUtf16 } from '../values/text.ts'
import { isContinuousIntegration } from './ci-systems.ts'
import { parseBaseUrl, tryHint } from './setting-definitions.ts'
import { findStored, restrictCommand, type Store, storedTokens } from './store.ts'
import type { programSource, TokenHost, TokenReading, TokenSource } from './token-program.ts'

export interface Token {
  readonly value: string
  readonly source: string
  /** Whether the token is stored; the settings store each token for a single origin. */
  readonly isStored?: boolean
}

/** The origin of the hosted service, which is the default base URL. */
export const defaultOrigin = 'https://api.trunk.io'
const whiteSpace = '\t\n\v\f\r '

/**
 * Validates a token: without a byte order mark before it and ASCII white space around it, it must be 1 to 4096
 * visible ASCII characters. `source` names the token in messages. Throws a usage error that shows the code point
 * and position of an invalid character, and never the token.
 */
export function parseToken(value: string, source: string): Token {
  const [before = ''] = beforeText.exec(value) ?? []
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
  MERGEQ_TOKEN !== undefined && isBlank(MERGEQ_TOKEN)

/** Explains an empty MERGEQ_TOKEN, which in a CI job is usually not a mistake of the user. */
export const emptyTokenNote = (env: Environment): string =>
  isContinuousIntegration(env)
    ? 'MERGEQ_TOKEN is set but empty, which is normal in CI jobs for pull requests from forks, because they have no access to secrets.'
    : 'MERGEQ_TOKEN is set but empty.'

const readingTime = 10_000

interface TokenSettings {
  readonly store: Store
  require(name: 'baseUrl' | 'profile'): Promise<string>
  readFrom(sources: 'option-or-environment', name: 'tokenCommand'): Promise<string | undefined>
}

/** The words of a command line that select a profile; none for the default one. */
export const profileWords = (profile: string): readonly string[] =>
  profile === 'default' ? [] : ['--profile', profile]

/** Names what a token is stored for: its origin, and its profile unless that is the profile `default`. */
export const describeTokenOwner = (origin: string, profile: string): string =>
  profile === 'default' ? origin : `${origin} in profile ${profile}`

/** Returns the text of a file or a pipe; throws a usage error where there is none. */
async function readTokenFile(
  path: string,
  { files, interrupted }: TokenHost,
  { time }: TokenReading,
): Promise<string> {
  const hint = 'Use a file with an API token of your organization, or unset MERGEQ_TOKEN_FILE.'
  const limits = { maxBytes: maxTokenFileSize, time, interrupted }
  const text = await files.readOnce(path, limits).catch(error => {
    if (isMergeqError(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw usageError(`MERGEQ_TOKEN_FILE: ${path} cannot be read: ${reason}.`, hint)
  })
  if (text === undefined) throw usageError(`MERGEQ_TOKEN_FILE: the file ${path} does not exist.`, hint)
  refuseUtf16(text, `MERGEQ_TOKEN_FILE: ${path}`)
  return text
}

const loadProgram = async (...[text, setting, place, host]: Parameters<typeof programSource>) =>
  (await import('./token-program.ts')).programSource(text, setting, place, host)

/** Returns the program of the profile; a note, perhaps empty, where it has none for the origin. */
async function findProgramOfProfile(
  { store }: TokenSettings,
  profile: string,
  origin: string,
  host: TokenHost,
): Promise<TokenSource | string> {
  const stored = await findStored(store, profile, 'token-command')
  const setting = 'token-command'
  const program = stored && (await loadProgram(stored.value, setting, stored.place, host))
  if (program === undefined) return ''
  const baseUrl = await findStored(store, profile, 'base-url')
  const own =
    baseUrl === undefined
      ? defaultOrigin
      : new URL(withName(baseUrl.place, () => parseBaseUrl(baseUrl.value))).origin
  return own === origin
    ? program
    : ` The token-command of profile ${profile} is ignored: it is used only for ${own}.`
}

/** Returns where the token for an origin comes from, if variables give it; then none is taken from the stored settings. */
export async function tokenInEnvironment(
  host: TokenHost,
  settings: Pick<TokenSettings, 'readFrom'>,
  origin: string,
  tokenName = 'MERGEQ_TOKEN',
): Promise<TokenSource | undefined> {
  const { MERGEQ_TOKEN = '', MERGEQ_TOKEN_FILE: file = '', TRUNK_API_TOKEN = '' } = host.env
  const variable = (name: string, value: string): TokenSource => ({
    kind: 'variable',
    from: name,
    name,
    read: async () => value,
  })
  if (!isBlank(MERGEQ_TOKEN)) return variable(tokenName, MERGEQ_TOKEN)
  if (file !== '')
    return {
      kind: 'file',
      from: file,
      name: 'MERGEQ_TOKEN_FILE',
      read: reading => readTokenFile(file, host, reading),
    }
  const command = await settings.readFrom('option-or-environment', 'tokenCommand')
  const place = 'MERGEQ_TOKEN_COMMAND'
  const program = command === undefined ? undefined : await loadProgram(command, place, place, host)
  if (program !== undefined) return program
  const isUsed = !isBlank(TRUNK_API_TOKEN) && origin === defaultOrigin
  return isUsed ? variable('TRUNK_API_TOKEN', TRUNK_API_TOKEN) : undefined
}

/**
 * Returns where the token for the base URL of the settings comes from (docs/reference/cli.md, "Token"); reads no file
 * of a token and runs no program. Throws an auth error when there is none, and a usage error for a wrong one.
 *
 * @param isOption whether MERGEQ_TOKEN is an option of the library, which messages name
 */
export async function findTokenSource(
  host: TokenHost,
  settings: TokenSettings,
  isOption = false,
): Promise<TokenSource> {
  const { env } = host
  const { store } = settings
  const baseUrl = await settings.require('baseUrl')
  const { origin } = new URL(baseUrl)
  const tokenName = isOption ? 'the option token' : 'MERGEQ_TOKEN'
  const given = await tokenInEnvironment(host, settings, origin, tokenName)
  if (given !== undefined) return given
  const profile = await settings.require('profile')
  // `off` is for every program.
  const isOff = (env.MERGEQ_TOKEN_COMMAND ?? '') !== ''
  const program = isOff ? '' : await findProgramOfProfile(settings, profile, origin, host)
  if (typeof program === 'object') return program
  const tokens = await storedTokens(store, profile)
  const stored = Object.hasOwn(tokens, origin) ? tokens[origin] : undefined
  const owner = describeTokenOwner(origin, profile)
  if (typeof stored === 'string')
    return {
      kind: 'store',
      from: store.path ?? '',
      name: `the stored token for ${owner}`,
      read: async () => stored,
    }
  const note =
    (isTokenVariableEmpty(env) && !isOption ? ` ${emptyTokenNote(env)}` : '') +
    (isBlank(env.TRUNK_API_TOKEN ?? '')
      ? ''
      : ` TRUNK_API_TOKEN is ignored: it is used only for ${defaultOrigin}.`) +
    program
  const storedOrigins = Object.keys(tokens)
  const hasOthers = storedOrigins.length > 0
  const words = ['auth', 'login', ...(hasOthers ? ['--base-url', baseUrl] : []), ...profileWords(profile)]
  const login = isOption ? '.' : `, or run: ${joinCommandLine(words)}`
  const isDefault = profile === 'default'
  const isNew = isDefault && !isOption && !isContinuousIntegration(env)
  const [problem, hint] = hasOthers
    ? [
        `No token is stored for ${owner}, only for ${storedOrigins.join(', ')}.`,
        `A stored token is sent only to its own origin. Set ${tokenName}${login}`,
      ]
    : [
        `No API token was found${isDefault ? '' : ` for profile ${profile}`}.`,
        `Set ${tokenName} to an API token of your organization${login}${isNew ? `\n${tryHint}` : ''}`,
      ]
  throw new MergeqError('auth', `${problem}${note}`, { hint })
}

interface TokenReaderOptions {
  hide(secret: string): void
  warn(text: string): Promise<void>
  /** Whether messages name the token as an option of the library. */
  readonly isOption?: boolean
  /** How long a pipe or a program may take, in milliseconds; with 0, no program is run. */
  readonly time?: number | undefined
}

/**
 * Returns a function that returns the token for the base URL of the settings, redacted in all output. It is looked up
 * once; with `after`, in milliseconds since 1970, once more if it was looked up before. Warns of a stored token that
 * other users can read. The function throws an auth error when there is no token.
 */
export function createTokenReader(
  host: TokenHost,
  settings: TokenSettings,
  { hide, warn, isOption, time = readingTime }: TokenReaderOptions,
): (after?: number) => Promise<Token> {
  let last: { readonly readAt: number; readonly token: Promise<Token> } | undefined
  const read = async (after: number | undefined) => {
    const source = await findTokenSource(host, settings, isOption)
    const isStored = source.kind === 'store'
    const token = { ...parseToken(await source.read({ after, time }), source.name), isStored }
    hide(token.value)
    const mode = isStored ? await settings.store.takeSharedMode() : undefined
    if (mode !== undefined)
      await warn(
        `Other users can read the stored token (mode ${mode}). Run: ${restrictCommand(settings.store)}`,
      )
    return token
  }
  return after => {
    if (last === undefined || (after !== undefined && last.readAt <= after))
      last = { readAt: host.clock.now(), token: read(after) }
    return last.token
  }
}
