import { MergeqError, usageError } from '../errors.ts'
import type { Environment } from '../host/host.ts'
import type { ResolvedValue } from './source.ts'
import { type Store, sectionOf } from './store.ts'

/** The token that opens the service, and where it came from. */
export interface Token {
  readonly value: string
  readonly source: string
  /** Whether it comes from the stored settings, which name the one origin that it is for. */
  readonly isStored?: boolean
}

const maxTokenLength = 4096
const defaultOrigin = 'https://api.trunk.io'
const blank = /^[\t\n\v\f\r ]*$/

/**
 * Takes a token as it was given: trimmed of ASCII white space it must be 1 to 4096 visible ASCII characters. What is
 * refused is named by code point and position, counted in the value as given; the value is never shown.
 */
export function parseToken(value: string, source: string): Token {
  const trimmed = value.replace(/^[\t\n\v\f\r ]+|[\t\n\v\f\r ]+$/g, '')
  if (trimmed === '') throw usageError(`${source} is empty.`, 'Give an API token of your organization.')
  const bad = /[^\x21-\x7e]/u.exec(trimmed)
  if (bad !== null) {
    const position = value.indexOf(trimmed) + bad.index + 1
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    throw usageError(
      `${source} is not a token: it holds the character U+${code} at position ${position}.`,
      'Copy the token again, without quotes, spaces or line breaks inside.',
    )
  }
  if (trimmed.length > maxTokenLength)
    throw usageError(`${source} is not a token: it is longer than ${maxTokenLength} characters.`)
  return { value: trimmed, source }
}

/** Whether MERGEQ_TOKEN is set but empty, as CI does for pull requests from forks. */
export const isTokenVariableEmpty = ({ MERGEQ_TOKEN }: Environment): boolean =>
  MERGEQ_TOKEN !== undefined && blank.test(MERGEQ_TOKEN)

/** Why an empty variable is no mistake of the person who reads this. */
export const emptyTokenNote =
  'MERGEQ_TOKEN is set but empty: CI does this for pull requests from forks, which get no secrets.'

/**
 * The token for an origin (CLI.md section 3): MERGEQ_TOKEN, TRUNK_API_TOKEN for the default origin only, then the one
 * that is stored for exactly this origin. An `auth` failure when there is none.
 */
export async function findToken(env: Environment, baseUrl: string, store: Store): Promise<Token> {
  const { origin } = new URL(baseUrl)
  const { MERGEQ_TOKEN: own = '', TRUNK_API_TOKEN: other = '' } = env
  if (!blank.test(own)) return parseToken(own, 'MERGEQ_TOKEN')
  if (!blank.test(other) && origin === defaultOrigin) return parseToken(other, 'TRUNK_API_TOKEN')
  const tokens = sectionOf(await store.read(), 'tokens')
  const stored = Object.hasOwn(tokens, origin) ? tokens[origin] : undefined
  if (typeof stored === 'string')
    return { ...parseToken(stored, `the stored token for ${origin}`), isStored: true }
  const owners = Object.keys(tokens)
  if (owners.length > 0)
    throw new MergeqError(
      'auth',
      `there is no token for ${origin}: the stored one belongs to ${owners.join(', ')}.${isTokenVariableEmpty(env) ? ` ${emptyTokenNote}` : ''}`,
      {
        hint: `It is never sent elsewhere. Log in there with \`mergeq auth login --base-url ${baseUrl}\`, or set MERGEQ_TOKEN.`,
      },
    )
  throw new MergeqError(
    'auth',
    isTokenVariableEmpty(env) ? `there is no token. ${emptyTokenNote}` : 'there is no token.',
    {
      hint: 'Set MERGEQ_TOKEN to an API token of your organization, or store one with `mergeq auth login`.',
    },
  )
}

/**
 * Refuses a base address that somebody else may have written, for a token that is not stored beside it (WIRE.md section
 * 4): a usage failure. Going on with the default address would send the token to a service that it may not be for.
 */
export function refuseForeignAddress({ source, isStored }: Token, address: ResolvedValue | undefined): void {
  if (isStored === true || address?.foreign === undefined) return
  throw usageError(
    `The stored base address ${address.value} does not decide where ${source} is sent: ${address.foreign}.`,
    'Give --base-url or set MERGEQ_BASE_URL yourself, or name a folder of your own in MERGEQ_CONFIG_DIR; `mergeq doctor` shows who may use the stored settings.',
  )
}
