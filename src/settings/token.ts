import { Failure, usage } from '../failure.ts'
import type { Environment } from '../world/world.ts'

/** The token that opens the service, and where it came from. */
export interface Token {
  readonly value: string
  readonly origin: string
}

const mostCharacters = 4096
const defaultOrigin = 'https://api.trunk.io'

/**
 * Takes a token as it was given: trimmed of ASCII white space it must be 1 to 4096 visible ASCII characters. What is
 * refused is named by code point and position, counted in the value as given; the value is never shown.
 */
export function tokenFrom(value: string, origin: string): Token {
  const trimmed = value.replace(/^[\t\n\v\f\r ]+|[\t\n\v\f\r ]+$/g, '')
  const bad = /[^\x21-\x7e]/u.exec(trimmed)
  if (bad !== null) {
    const position = value.indexOf(trimmed) + bad.index + 1
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    throw usage(
      `${origin} is not a token: it holds the character U+${code} at position ${position}.`,
      'Copy the token again, without quotes, spaces or line breaks inside.',
    )
  }
  if (trimmed.length > mostCharacters)
    throw usage(`${origin} is not a token: it is longer than ${mostCharacters} characters.`)
  return { value: trimmed, origin }
}

/** The token for a base address (CLI.md section 3); an `auth` failure when there is none. */
export function findToken(env: Environment, baseUrl: string): Token {
  const blank = (name: string) => /^[\t\n\v\f\r ]*$/.test(env[name] ?? '')
  if (!blank('MERGEQ_TOKEN')) return tokenFrom(env.MERGEQ_TOKEN ?? '', 'MERGEQ_TOKEN')
  if (!blank('TRUNK_API_TOKEN') && new URL(baseUrl).origin === defaultOrigin)
    return tokenFrom(env.TRUNK_API_TOKEN ?? '', 'TRUNK_API_TOKEN')
  if (env.MERGEQ_TOKEN !== undefined)
    throw new Failure('auth', 'there is no token: MERGEQ_TOKEN is set but empty.', {
      hint: 'CI does this for pull requests from forks, which get no secrets. Set MERGEQ_TOKEN to an API token.',
    })
  throw new Failure('auth', 'there is no token.', {
    hint: 'Set MERGEQ_TOKEN to an API token of your organization.',
  })
}
