import { createPrefixPattern, findEnd } from './secret-spellings.ts'

/** The shortest secret that is redacted; a shorter text could be part of ordinary words. */
const minSecretLength = 8
const placeholder = '[REDACTED]'

/**
 * Replaces secrets in all output: unescaped, escaped, percent-encoded and in base64, in upper and lower
 * case.
 */
export interface Redactor {
  /** Adds a secret to redact from now on. A secret of less than 8 characters is ignored. */
  hide(secret: string): void
  /** Returns the text with every secret replaced. Valid JSON stays valid. */
  redact(text: string): string
  /** Returns the bytes with every secret replaced; bytes without a secret are returned unchanged. */
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Creates a redactor for bytes that arrive in pieces; a secret may be split between pieces. */
  createStream(): RedactedStream
}

/** Redacts bytes that arrive in pieces. */
interface RedactedStream {
  /**
   * Returns the bytes that can be written now. The last word is kept back: a secret may begin in that word.
   */
  push(bytes: Uint8Array): Uint8Array
  /** Returns the bytes that were kept back. */
  flush(): Uint8Array
}

/**
 * Returns the forms in which a secret may appear. Its base64 form depends on the position in the encoded
 * text; characters that also hold bits of neighboring bytes are omitted.
 */
function encodedForms(secret: string): readonly string[] {
  const encoded = [0, 1, 2].map(shift => {
    const bytes = new TextEncoder().encode(`${'x'.repeat(shift)}${secret}`)
    const form = btoa(String.fromCharCode(...bytes)).replace(/=+$/, '')
    return form.slice(shift === 0 ? 0 : shift + 1, -1)
  })
  return [secret, ...encoded, ...encoded.map(form => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

/** The start and end index of a secret in a text. */
interface SecretRange {
  readonly from: number
  readonly to: number
}

/** Returns the range of the next secret from an index on, or undefined when there is none. */
type Search = (text: string, from: number) => SecretRange | undefined

function createSearch(secrets: ReadonlySet<string>): Search {
  const forms = [
    ...new Set([...secrets].flatMap(encodedForms).filter(form => form.length >= minSecretLength)),
  ]
  const pattern = createPrefixPattern(forms)
  /** The forms that may begin with a character; an escape may represent any character. */
  const formsByCharacter = new Map<string, readonly string[]>()
  const formsStartingWith = (character: string): readonly string[] => {
    const isPlain = /[^\\%&"]/.test(character)
    const canStart = (form: string) => !isPlain || form.charAt(0).toLowerCase() === character.toLowerCase()
    const matching = formsByCharacter.get(character) ?? forms.filter(canStart)
    formsByCharacter.set(character, matching)
    return matching
  }
  return (text, start) => {
    for (pattern.lastIndex = start; ; ) {
      const match = pattern.exec(text)
      if (match === null) return undefined
      const { index } = match
      const to = Math.max(
        ...formsStartingWith(text.charAt(index)).map(form => findEnd(form, text, index) ?? 0),
      )
      pattern.lastIndex = index + 1
      if (to === 0) continue
      // A backslash that stays before the placeholder would escape it.
      let before = index
      while (before > start && text[before - 1] === '\\') before--
      return { from: index - ((index - before) % 2), to }
    }
  }
}

/**
 * Returns the text up to an index with every secret replaced, and the index where it ends: before a secret
 * that crosses `max`.
 */
function replaceSecrets(
  text: string,
  search: Search,
  max = text.length,
): readonly [kept: string, end: number] {
  let [kept, from, end] = ['', 0, max]
  for (let range = search(text, 0); range !== undefined && range.from < end; range = search(text, from)) {
    if (range.to > end) end = range.from
    else {
      kept += `${text.slice(from, range.from)}${placeholder}`
      from = range.to
    }
  }
  return [kept + text.slice(from, end), end]
}

/** The longest part of the last word that is kept back, in bytes: every form of a secret is shorter. */
const maxKeptLength = 32 * 1024

/** Returns the index where the last word of a text begins, at most `maxKeptLength` before its end. */
function lastWordStart(text: string): number {
  let start = text.length
  const min = Math.max(0, start - maxKeptLength)
  while (start > min && text.charCodeAt(start - 1) > 32) start--
  return start
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
  let currentSearch: Search | undefined
  const search: Search = (text, from) => {
    currentSearch ??= createSearch(secrets)
    return currentSearch(text, from)
  }
  const redact = (text: string): string => (secrets.size === 0 ? text : replaceSecrets(text, search)[0])
  return {
    hide(secret) {
      if (secret.length < minSecretLength || secrets.has(secret)) return
      secrets.add(secret)
      currentSearch = undefined
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
          const [ready, end] = replaceSecrets(text, search, lastWordStart(text))
          kept = text.slice(end)
          return toBytes(ready)
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
