import { minSecretLength } from '../domain/limits.ts'

const placeholder = '[REDACTED]'

/** Replaces secrets in all output: as text and in base64. Each character may be percent-encoded or escaped in JSON. */
export interface Redactor {
  /** Adds a secret to redact from now on. A secret of less than 8 characters is ignored. */
  hide(secret: string): void
  /** Valid JSON stays valid. */
  redact(text: string): string
  /** Bytes without a secret are returned unchanged. */
  redactBytes(bytes: Uint8Array): Uint8Array
}

/** A secret, and the secret in base64 in both alphabets, without padding. */
function formsOf(secret: string): readonly string[] {
  const encoded = Buffer.from(secret).toString('base64url')
  return [secret, encoded, encoded.replaceAll('-', '+').replaceAll('_', '/')]
}

/** Returns a pattern for hexadecimal digits in both cases. */
const hexPattern = (digits: string): string =>
  digits.replace(/[a-f]/g, digit => `[${digit}${digit.toUpperCase()}]`)

/** Returns a pattern for a UTF-16 unit in each spelling. Each has a limited length, so that a search takes linear time. */
function characterPattern(character: string): string {
  const plain = character.replace(/\W/, '\\$&')
  const percent = Buffer.from(character)
    .toString('hex')
    .replace(/../g, byte => `%${hexPattern(byte)}`)
  const quoted = /["/\\]/.test(character) ? `\\\\?${plain}` : plain
  const jsonEscape = hexPattern(character.charCodeAt(0).toString(16).padStart(4, '0'))
  return `(?:${quoted}|${percent}|\\\\u${jsonEscape})`
}

/** Returns a pattern for the first `length` characters of each form of secrets. */
const secretPattern = (secrets: Iterable<string>, length = Number.POSITIVE_INFINITY): RegExp => {
  const forms = new Set([...secrets].flatMap(formsOf).map(form => form.slice(0, length)))
  // The longest first: a shorter one can be its beginning.
  const sorted = [...forms].sort((a, b) => b.length - a.length)
  return new RegExp(sorted.map(form => form.split('').map(characterPattern).join('')).join('|'), 'g')
}

/** Returns what replaces a secret: a single backslash before the placeholder would escape it. */
function placeholderAt(index: number, text: string): string {
  let slashes = 0
  while (text[index - slashes - 1] === '\\') slashes++
  return slashes % 2 === 1 ? `\\${placeholder}` : placeholder
}

export function createRedactor(): Redactor {
  const secrets = new Set<string>()
  // The whole pattern takes some milliseconds to create: most texts have not even the beginning of a secret.
  let [beginning, whole]: readonly (RegExp | undefined)[] = []
  const redact = (text: string): string => {
    if (secrets.size === 0) return text
    beginning ??= secretPattern(secrets, 3)
    if (text.search(beginning) < 0) return text
    whole ??= secretPattern(secrets)
    return text.replace(whole, (_, index: number) => placeholderAt(index, text))
  }
  return {
    hide(secret) {
      if (secret.length < minSecretLength || secrets.has(secret)) return
      secrets.add(secret)
      beginning = undefined
      whole = undefined
    },
    redact,
    redactBytes(bytes) {
      // A text with a character for each byte: bytes that are not UTF-8 stay unchanged.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      const redacted = redact(text)
      return redacted === text ? bytes : Buffer.from(redacted, 'latin1')
    },
  }
}
