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

/**
 * A pattern for a character as it is, escaped in JSON (`\"`, `\u0022`), or percent-encoded (`%22`). Each
 * escape may be escaped once more: a service quotes what it was sent.
 */
function patternOf(character: string): string {
  const code = character.charCodeAt(0)
  const hex = code.toString(16).padStart(4, '0')
  const backslashes = '(?:\\\\|%5[Cc]){0,4}'
  const escapes = new Map([
    ['"', backslashes],
    ['/', backslashes],
    ['\\', '\\\\?'],
  ])
  const backslash = escapes.get(character) ?? ''
  const percent = code < 128 ? `|%(?:25){0,2}${eitherCase(hex.slice(2))}` : ''
  return `(?:${backslash}(?:\\u${hex}${percent})|\\\\{1,4}u${eitherCase(hex)})`
}

/** How many characters of a form are matched one by one; a longer pattern would be too large. */
const maxMatched = 512

/** A pattern for a form of a secret; after its first 512 characters, everything up to a space or quote counts. */
const formPattern = (form: string): string => {
  const start = form.slice(0, maxMatched).split('').map(patternOf).join('')
  return form.length > maxMatched ? `${start}[^\\s"\\\\]*` : start
}

/** A pattern for every form of the secrets. */
const createPattern = (secrets: ReadonlySet<string>): RegExp =>
  new RegExp([...secrets].flatMap(formsOf).map(formPattern).join('|'), 'g')

/** Returns the text with every match replaced, and the index in the text after the last one. */
function replaceMatches(text: string, pattern: RegExp): readonly [replaced: string, end: number] {
  let [replaced, end] = ['', 0]
  for (const { 0: match, index } of text.matchAll(pattern)) {
    let slashes = 0
    while (index - slashes > end && text[index - slashes - 1] === '\\') slashes++
    // A single backslash that stays before the placeholder would escape it.
    replaced += `${text.slice(end, index - (slashes % 2))}${placeholder}`
    end = index + match.length
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

/** Creates a redactor without secrets. */
export function createRedactor(): Redactor {
  const secrets = new Set<string>()
  let pattern: RegExp | undefined
  /** The length of the longest spelling of a secret: base64, with nine characters for each of its own. */
  let longest = 0
  const replace = (text: string) => {
    pattern ??= createPattern(secrets)
    return replaceMatches(text, pattern)
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
      pattern = undefined
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
