import { maxTokenLength } from '../domain/limits.ts'
import { usageError } from '../errors.ts'
import type { Environment } from '../host/host.ts'
import { isContinuousIntegration } from './ci-systems.ts'

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

/** Returns the environment without tokens (docs/reference/network.md, "Child processes"). */
export const withoutTokens = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^(?:MERGEQ_TOKEN(?:_FILE|_COMMAND)?|TRUNK_API_TOKEN)$/i.test(name),
    ),
  )

/** Whether variables give the token for an origin, so that none is taken from the stored settings. */
export const isTokenInEnvironment = (env: Environment, origin: string): boolean =>
  !isBlankToken(env.MERGEQ_TOKEN ?? '') ||
  (env.MERGEQ_TOKEN_FILE ?? '') !== '' ||
  !/^(?:off)?$/i.test(env.MERGEQ_TOKEN_COMMAND?.trim() ?? '') ||
  (!isBlankToken(env.TRUNK_API_TOKEN ?? '') && origin === defaultOrigin)
