import { usageError } from '../../errors.ts'

/** The largest value of the service's integers (docs/reference/service.md, "Queue settings"). */
export const maxInteger = 4_294_967_295

/** Accepts `min` to `max`, both inclusive, without leading zeros. Throws a usage error for any other text. */
export const integerParser =
  (min: number, max: number) =>
  (text: string): number => {
    if (!/^(?:0|[1-9]\d{0,15})$/.test(text) || Number(text) < min || Number(text) > max)
      throw usageError(`'${text}' is not a whole number from ${min} to ${max}.`)
    return Number(text)
  }

/** Accepts negative numbers and fractions. Throws a usage error for any other text. */
export function parseDecimal(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw usageError(`'${text}' is not a number.`)
  return Number(text)
}

/**
 * Whether a double keeps all digits of a decimal number: not those of `9007199254740993` or `1e400`. It keeps
 * 15 digits of every number, and more of those that it prints.
 */
export function isExactNumber(text: string): boolean {
  const value = Number(text)
  if (String(value) === text) return true
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '')
  const isUnderflow = value === 0 && digits !== ''
  return digits.length <= 15 && Number.isFinite(value) && !isUnderflow
}

/** Throws a usage error for a JSON text with a number that a double would change. */
export function requireExactNumbers(json: string): void {
  const numbers = json.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? []
  const inexact = numbers.find(number => !isExactNumber(number))
  if (inexact !== undefined)
    throw usageError(
      `the number ${inexact} cannot be represented exactly.`,
      `To send it as text, use a JSON string: "${inexact}"`,
    )
}
