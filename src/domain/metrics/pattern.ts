/**
 * Regular expressions for labels, as Prometheus defines them: anchored at both ends, and matched without
 * backtracking in time linear in the length of the text (Thompson's construction).
 */

/** Returns whether the whole text matches. */
export type Pattern = (text: string) => boolean

/** A mistake in a pattern, and the index of its character. */
export interface PatternError {
  readonly flaw: string
  readonly at: number
}

type Node =
  | { readonly kind: 'one'; readonly test: RegExp }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }
  | { readonly kind: 'row'; readonly parts: readonly Node[] }
  | { readonly kind: 'either'; readonly parts: readonly Node[] }
  | { readonly kind: 'times'; readonly part: Node; readonly least: number; readonly most: number }

/** A state of the automaton: only `one` consumes a character. */
type Step =
  | { readonly kind: 'one'; readonly test: RegExp; readonly next: number }
  | { readonly kind: 'start' | 'end'; readonly next: number }
  | { readonly kind: 'fork'; readonly ways: readonly number[] }
  | { readonly kind: 'done' }

const maxSteps = 2_000
const maxRepeats = 1_000

/** The maximum length, in UTF-16 code units, of a text that can match a pattern. */
export const maxTextLength = 10_000

/**
 * Parses a pattern in the syntax of RE2, without flags, word boundaries and named classes; returns mistakes
 * as values.
 */
export function parsePattern(source: string): Pattern | PatternError {
  try {
    const steps: Step[] = []
    const start = compile(parse(source), add(steps, { kind: 'done' }, source), steps, source)
    return text => text.length <= maxTextLength && runs(steps, start, [...text])
  } catch (error) {
    if (isPatternError(error)) return error
    throw error
  }
}

/** Whether a value is a `PatternError`. */
export const isPatternError = (value: unknown): value is PatternError =>
  typeof value === 'object' && value !== null && 'flaw' in value

function parse(source: string): Node {
  let at = 0
  const stop = (flaw: string, where = at): never => {
    throw { flaw, at: where } satisfies PatternError
  }
  const eat = (what: RegExp): string | undefined => {
    what.lastIndex = at
    const [found] = what.exec(source) ?? []
    if (found !== undefined) at += found.length
    return found
  }

  const either = (): Node => {
    const parts = [row()]
    while (eat(/\|/y)) parts.push(row())
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'either', parts }
  }
  const row = (): Node => {
    const parts: Node[] = []
    while (at < source.length && !/[|)]/.test(source[at] ?? '')) parts.push(repeated())
    return { kind: 'row', parts }
  }
  const repeated = (): Node => {
    const began = at
    const part = single()
    const sign = eat(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y)
    if (sign === undefined) return part
    if (/[*+?]/y.test(source[at] ?? '')) stop('two signs of repetition follow each other')
    const [least = 0, most = Number.POSITIVE_INFINITY] = timesOf(sign)
    if (least > maxRepeats || (most > maxRepeats && most !== Number.POSITIVE_INFINITY) || least > most)
      stop(`this repeats it out of bounds (at most ${maxRepeats} times)`, began)
    return { kind: 'times', part, least, most }
  }
  const single = (): Node => {
    const began = at
    if (eat(/\((?!\?)|\(\?:/y)) {
      const inside = either()
      if (!eat(/\)/y)) stop('a ) is missing', began)
      return inside
    }
    if (eat(/\(\?/y)) stop('flags and groups with names are not taken', began)
    if (eat(/\^|\\A/y)) return { kind: 'start' }
    if (eat(/\$|\\z/y)) return { kind: 'end' }
    if (/[*+?]/.test(source[at] ?? '')) stop('there is nothing before it to repeat')
    const atom =
      eat(/\[\^?\]?(?:[^\]\\]|\\.)*\]/suy) ??
      eat(/\\(?:[dDwWsS]|[pP]\{[^}]*\}|x[\da-fA-F]{2}|[^\p{L}\p{N}]|[nrtfv])/uy) ??
      eat(/[^[\\]/suy)
    if (atom === undefined) return stop(source[at] === '[' ? 'a ] is missing' : 'this escape is not known')
    return { kind: 'one', test: compileCharacter(atom) ?? stop('these characters are not a class', began) }
  }

  const whole = either()
  if (at < source.length) stop('a ( is missing')
  return whole
}

function timesOf(sign: string): readonly (number | undefined)[] {
  const [, least, comma, most] = /^\{(\d+)(,)?(\d*)\}/.exec(sign) ?? []
  if (least !== undefined)
    return [
      Number(least),
      comma === undefined ? Number(least) : most === '' || most === undefined ? undefined : Number(most),
    ]
  return sign.startsWith('*') ? [0] : sign.startsWith('+') ? [1] : [0, 1]
}

/**
 * Returns an expression that matches a single character, which cannot backtrack; undefined for an invalid
 * class.
 */
function compileCharacter(atom: string): RegExp | undefined {
  const escapes = atom.replace(/\\([^\p{L}\p{N}])/gu, (_, char: string) =>
    /[\^$\\.*+?()[\]{}|/-]/.test(char) ? `\\${char}` : char,
  )
  const literal = /^[\]{}/]$/.test(escapes) ? `\\${escapes}` : escapes.replace(/^\[(\^?)\]/, '[$1\\]')
  if (/\[:/.test(literal)) return undefined
  try {
    return new RegExp(`^(?:${literal === '\\-' ? '-' : literal})$`, 'su')
  } catch {
    return undefined
  }
}

function add(steps: Step[], step: Step, source: string): number {
  if (steps.length >= maxSteps) throw { flaw: 'it is too large', at: source.length } satisfies PatternError
  return steps.push(step) - 1
}

/** Adds the steps of a node, which lead to the step `next`; returns the index of the node's first step. */
function compile(node: Node, next: number, steps: Step[], source: string): number {
  if (node.kind === 'one') return add(steps, { kind: 'one', test: node.test, next }, source)
  if (node.kind === 'start' || node.kind === 'end') return add(steps, { kind: node.kind, next }, source)
  if (node.kind === 'row')
    return node.parts.reduceRight((after, part) => compile(part, after, steps, source), next)
  if (node.kind === 'either') {
    const ways = node.parts.map(part => compile(part, next, steps, source))
    return add(steps, { kind: 'fork', ways }, source)
  }
  const { part, least, most } = node
  let first = next
  if (most === Number.POSITIVE_INFINITY) {
    const ways = [next]
    first = add(steps, { kind: 'fork', ways }, source)
    ways.push(compile(part, first, steps, source))
  } else
    for (let times = least; times < most; times++)
      first = add(steps, { kind: 'fork', ways: [compile(part, first, steps, source), next] }, source)
  for (let times = 0; times < least; times++) first = compile(part, first, steps, source)
  return first
}

/** Simulates all paths through the automaton at once, character by character. */
function runs(steps: readonly Step[], start: number, text: readonly string[]): boolean {
  const reach = (from: readonly number[], at: number): ReadonlySet<number> => {
    const found = new Set<number>()
    const open = [...from]
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (found.has(place)) continue
      found.add(place)
      const step = steps[place]
      if (step?.kind === 'fork') open.push(...step.ways)
      if (step?.kind === 'start' && at === 0) open.push(step.next)
      if (step?.kind === 'end' && at === text.length) open.push(step.next)
    }
    return found
  }
  let now = reach([start], 0)
  for (const [index, char] of text.entries()) {
    const next: number[] = []
    for (const place of now) {
      const step = steps[place]
      if (step?.kind === 'one' && step.test.test(char)) next.push(step.next)
    }
    if (next.length === 0) return false
    now = reach(next, index + 1)
  }
  return [...now].some(place => steps[place]?.kind === 'done')
}
