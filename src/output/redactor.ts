/** The shortest secret that is redacted; a shorter text could be part of ordinary words. */
const minSecretLength = 8
const placeholder = '[REDACTED]'

/** Replaces secrets in all output: as text, percent-encoded, in base64 and escaped in JSON. */
export interface Redactor {
  /** Adds a secret to redact from now on. A secret of less than 8 characters is ignored. */
  hide(secret: string): void
  /** Valid JSON stays valid. */
  redact(text: string): string
  /** Bytes without a secret are returned unchanged. */
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Creates a redactor for bytes that arrive in pieces; a secret may be split between pieces. */
  createStream(): RedactedStream
}

/** Redacts bytes that arrive in pieces. */
interface RedactedStream {
  /** Returns the bytes that can be written now. The last ones are kept back: a secret may begin in them. */
  push(bytes: Uint8Array): Uint8Array
  /** Returns the bytes that were kept back. */
  flush(): Uint8Array
}

/**
 * A secret and its base64 forms in both alphabets. Its base64 form depends on the position in the encoded
 * text; characters that also hold bits of neighboring bytes are omitted.
 */
function formsOf(secret: string): readonly string[] {
  const encoded = [0, 1, 2].map(shift => {
    const form = Buffer.from(`${'x'.repeat(shift)}${secret}`)
      .toString('base64')
      .replace(/=+$/, '')
    return form.slice(shift === 0 ? 0 : shift + 1, -1)
  })
  return [secret, ...encoded, ...encoded.map(form => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

const eitherCase = (hex: string): string => hex.replace(/[a-f]/g, digit => `[${digit}${digit.toUpperCase()}]`)

const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Backslashes before a character. A service quotes what it was sent: each escape may be escaped once more. */
const backslashes = '(?:\\\\|%5[Cc])'

/**
 * Returns patterns for a character escaped in JSON (`\"`, `\u0022`) or percent-encoded (`%22`); several, where a
 * match may be the beginning of another.
 */
function createEscapePatterns(character: string): readonly RegExp[] {
  const code = character.charCodeAt(0)
  const hex = code.toString(16).padStart(4, '0')
  const percent = code < 128 ? [`%(?:25){0,2}${eitherCase(hex.slice(2))}`] : []
  const quoted = ['"', '/'].includes(character)
    ? [`${backslashes}{1,4}(?:${[unicodeEscape(character), ...percent].join('|')})`]
    : character === '\\'
      ? ['\\\\{2}', ...percent.map(encoded => `\\\\${encoded}`)]
      : []
  return [`\\\\{1,4}u${eitherCase(hex)}`, ...percent, ...quoted].map(source => new RegExp(source, 'y'))
}

const escapePatterns = new Map<string, readonly RegExp[]>()

/** Whether a character can begin an escape. */
const isEscape = (character: string): boolean => character === '\\' || character === '%'

/** Returns every index at which a character can end that begins at `from`, as it is or escaped. */
function characterEnds(character: string, text: string, from: number): readonly number[] {
  const ends = text.charAt(from) === character ? [from + 1] : []
  if (!isEscape(text.charAt(from))) return ends
  const patterns = escapePatterns.get(character) ?? createEscapePatterns(character)
  escapePatterns.set(character, patterns)
  for (const pattern of patterns) {
    pattern.lastIndex = from
    if (pattern.test(text)) ends.push(pattern.lastIndex)
  }
  return ends
}

/** Returns the index at which a form of a secret ends that begins at `from`; undefined where it does not. */
function formEnd(form: string, text: string, from: number): number | undefined {
  let ends: readonly number[] = [from]
  for (let index = 0; index < form.length && ends.length > 0; index++) {
    const character = form.charAt(index)
    const [only = 0] = ends
    ends =
      ends.length === 1
        ? characterEnds(character, text, only)
        : [...new Set(ends.flatMap(end => characterEnds(character, text, end)))]
  }
  return ends.length === 0 ? undefined : Math.max(...ends)
}

/** A fast pattern for the places where a form may begin: its first character, as it is or escaped. */
function createStartPattern(forms: readonly string[]): RegExp {
  const plain = forms.map(
    form => `${unicodeEscape(form.charAt(0))}(?=[${unicodeEscape(form.charAt(1))}\\\\%])`,
  )
  const escaped = forms.flatMap(form => createEscapePatterns(form.charAt(0)).map(({ source }) => source))
  return new RegExp([...new Set([...plain, ...escaped])].join('|'), 'g')
}

interface Search {
  readonly forms: readonly string[]
  readonly start: RegExp
}

function createSearch(secrets: ReadonlySet<string>): Search {
  const forms = [...secrets].flatMap(formsOf)
  return { forms, start: createStartPattern(forms) }
}

/** Returns the text with every match replaced, and the index in the text after the last one. */
function replaceMatches(text: string, { forms, start }: Search): readonly [replaced: string, end: number] {
  let [replaced, end] = ['', 0]
  start.lastIndex = 0
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const { index } = found
    const first = text.charAt(index)
    const candidates = isEscape(first) ? forms : forms.filter(form => form.charAt(0) === first)
    const ends = candidates.flatMap(form => formEnd(form, text, index) ?? [])
    start.lastIndex = index + 1
    if (ends.length === 0) continue
    let slashes = 0
    while (index - slashes > end && text[index - slashes - 1] === '\\') slashes++
    // A single backslash that stays before the placeholder would escape it.
    replaced += `${text.slice(end, index - (slashes % 2))}${placeholder}`
    end = Math.max(...ends)
    start.lastIndex = end
  }
  return [replaced, end]
}

/**
 * Converts bytes to a text with a character for each byte, and back: bytes that are not UTF-8 stay
 * unchanged.
 */
const toText = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
const toBytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')

export function createRedactor(): Redactor {
  const secrets = new Set<string>()
  let search: Search | undefined
  /** The length of the longest spelling of a secret: base64, with nine characters for each of its own. */
  let longest = 0
  const replace = (text: string) => {
    search ??= createSearch(secrets)
    return replaceMatches(text, search)
  }
  const redact = (text: string): string => {
    if (secrets.size === 0) return text
    const [replaced, end] = replace(text)
    return end === 0 ? text : replaced + text.slice(end)
  }
  return {
    hide(secret) {
      if (secret.length < minSecretLength || secrets.has(secret)) return
      secrets.add(secret)
      search = undefined
      longest = Math.max(longest, ...formsOf(secret).map(form => 9 * form.length))
    },
    redact,
    redactBytes(bytes) {
      if (secrets.size === 0) return bytes
      const text = toText(bytes)
      const redacted = redact(text)
      return redacted === text ? bytes : toBytes(redacted)
    },
    createStream() {
      let kept = ''
      return {
        push(bytes) {
          if (secrets.size === 0 && kept === '') return bytes
          const text = kept + toText(bytes)
          const [replaced, end] = replace(text)
          const ready = Math.max(end, text.length - longest)
          kept = text.slice(ready)
          return toBytes(replaced + text.slice(end, ready))
        },
        flush() {
          const last = redact(kept)
          kept = ''
          return toBytes(last)
        },
      }
    },
  }
}
