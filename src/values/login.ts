import { usageError } from '../base/errors.ts'
import { textParser } from './text.ts'

/** Parses the login of a user, which may begin with `@`. */
export function parseLogin(text: string): string {
  const login = textParser('user')(text).replace(/^@/, '')
  if (login === 'me' || !/^[\w.[\]-]+$/.test(login))
    throw usageError(`'${text}' is not a login.`, 'Use your login, such as octocat.')
  return login
}

/** Whether two logins are those of one user: GitHub compares them without case. */
export const isSameLogin = (one: string | undefined, other: string): boolean =>
  one?.toLowerCase() === other.replace(/^@/, '').toLowerCase()
