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
  const forms = [secret, encodeURIComponent(secret), ...encoded]
  return [...forms, ...forms.map(form => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

/** Makes a redactor that knows no secret yet. */
export function openRedactor(): Redactor {
  const forms = new Set<string>()
  const decoder = new TextDecoder()
  return {
    hide(secret) {
      if (secret.length >= shortest)
        for (const form of formsOf(secret)) if (form.length >= shortest) forms.add(form)
    },
    redact(text) {
      if (forms.size === 0) return text
      const plain = typeof text === 'string' ? text : decoder.decode(text)
      let redacted = plain
      for (const form of forms) redacted = redacted.replaceAll(form, mark)
      return redacted === plain ? text : redacted
    },
  }
}
