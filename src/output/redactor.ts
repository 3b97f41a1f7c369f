import { beginnings, endOf } from './secret-spellings.ts'

/** Shorter secrets are not hidden: they would take ordinary words with them. */
const shortest = 8
const mark = '[REDACTED]'

/** Hides secrets in everything that is written: raw, escaped, percent-encoded and in base64, in any letter case. */
export interface Redactor {
  /** Hides this text from now on. */
  hide(secret: string): void
  /** The text with every secret replaced; JSON stays JSON. */
  redact(text: string): string
  /** The same of bytes; those without a secret come back untouched. */
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Redacts bytes that come in pieces; a secret may lie across several of them. */
  pieces(): Pieces
}

/** Bytes that come in pieces. */
export interface Pieces {
  /** What can be written now; the last word is kept back, because a secret may begin in it. */
  take(bytes: Uint8Array): Uint8Array
  /** What was kept back. */
  rest(): Uint8Array
}

/**
 * The forms in which a secret may show. Base64 differs with where in the encoded text the secret begins; characters
 * that also hold bits of its neighbours are left off.
 */
function formsOf(secret: string): readonly string[] {
  const encoded = [0, 1, 2].map(shift => {
    const bytes = new TextEncoder().encode(`${'x'.repeat(shift)}${secret}`)
    const form = btoa(String.fromCharCode(...bytes)).replace(/=+$/, '')
    return form.slice(shift === 0 ? 0 : shift + 1, -1)
  })
  return [secret, ...encoded, ...encoded.map(form => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

/** Where in a text a secret was found. */
interface Place {
  readonly from: number
  readonly to: number
}

/** Finds the next place of any secret in a text from an index on; undefined where there is none. */
type Search = (text: string, from: number) => Place | undefined

function searchFor(secrets: ReadonlySet<string>): Search {
  const forms = [...new Set([...secrets].flatMap(formsOf).filter(form => form.length >= shortest))]
  const pattern = beginnings(forms)
  /** The forms that may begin with a character; an escape may stand for any. */
  const formsBy = new Map<string, readonly string[]>()
  const formsAt = (character: string): readonly string[] => {
    const isPlain = /[^\\%&"]/.test(character)
    const own = (form: string) => !isPlain || form.charAt(0).toLowerCase() === character.toLowerCase()
    const those = formsBy.get(character) ?? forms.filter(own)
    formsBy.set(character, those)
    return those
  }
  return (text, start) => {
    for (pattern.lastIndex = start; ; ) {
      const found = pattern.exec(text)
      if (found === null) return undefined
      const { index } = found
      const to = Math.max(...formsAt(text.charAt(index)).map(form => endOf(form, text, index) ?? 0))
      pattern.lastIndex = index + 1
      if (to === 0) continue
      // A backslash that is left alone would escape the mark.
      let before = index
      while (before > start && text[before - 1] === '\\') before--
      return { from: index - ((index - before) % 2), to }
    }
  }
}

/** The text up to an index with every secret replaced, and where it ends: before a secret that goes on behind it. */
function replaced(text: string, search: Search, most = text.length): readonly [kept: string, end: number] {
  let [kept, from, end] = ['', 0, most]
  for (let place = search(text, 0); place !== undefined && place.from < end; place = search(text, from)) {
    if (place.to > end) end = place.from
    else {
      kept += `${text.slice(from, place.from)}${mark}`
      from = place.to
    }
  }
  return [kept + text.slice(from, end), end]
}

/** More of a last word is not kept back: a secret, however it is spelled, is shorter. */
const longestKept = 32 * 1024

/** Where the last word of a text begins, if that is not too long. */
function lastWord(text: string): number {
  let start = text.length
  const least = Math.max(0, start - longestKept)
  while (start > least && text.charCodeAt(start - 1) > 32) start--
  return start
}

/** Bytes as a text of as many characters, and back: what is no UTF-8 stays as it is. */
const asText = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
const asBytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')

/** Makes a redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  const secrets = new Set<string>()
  let made: Search | undefined
  const search: Search = (text, from) => {
    made ??= searchFor(secrets)
    return made(text, from)
  }
  const redact = (text: string): string => (secrets.size === 0 ? text : replaced(text, search)[0])
  return {
    hide(secret) {
      if (secret.length < shortest || secrets.has(secret)) return
      secrets.add(secret)
      made = undefined
    },
    redact,
    redactBytes(bytes) {
      if (secrets.size === 0) return bytes
      const text = asText(bytes)
      const redacted = redact(text)
      return redacted === text ? bytes : asBytes(redacted)
    },
    pieces() {
      let kept = ''
      return {
        take(bytes) {
          if (secrets.size === 0 && kept === '') return bytes
          const text = kept + asText(bytes)
          const [ready, end] = replaced(text, search, lastWord(text))
          kept = text.slice(end)
          return asBytes(ready)
        },
        rest() {
          const last = redact(kept)
          kept = ''
          return asBytes(last)
        },
      }
    },
  }
}
