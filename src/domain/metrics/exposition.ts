import { MergeqError } from '../../errors.ts'

/**
 * One value of a metric in text format 0.0.4 (service-api.md section 4.3). A time stamp is read, and not
 * kept.
 */
export interface Sample {
  readonly name: string
  /** `untyped` where no TYPE line says another. */
  readonly type: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A text of the format: its samples in order, and what its HELP lines say of each family. */
export interface Exposition {
  readonly samples: readonly Sample[]
  readonly help: ReadonlyMap<string, string>
}

/** How the name of a metric begins a text; a label's name has no colon. */
export const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const label = /^[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\[\\"n])*)"[ \t]*(,)?/
const comment = /^#[ \t]*(HELP|TYPE)[ \t]+([a-zA-Z_:][a-zA-Z0-9_:]*)(?:[ \t]+(.*))?$/
const blanks = /^[ \t]+|[ \t\r]+$/g

const plain = (text: string): string =>
  text.replace(/\\([\\"n])/g, (_, char: string) => (char === 'n' ? '\n' : char))

/**
 * A number as the format writes it, `+Inf` and `NaN` included; undefined when it is none, or none that a
 * double holds.
 */
export function numberOf(word: string): number | undefined {
  if (/^[+-]?inf(inity)?$/i.test(word)) return word.startsWith('-') ? -Infinity : Infinity
  if (/^nan$/i.test(word)) return Number.NaN
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word) ? Number(word) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

/** A number as the format writes it. */
export const numberText = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'

/** A series as the format and its queries write it: `mq_depth_current{branch="main"}`. */
export function seriesText(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(', ')}}`
}

const escaped = (text: string): string =>
  text.replaceAll(/[\\"\n]/g, char => (char === '\n' ? '\\n' : `\\${char}`))

/** The lines of a text, one after another: a list of them all would take more memory than the text. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf('\n', from)
    yield text.slice(from, end < 0 ? text.length : end)
    if (end < 0) return
    from = end + 1
  }
}

/**
 * Reads a text of the format, sample by sample. A sample's line that is not of it is a `bad-answer` that
 * names the line. What Prometheus refuses and is clear all the same is read: CRLF, a last line without its
 * end, a comment that says too much. What HELP lines say is put into `help`.
 */
export function* readSamples(text: string, help = new Map<string, string>()): Generator<Sample> {
  const types = new Map<string, string>()
  let number = 0
  for (const raw of linesOf(text)) {
    number++
    const line = raw.replace(blanks, '')
    const [, keyword, family = '', said = ''] = comment.exec(line) ?? []
    if (keyword === 'TYPE' && /^\S+$/.test(said)) types.set(family, said.toLowerCase())
    if (keyword === 'HELP')
      help.set(
        family,
        said.replace(/\\([\\n])/g, (_, char: string) => (char === 'n' ? '\n' : char)),
      )
    if (line === '' || line.startsWith('#')) continue
    const sample = sampleOf(line, types)
    if (sample === undefined)
      throw new MergeqError('bad-answer', `line ${number} of the metrics is not of the text format 0.0.4.`)
    yield sample
  }
}

/** Reads a whole text of the format; throws as `readSamples` does. */
export function parseExposition(text: string): Exposition {
  const help = new Map<string, string>()
  return { samples: [...readSamples(text, help)], help }
}

/** The samples of a text alone. */
export const parseSamples = (text: string): readonly Sample[] => parseExposition(text).samples

function sampleOf(line: string, types: ReadonlyMap<string, string>): Sample | undefined {
  const [name] = metricName.exec(line) ?? []
  if (name === undefined) return undefined
  const read = labelsAt(line.slice(name.length).replace(blanks, ''))
  if (read === undefined) return undefined
  const [word = '', stamp, ...others] = read.rest.replace(blanks, '').split(/[ \t]+/)
  const value = numberOf(word)
  if (value === undefined || others.length > 0 || (stamp !== undefined && !isStamp(stamp))) return undefined
  const { family, type } = familyOf(name, types)
  const { labels } = read
  // A bound that is no number makes the series none of its family.
  if (type === 'histogram' && name === `${family}_bucket` && numberOf(labels.le ?? '') === undefined)
    return undefined
  if (type === 'summary' && name === family && numberOf(labels.quantile ?? '') === undefined) return undefined
  return { name, type, labels, value }
}

/** The labels of a sample's line; undefined where the line is not one of a sample. */
export function labelsOf(line: string): Readonly<Record<string, string>> | undefined {
  const sample = line.replace(blanks, '')
  const [name] = metricName.exec(sample) ?? []
  return name === undefined ? undefined : labelsAt(sample.slice(name.length).replace(blanks, ''))?.labels
}

/** The labels that a text begins with, if it begins with any, and what follows them. */
function labelsAt(
  text: string,
): { readonly labels: Readonly<Record<string, string>>; readonly rest: string } | undefined {
  const labels: Record<string, string> = Object.create(null)
  if (!text.startsWith('{')) return { labels, rest: text }
  let rest = text.slice(1)
  for (let found = label.exec(rest); found !== null; found = label.exec(rest)) {
    const [whole, key = '', value = '', comma] = found
    if (key === '__name__' || Object.hasOwn(labels, key)) return undefined
    labels[key] = plain(value)
    rest = rest.slice(whole.length)
    if (comma === undefined) break
  }
  rest = rest.replace(blanks, '')
  return rest.startsWith('}') ? { labels, rest: rest.slice(1) } : undefined
}

const [leastStamp, mostStamp] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Milliseconds since 1970, in 64 bits. */
const isStamp = (word: string): boolean =>
  /^[+-]?\d{1,30}$/.test(word) &&
  BigInt(word.replace('+', '')) >= leastStamp &&
  BigInt(word.replace('+', '')) <= mostStamp

/**
 * The family of a series: `_sum` and `_count` belong to a histogram or a summary, `_bucket` to a histogram
 * alone.
 */
function familyOf(
  name: string,
  types: ReadonlyMap<string, string>,
): { readonly family: string; readonly type: string } {
  const own = types.get(name)
  if (own !== undefined) return { family: name, type: own }
  const family = name.replace(/_(bucket|sum|count)$/, '')
  const type = types.get(family) ?? ''
  const isPart = type === 'histogram' || (type === 'summary' && !name.endsWith('_bucket'))
  return isPart ? { family, type } : { family: name, type: 'untyped' }
}
