import { minSecretLength } from '../domain/limits.ts'

const placeholder = '[REDACTED]'

/**
 * Replaces secrets in all output: as text, percent-encoded, in base64 and escaped in JSON, as encoders write
 * them. A character that is percent-encoded without need (`%41`) is not recognized.
 */
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

/** As a part of an address and as a whole address, with hexadecimal digits in both cases. */
function percentEncode(text: string): readonly string[] {
  // Half a surrogate pair cannot be percent-encoded; it becomes a replacement character.
  const wellFormed = Buffer.from(text).toString()
  return [encodeURIComponent(wellFormed), encodeURI(wellFormed)].flatMap(encoded => [
    encoded,
    encoded.replace(/%../g, code => code.toLowerCase()),
  ])
}

const quote = (text: string): string => JSON.stringify(text).slice(1, -1)

const quoteSlashes = (text: string): string => quote(text).replaceAll('/', '\\/')

/** As encoders of JSON write it, and once more: a service quotes what it was sent. */
function escapeJson(text: string): readonly string[] {
  const once = [quote(text), quoteSlashes(text)]
  return [...once, ...once.map(quote), quoteSlashes(quoteSlashes(text))]
}

/** Returns JSON without needless escapes: `\u0074` is a `t`, and so is `\\u0074` of JSON that is quoted in JSON. */
const removeEscapes = (text: string): string =>
  text.replace(/(\\+)u00([2-7][\da-f])/gi, (whole: string, { length }: string, hex: string) => {
    const character = quote(String.fromCharCode(Number.parseInt(hex, 16)))
    if (length > 2) return whole
    return length === 2 ? quote(character) : character
  })

/** Returns all texts that are redacted for a secret: most are equal for one of letters and digits. */
function spellingsOf(secret: string): readonly string[] {
  return formsOf(secret).flatMap(form => {
    if (/^[\w.~-]*$/.test(form)) return [form]
    const encoded = [form, quote(form), quoteSlashes(form)].flatMap(percentEncode)
    return [form, ...encoded, ...encoded.map(encodeURIComponent), ...escapeJson(form)]
  })
}

/** Returns what replaces a spelling: a single backslash before the placeholder would escape it. */
function placeholderAt(index: number, text: string): string {
  let slashes = 0
  while (text[index - slashes - 1] === '\\') slashes++
  return slashes % 2 === 1 ? `\\${placeholder}` : placeholder
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
  /** The texts to redact, the longest first: a shorter one can be its beginning. */
  let spellings: readonly string[] = []
  const replaceSpellings = (text: string): string =>
    spellings.reduce(
      (redacted, spelling) =>
        redacted.replaceAll(spelling, (_, index: number, whole: string) => placeholderAt(index, whole)),
      text,
    )
  const redact = (text: string): string => {
    const redacted = replaceSpellings(text)
    if (!/\\[uU]00/.test(redacted)) return redacted
    const decoded = removeEscapes(redacted)
    const withoutEscapes = replaceSpellings(decoded)
    return withoutEscapes === decoded ? redacted : withoutEscapes
  }
  return {
    hide(secret) {
      if (secret.length < minSecretLength || secrets.has(secret)) return
      secrets.add(secret)
      spellings = [...new Set([...spellings, ...spellingsOf(secret)])].sort((a, b) => b.length - a.length)
    },
    redact,
    redactBytes(bytes) {
      const text = toText(bytes)
      const redacted = redact(text)
      return redacted === text ? bytes : toBytes(redacted)
    },
    createStream() {
      let kept = ''
      return {
        push(bytes) {
          const text = redact(kept + toText(bytes))
          const [longest = ''] = spellings
          // A character can be escaped as `\\u0074`.
          const ready = Math.max(0, text.length - 7 * longest.length)
          kept = text.slice(ready)
          return toBytes(text.slice(0, ready))
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
