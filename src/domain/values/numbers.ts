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

/** The digits of a decimal number without leading and trailing zeros, and the power of ten behind them. */
function significantDigits(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().replace(/^[-+]/, '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const shortened = digits.replace(/0+$/, '')
  const power = Number(exponent) - fraction.length + digits.length - shortened.length
  return shortened === '' ? '0' : `${shortened}e${power}`
}

/** Whether a double keeps all digits of a decimal number: not those of `9007199254740993` or `1e400`. */
export const isExactNumber = (text: string): boolean =>
  significantDigits(text) === significantDigits(String(Number(text)))

/** The first number in a JSON text that a double would change. */
export const findInexactNumber = (json: string): string | undefined =>
  json
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .match(/-?\d[\d.eE+-]*/g)
    ?.find(number => !isExactNumber(number))
