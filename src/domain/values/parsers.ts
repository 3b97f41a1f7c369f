import { usageError } from '../../errors.ts'

/** A repository as the service names it (service-api.md section 2.1). */
export interface Repository {
  readonly host: string
  readonly owner: string
  readonly name: string
}

/** `host/owner/name`, as receipts and messages name a repository. */
export const repositoryName = ({ host, owner, name }: Repository): string => `${host}/${owner}/${name}`

const defaultHost = 'github.com'
const looksLikeHost = (part: string): boolean => /[.:]/.test(part) || part === 'localhost'
const repositoryPart = /^[\p{L}\p{N}._~-]+$/u
const hostPart = /^[\p{L}\p{N}.-]+(:\d+)?$/u

/** Reads `[host/]owner/name`; the owner may hold slashes. Refuses everything else with a usage failure. */
export function parseRepository(word: string): Repository {
  const refuse = () =>
    usageError(
      `'${word}' is not a repository.`,
      'Write it as owner/name or host/owner/name, for example acme/web or github.com/acme/web.',
    )
  const parts = word.split('/')
  const host = parts.length > 2 && looksLikeHost(parts[0] ?? '') ? (parts.shift() ?? '') : defaultHost
  const name = parts.pop() ?? ''
  if (parts.length === 0 || !hostPart.test(host)) throw refuse()
  for (const part of [...parts, name]) {
    if (!repositoryPart.test(part) || part === '.' || part === '..') throw refuse()
  }
  return { host, owner: parts.join('/'), name }
}

/** The largest pull request number that the service takes (service-observed.md section 1.1). */
export const maxPullRequestNumber = 4_294_967_295

const pullRequestAddress = /^https?:\/\/([^/?#\s@]+)\/([^?#\s]+)\/(?:pull|-\/merge_requests)\/(\d+)\/?$/

const isNumber = (word: string): boolean =>
  /^#?(?:0|[1-9]\d{0,9})$/.test(word) && Number(word.replace('#', '')) <= maxPullRequestNumber

/** Whether the word has the form of a pull request: `123`, `#123` or an address. */
export const isPullRequestReference = (word: string): boolean =>
  (isNumber(word) && !/^#?0$/.test(word)) || pullRequestAddress.test(word)

/** A pull request as typed; an address also names the repository (CLI.md section 1). */
export function parsePullRequest(word: string): { readonly number: number; readonly repo?: string } {
  const [, host, path, number = ''] = pullRequestAddress.exec(word) ?? []
  if (host !== undefined && path !== undefined && looksLikeHost(host) && isPullRequestReference(number))
    return { number: Number(number), repo: `${host}/${path}` }
  if (!isPullRequestReference(word) || host !== undefined)
    throw usageError(
      `'${word}' is not a pull request.`,
      `Give its number (123 or #123, at most ${maxPullRequestNumber}) or its address.`,
    )
  return { number: Number(word.replace('#', '')) }
}

const units = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
])

/** The longest duration that is taken: 10,000 weeks, far below what a clock can count. */
const longest = 10_000 * 604_800_000

/** Reads a duration (`90s`, `1h30m`, a bare `0`) as milliseconds. */
export function parseDuration(word: string): number {
  if (word === '0') return 0
  const pieces = [...word.matchAll(/(\d+)(ms|[smhdw])/g)]
  const total = pieces.reduce((sum, [, count, unit]) => sum + Number(count) * (units.get(unit ?? '') ?? 0), 0)
  if (pieces.length === 0 || pieces.map(([piece]) => piece).join('') !== word || total > longest)
    throw usageError(
      `'${word}' is not a duration.`,
      'Write whole numbers with ms, s, m, h, d or w, which may be joined: 90s, 1h30m, 2d.',
    )
  return total
}

const sizeUnits = new Map([
  ['KiB', 1024],
  ['MiB', 1024 * 1024],
])
const maxAnswerSize = 256 * 1024 * 1024

/** Reads the size of an answer (`512KiB`, `64MiB`) as bytes: at least 1 KiB, at most 256 MiB. */
export function answerSize(word: string): number {
  const [, number = '', unit = ''] = /^([1-9]\d{0,8})([KM]iB)$/.exec(word) ?? []
  const bytes = Number(number) * (sizeUnits.get(unit) ?? 0)
  if (bytes === 0)
    throw usageError(`'${word}' is not a size.`, 'Write a whole number with KiB or MiB, for example 128MiB.')
  if (bytes > maxAnswerSize) throw usageError(`'${word}' is more than 256MiB.`, 'Give at most 256MiB.')
  return bytes
}

const leastPause = 1_000
const longestPause = 86_400_000

/** Reads the pause between two readings as milliseconds: a duration of at least a second, and of at most a day. */
export function parseInterval(word: string): number {
  const length = parseDuration(word)
  if (length < leastPause)
    throw usageError(`'${word}' is shorter than a second.`, 'Read at most once a second.')
  if (length > longestPause) throw usageError(`'${word}' is longer than a day.`, 'Read at least once a day.')
  return length
}

const dateAlone = /^\d{4}-\d{2}-\d{2}$/
const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/** Reads an instant (RFC 3339 with its offset or `Z`, or a date alone) as milliseconds since 1970. */
export function parseInstant(word: string): number {
  const whole = dateAlone.test(word) ? `${word}T00:00:00Z` : word
  const [, day] = dateTime.exec(whole) ?? []
  const time = day === undefined ? Number.NaN : Date.parse(whole.toUpperCase().replace(' ', 'T'))
  const real = day !== undefined && new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice(8))
  if (Number.isNaN(time) || !real)
    throw usageError(
      `'${word}' is not an instant.`,
      'Write RFC 3339 with an offset or Z (2026-01-05T09:30:00Z), or a date alone (2026-01-05).',
    )
  return time
}

/** Reads a whole number between two bounds, both inclusive, in plain digits. */
export const integerParser =
  (least: number, most: number) =>
  (word: string): number => {
    if (!/^(?:0|[1-9]\d{0,15})$/.test(word) || Number(word) < least || Number(word) > most)
      throw usageError(`'${word}' is not a whole number from ${least} to ${most}.`)
    return Number(word)
  }

/** The largest number that the service's integers hold (service-observed.md section 3.1). */
export const maxInteger = 4_294_967_295

/** The priorities that have a name, the most urgent first. */
export const priorities = ['urgent', 'high', 'medium', 'low']

/** Reads a priority: a name goes on the wire as the name, a number from 0 to 255 as an integer (CLI.md section 8). */
export function parsePriority(word: string): string | number {
  if (priorities.includes(word.toLowerCase())) return word.toLowerCase()
  if (/^(?:0|[1-9]\d{0,2})$/.test(word) && Number(word) <= 255) return Number(word)
  throw usageError(
    `'${word}' is not a priority.`,
    'Use urgent, high, medium, low, or a number from 0 to 255 (0 is first).',
  )
}

/** Reads a test's UUID, in either case; it goes on the wire as it was typed. */
export function parseUuid(word: string): string {
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word))
    throw usageError(`'${word}' is not a test id.`, 'A test id is a UUID, as `mergeq flaky list` prints it.')
  return word
}

/** Reads a number that may have a fraction. */
export function parseDecimal(word: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(word)) throw usageError(`'${word}' is not a number.`)
  return Number(word)
}

/** What nobody sees, joiners inside emoji excepted, and blanks around a text: they are mistakes, or worse. */
const hidden = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]|^\s|\s$/u

/** Takes any text that is not empty and can be seen. */
export const textParser =
  (what: string) =>
  (word: string): string => {
    if (word === '') throw usageError(`The ${what} must not be empty.`)
    if (hidden.test(word))
      throw usageError(`The ${what} holds blanks around it or characters that cannot be seen.`)
    return word
  }

/** Takes one of a few words, in any case. */
export const choiceParser =
  <const C extends string>(choices: readonly C[]) =>
  (word: string): C => {
    const found = choices.find(choice => choice === word.toLowerCase())
    if (found === undefined) throw usageError(`'${word}' is none of ${choices.join(', ')}.`)
    return found
  }
