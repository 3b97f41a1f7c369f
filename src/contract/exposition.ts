import { Failure } from '../failure.ts'

/** One value of a metric in text format 0.0.4 (service-api.md section 4.3). */
export interface Sample {
  readonly name: string
  readonly type: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const label = /^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\\n]|\\.)*)"\s*(,)?/

const plain = (text: string): string =>
  text.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))

/** A value as the format writes it; undefined when it is none. */
function numberOf(word: string): number | undefined {
  const lower = word.toLowerCase()
  if (/^[+-]?inf(inity)?$/.test(lower)) return lower.startsWith('-') ? -Infinity : Infinity
  if (lower === 'nan') return Number.NaN
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(lower) ? Number(lower) : undefined
}

/** Reads every sample of a text in format 0.0.4, in order. A line that is not of the format is a `bad-answer`. */
export function samplesOf(text: string): readonly Sample[] {
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    const [, family, type] = /^#\s+TYPE\s+(\S+)\s+(\S+)$/.exec(line) ?? []
    if (family !== undefined && type !== undefined) types.set(family, type)
    if (line === '' || line.startsWith('#')) continue
    const sample = sampleOf(line, types)
    if (sample === undefined)
      throw new Failure('bad-answer', `line ${index + 1} of the metrics is not of the text format 0.0.4.`)
    samples.push(sample)
  }
  return samples
}

function sampleOf(line: string, types: ReadonlyMap<string, string>): Sample | undefined {
  const [metric] = name.exec(line) ?? []
  if (metric === undefined) return undefined
  let rest = line.slice(metric.length).trimStart()
  const labels: Record<string, string> = Object.create(null)
  if (rest.startsWith('{')) {
    rest = rest.slice(1)
    for (let found = label.exec(rest); found !== null; found = label.exec(rest)) {
      const [whole, key = '', value = '', comma] = found
      labels[key] = plain(value)
      rest = rest.slice(whole.length)
      if (comma === undefined) break
    }
    rest = rest.trimStart()
    if (!rest.startsWith('}')) return undefined
    rest = rest.slice(1)
  }
  const [word = '', stamp, ...others] = rest.trim().split(/\s+/)
  const value = numberOf(word)
  if (value === undefined || others.length > 0 || (stamp !== undefined && !/^-?\d+$/.test(stamp)))
    return undefined
  return { name: metric, type: typeOf(metric, types), labels, value }
}

/** The type of a metric; `_bucket`, `_sum` and `_count` belong to a histogram or a summary, and to nothing else. */
function typeOf(metric: string, types: ReadonlyMap<string, string>): string {
  const family = types.get(metric.replace(/_(bucket|sum|count)$/, '')) ?? ''
  return types.get(metric) ?? (/^(histogram|summary)$/.test(family) ? family : 'untyped')
}
