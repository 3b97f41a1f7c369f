import { MergeqError } from '../../base/errors.ts'
import { formatInteger } from '../../values/format.ts'
import { maxSamples } from '../../values/limits.ts'

/** A sample of the Prometheus text format 0.0.4 (docs/reference/service.md, "Metrics"), without timestamp. */
export interface Sample {
  readonly name: string
  /** The type of the metric family; `untyped` without a TYPE line. */
  readonly type: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The longest line that is read, in characters: a pattern would exhaust the stack for a much longer one. */
const maxLineLength = 1024 * 1024

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const labelPair = /^[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\[\\"n])*)"[ \t]*(,)?/
const typeLine = /^#[ \t]*TYPE[ \t]+([a-zA-Z_:][a-zA-Z0-9_:]*)[ \t]+(\S+)$/

const unescapeLabel = (text: string): string =>
  text.includes('\\') ? text.replace(/\\([\\"n])/g, (_, char: string) => (char === 'n' ? '\n' : char)) : text

/** Accepts `+Inf` and `NaN`; undefined for other texts and for too large numbers. */
export function parseNumber(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    const number = Number(text)
    return Number.isFinite(number) ? number : undefined
  }
  if (/^nan$/i.test(text)) return Number.NaN
  if (!/^[+-]?inf(inity)?$/i.test(text)) return undefined
  return text.startsWith('-') ? -Infinity : Infinity
}

export const numberText = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'

/** Whether a sample counts as a series: of the samples of a histogram, only its count does. */
export const isCounted = ({ name, type }: Sample): boolean => type !== 'histogram' || name.endsWith('_count')

/**
 * Yields the samples of a text. Throws a `bad-answer` error with the line number at an invalid line, and after
 * 100,000 samples. Accepts some input that Prometheus rejects: CRLF, a last line without a line end, and comments
 * with extra words.
 */
export function* readSamples(text: string): Generator<Sample> {
  const types = new Map<string, string>()
  let [number, samples] = [0, 0]
  // An array of all lines would take more memory than the text.
  for (const [raw] of text.matchAll(/[^\n]*\n?/g)) {
    number++
    const line = raw.trim()
    if (line === '') continue
    if (line.startsWith('#')) {
      const [, family, type] = typeLine.exec(line) ?? []
      if (family !== undefined && type !== undefined) types.set(family, type.toLowerCase())
      continue
    }
    const sample = line.length > maxLineLength ? undefined : parseSample(line, types)
    if (sample === undefined)
      throw new MergeqError(
        'bad-answer',
        `line ${number} of the metrics is not in the Prometheus text format 0.0.4.`,
      )
    samples++
    if (samples > maxSamples)
      throw new MergeqError('bad-answer', `The metrics have more than ${formatInteger(maxSamples)} samples.`)
    yield sample
  }
}

function parseSample(line: string, types: ReadonlyMap<string, string>): Sample | undefined {
  const series = parseSeries(line)
  if (series === undefined) return undefined
  const { name, labels, rest } = series
  const [word = '', timestamp = '0', ...others] = rest.trim().split(/[ \t]+/)
  const value = parseNumber(word)
  if (value === undefined || others.length > 0 || !/^[+-]?\d+$/.test(timestamp)) return undefined
  return { name, type: typeOf(name, types), labels, value }
}

export const labelsOf = (line: string): Sample['labels'] | undefined => parseSeries(line.trim())?.labels

/** Parses the name and the labels of a line without blanks around it; `rest` is what follows them. */
function parseSeries(
  line: string,
): (Pick<Sample, 'name' | 'labels'> & { readonly rest: string }) | undefined {
  const [name] = metricName.exec(line) ?? []
  if (name === undefined) return undefined
  const labels: Record<string, string> = Object.create(null)
  let rest = line.slice(name.length).trim()
  if (!rest.startsWith('{')) return { name, labels, rest }
  rest = rest.slice(1)
  for (let match = labelPair.exec(rest); match !== null; match = labelPair.exec(rest)) {
    const [whole, key = '', value = '', comma] = match
    if (key === '__name__' || Object.hasOwn(labels, key)) return undefined
    labels[key] = unescapeLabel(value)
    rest = rest.slice(whole.length)
    if (comma === undefined) break
  }
  rest = rest.trim()
  return rest.startsWith('}') ? { name, labels, rest: rest.slice(1) } : undefined
}

/** `_sum` and `_count` belong to a histogram or a summary, `_bucket` to a histogram only. */
function typeOf(name: string, types: ReadonlyMap<string, string>): string {
  const type = types.get(name.replace(/_(bucket|sum|count)$/, '')) ?? ''
  const isPart = type === 'histogram' || (type === 'summary' && !name.endsWith('_bucket'))
  return types.get(name) ?? (isPart ? type : 'untyped')
}
