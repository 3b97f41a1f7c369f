import { usageError } from '../../errors.ts'

/**
 * Returns whether a text that was decoded as UTF-8 is UTF-16: its mark is not UTF-8, and without a mark
 * every second byte of an ASCII text is zero.
 */
export const isUtf16 = (text: string): boolean => /^(?:\uFFFD\uFFFD|[^\0]\0[^\0]\0|\0[^\0]\0[^\0])/.test(text)

/**
 * Returns a text that was decoded as UTF-8 without its byte order mark, which editors on Windows write.
 * Throws a usage error for a text that is UTF-16: Windows PowerShell writes it with `>`.
 */
export function requireUtf8(text: string, name: string): string {
  if (isUtf16(text))
    throw usageError(
      `${name} is encoded as UTF-16, not UTF-8.`,
      'Save the text as UTF-8. In PowerShell: ... | Out-File -Encoding utf8 <file>',
    )
  return text.replace(/^\uFEFF/, '')
}
