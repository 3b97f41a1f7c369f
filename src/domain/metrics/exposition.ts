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

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t'

/** Returns a text without the blanks at its start, and the blanks and carriage returns at its end. */
function trimBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (isBlank(text[start])) start++
  while (end > start && (isBlank(text[end - 1]) || text[end - 1] === '\r')) end--
  return text.slice(start, end)
}

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

/** Yields the lines of a text; an array of all lines would take more memory than the text. */
function* readLines(text: string): Generator<string> {
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf('\n', from)
    yield text.slice(from, end < 0 ? text.length : end)
    if (end < 0) return
    from = end + 1
  }
}

/**
 * Yields the samples of a text. Throws a `bad-answer` error with the line number at an invalid line, and after
 * 100,000 samples. Accepts some input that Prometheus rejects: CRLF, a last line without a line end, and comments
 * with extra words.
 */
export function* readSamples(text: string): Generator<Sample> {
  const types = new Map<string, string>()
  let [number, samples] = [0, 0]
  for (const raw of readLines(text)) {
    number++
    const line = trimBlanks(raw)
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
  const [word = '', timestamp = '0', ...others] = trimBlanks(rest).split(/[ \t]+/)
  const value = parseNumber(word)
  if (value === undefined || others.length > 0 || !/^[+-]?\d+$/.test(timestamp)) return undefined
  const { family, type } = findFamily(name, types)
  // Prometheus rejects a bucket or quantile whose bound is not a number.
  if (type === 'histogram' && name === `${family}_bucket` && parseNumber(labels.le ?? '') === undefined)
    return undefined
  if (type === 'summary' && name === family && parseNumber(labels.quantile ?? '') === undefined)
    return undefined
  return { name, type, labels, value }
}

export const labelsOf = (line: string): Sample['labels'] | undefined => parseSeries(trimBlanks(line))?.labels

/** Parses the name and the labels of a line without blanks around it; `rest` is what follows them. */
function parseSeries(
  line: string,
): (Pick<Sample, 'name' | 'labels'> & { readonly rest: string }) | undefined {
  const [name] = metricName.exec(line) ?? []
  if (name === undefined) return undefined
  const labels: Record<string, string> = Object.create(null)
  let rest = trimBlanks(line.slice(name.length))
  if (!rest.startsWith('{')) return { name, labels, rest }
  rest = rest.slice(1)
  for (let match = labelPair.exec(rest); match !== null; match = labelPair.exec(rest)) {
    const [whole, key = '', value = '', comma] = match
    if (key === '__name__' || Object.hasOwn(labels, key)) return undefined
    labels[key] = unescapeLabel(value)
    rest = rest.slice(whole.length)
    if (comma === undefined) break
  }
  rest = trimBlanks(rest)
  return rest.startsWith('}') ? { name, labels, rest: rest.slice(1) } : undefined
}

/** `_sum` and `_count` belong to a histogram or a summary, `_bucket` to a histogram only. */
function findFamily(
  name: string,
  types: ReadonlyMap<string, string>,
): { readonly family: string; readonly type: string } {
  const exactType = types.get(name)
  if (exactType !== undefined) return { family: name, type: exactType }
  const family = name.replace(/_(bucket|sum|count)$/, '')
  const type = types.get(family) ?? ''
  const isPart = type === 'histogram' || (type === 'summary' && !name.endsWith('_bucket'))
  return isPart ? { family, type } : { family: name, type: 'untyped' }
}
