import { maxTokenLength, minSecretLength } from '../values/limits.ts'

const placeholder = '[REDACTED]'

/** A secret, and the secret in base64 in both alphabets, without padding. */
function formsOf(secret: string): readonly string[] {
  const encoded = Buffer.from(secret).toString('base64url')
  return [secret, encoded, encoded.replaceAll('-', '+').replaceAll('_', '/')]
}

/** Returns a pattern for hexadecimal digits in both cases. */
const hexPattern = (digits: string): string =>
  digits.replace(/[a-f]/g, digit => `[${digit}${digit.toUpperCase()}]`)

/** The characters that JSON may have with a backslash before them. */
const mayBeQuoted = /["/\\]/

/** With digits in lower case. */
const percentEncoded = (character: string): string =>
  Buffer.from(character).toString('hex').replace(/../g, '%$&')

/** With digits in lower case. */
const jsonEscaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns a pattern for a UTF-16 unit in each spelling. Each has a limited length, so that a search takes linear time. */
function characterPattern(character: string): string {
  const plain = character.replace(/\W/, '\\$&')
  const quoted = mayBeQuoted.test(character) ? `\\\\?${plain}` : plain
  return `(?:${quoted}|${hexPattern(percentEncoded(character))}|\\${hexPattern(jsonEscaped(character))})`
}

/** The number of characters of a form that a pattern looks for: a pattern of all of them could be too large. */
const beginningLength = 3

/** Returns a pattern for the beginning of each form. */
const beginningPattern = (forms: readonly string[]): RegExp => {
  const beginnings = new Set(forms.map(form => form.slice(0, beginningLength)))
  const patterns = [...beginnings].map(text => text.split('').map(characterPattern).join(''))
  return new RegExp(patterns.join('|'), 'g')
}

/** Returns where each spelling of a UTF-16 unit that begins at an index of a text ends. */
function endsOfCharacter(character: string, text: string, start: number): readonly number[] {
  const ends: number[] = []
  const first = text[start]
  if (first === character) ends.push(start + 1)
  if (first === '\\' && text[start + 1] === character && mayBeQuoted.test(character)) ends.push(start + 2)
  if (first !== '%' && first !== '\\') return ends
  const spelling = first === '%' ? percentEncoded(character) : jsonEscaped(character)
  if (text.slice(start, start + spelling.length).toLowerCase() === spelling)
    ends.push(start + spelling.length)
  return ends
}

/** Returns where a form, in any spelling, that begins at an index of a text ends, or -1. */
function endOfForm(form: string, text: string, start: number): number {
  let ends: readonly number[] = [start]
  for (let index = 0; index < form.length && ends.length > 0; index++) {
    const next = ends.flatMap(end => endsOfCharacter(form.charAt(index), text, end))
    ends = next.length > 1 ? [...new Set(next)] : next
  }
  return Math.max(-1, ...ends)
}

/** Returns what replaces a secret: a single backslash before the placeholder would escape it. */
function placeholderAt(index: number, text: string): string {
  let slashes = 0
  while (text[index - slashes - 1] === '\\') slashes++
  return slashes % 2 === 1 ? `\\${placeholder}` : placeholder
}

export type Redactor = ReturnType<typeof createRedactor>

/** Creates what replaces secrets: as text, in base64, percent-encoded, or escaped in JSON, which stays valid. */
export function createRedactor() {
  const secrets = new Set<string>()
  let forms: readonly string[] = []
  let beginning: RegExp | undefined
  const redact = (text: string): string => {
    if (secrets.size === 0) return text
    beginning ??= beginningPattern(forms)
    let [result, from] = ['', 0]
    beginning.lastIndex = 0
    for (let found = beginning.exec(text); found !== null; found = beginning.exec(text)) {
      const { index } = found
      const end = Math.max(...forms.map(form => endOfForm(form, text, index)))
      beginning.lastIndex = Math.max(end, index + 1)
      if (end < 0) continue
      result += text.slice(from, index) + placeholderAt(index, text)
      from = end
    }
    return from === 0 ? text : result + text.slice(from)
  }
  return {
    /** Adds a secret, unless it has less than 8 characters, or more than a token. */
    hide(secret: string): void {
      if (secret.length < minSecretLength || secret.length > maxTokenLength || secrets.has(secret)) return
      secrets.add(secret)
      forms = [...new Set([...secrets].flatMap(formsOf))]
      beginning = undefined
    },
    redact,
    /** Bytes without a secret are returned unchanged. */
    redactBytes(bytes: Uint8Array): Uint8Array {
      // A text with a character for each byte: bytes that are not UTF-8 stay unchanged.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      const redacted = redact(text)
      return redacted === text ? bytes : Buffer.from(redacted, 'latin1')
    },
  }
}
