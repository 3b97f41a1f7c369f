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

const bytesPerUnit = new Map([
  ['KiB', 1024],
  ['MiB', 1024 * 1024],
])
const maxByteSize = 256 * 1024 * 1024

/** Parses `512KiB` or `64MiB` as bytes, from 1 KiB to 256 MiB. Throws a usage error for any other text. */
export function parseByteSize(text: string): number {
  const [, number = '', unit = ''] = /^([1-9]\d{0,8})([KM]iB)$/.exec(text) ?? []
  const bytes = Number(number) * (bytesPerUnit.get(unit) ?? 0)
  if (bytes === 0)
    throw usageError(`'${text}' is not a size.`, 'Use a whole number with KiB or MiB, for example 128MiB.')
  if (bytes > maxByteSize)
    throw usageError(`'${text}' is larger than 256MiB.`, 'Use a size from 1KiB to 256MiB.')
  return bytes
}
