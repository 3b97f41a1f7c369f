/** Shorter secrets are not hidden: they would take ordinary words with them. */
const shortest = 8
const mark = '[REDACTED]'

/** Hides secrets in everything that is written: raw, percent-encoded and in base64. */
export interface Redactor {
  /** Hides this text from now on. */
  hide(secret: string): void
  /** The text with every secret replaced. Bytes without one come back untouched. */
  redact<T extends string | Uint8Array>(text: T): T | string
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

const percented = (character: string): string => {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0')
  return `%${[...hex].map(digit => `[${digit}${digit.toUpperCase()}]`).join('')}`
}

const quoted = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Finds where a secret may begin, its characters as they are or escaped; short, whatever the secret's length. */
const headOf = (secret: string): RegExp =>
  new RegExp(
    secret
      .slice(0, 4)
      .split('')
      .map(one => `(?:\\\\?${quoted(one)}|${percented(one)})[\\\\"\\u200C]?`)
      .join(''),
    'g',
  )

/**
 * Where a secret that begins at a place of the text ends; undefined where another text stands. Any character of it may
 * be percent-encoded, escaped by a backslash (JSON, Markdown) or doubled (CSV).
 */
function endOf(secret: string, text: string, from: number): number | undefined {
  let at = from
  for (const one of secret.split('')) {
    if (text[at] === '%' && Number.parseInt(text.slice(at + 1, at + 3), 16) === one.charCodeAt(0)) at += 3
    else if (text[at] === one) at += (one === '"' || one === '\\') && text[at + 1] === one ? 2 : 1
    else if (text[at] === '\\' && text[at + 1] === one) at += 2
    else return undefined
    if (text[at] === '\u200C') at++
  }
  return at
}

function withoutEscaped(secret: string, head: RegExp, text: string): string {
  let [kept, from] = ['', 0]
  for (const { index } of text.matchAll(head)) {
    const end = index < from ? undefined : endOf(secret, text, index)
    if (end === undefined) continue
    kept += `${text.slice(from, index)}${mark}`
    from = end
  }
  return kept + text.slice(from)
}

/** Makes a redactor that knows no secret yet. */
export function openRedactor(): Redactor {
  const forms = new Set<string>()
  const heads = new Map<string, RegExp>()
  const decoder = new TextDecoder()
  return {
    hide(secret) {
      if (secret.length < shortest) return
      heads.set(secret, headOf(secret))
      for (const form of formsOf(secret)) if (form.length >= shortest) forms.add(form)
    },
    redact(text) {
      if (forms.size === 0) return text
      const plain = typeof text === 'string' ? text : decoder.decode(text)
      let redacted = plain
      for (const form of forms) redacted = redacted.replaceAll(form, mark)
      for (const [secret, head] of heads) redacted = withoutEscaped(secret, head, redacted)
      return redacted === plain ? text : redacted
    },
  }
}
