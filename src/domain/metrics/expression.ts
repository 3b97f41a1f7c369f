import { usageError } from '../../errors.ts'
import { metricName, parseNumber } from './exposition.ts'
import { isPatternError, parsePattern } from './pattern.ts'

/** `<series> <op> <number>` (CLI.md section 8): what must hold of every series that it names. */
export interface Expression {
  /** As it was typed. */
  readonly text: string
  readonly series: Series
  readonly comparison: Comparison
  readonly bound: number
}

/** What is compared: the series themselves, one value of all of them, or a quantile of each histogram. */
export interface Series extends Selector {
  readonly over: 'each' | Aggregation | 'quantile'
  /** The share that a quantile is asked for, from 0 to 1. */
  readonly share?: number
}

/** The series of a name whose labels all match. */
export interface Selector {
  readonly name: string
  readonly matchers: readonly Matcher[]
}

export interface Matcher {
  readonly label: string
  /** As it was typed: `queue_type="main"`. */
  readonly text: string
  /**
   * Whether the label's value is one that is meant; a label that is not there counts as empty, as in
   * Prometheus.
   */
  matches(value: string): boolean
}

export const comparisons = ['<=', '>=', '==', '!=', '<', '>'] as const
export type Comparison = (typeof comparisons)[number]

export const aggregations = ['sum', 'min', 'max', 'avg'] as const
export type Aggregation = (typeof aggregations)[number]

/** More of an expression is refused. */
const longest = 4_000

/** Functions that ask how fast a counter grows. */
const overTime = /^(?:rate|irate|increase|delta|idelta|deriv|resets|changes|\w+_over_time)$/

/** What an expression may be, as the hint of every refusal says. */
const form =
  "Write <series> <op> <number>, for example 'sum(mq_depth_current{queue_type=\"main\"}) < 50' or 'quantile(0.95, mq_pr_time_in_queue_1h_seconds) <= 3600'."

/** Reads an expression. What is wrong is a usage failure that points at the place. */
export function parseExpression(text: string): Expression {
  let at = 0
  const refuse = (what: string, where = at, hint = form): never => {
    const shown = text.replaceAll(/[\n\t]/g, ' ')
    throw usageError(
      `This is no expression: ${what} (at character ${where + 1}).`,
      `${shown}\n${' '.repeat(where)}^\n${hint}`,
    )
  }
  const eat = (what: RegExp): string | undefined => {
    what.lastIndex = at
    const [found] = what.exec(text) ?? []
    if (found === undefined) return undefined
    at += found.length
    space()
    return found
  }
  const space = () => {
    at += /^\s*/.exec(text.slice(at))?.[0].length ?? 0
  }
  const name = (): string =>
    eat(new RegExp(metricName.source.slice(1), 'y')) ?? refuse('the name of a series is missing')
  const need = (sign: RegExp, what: string) => eat(sign) ?? refuse(`${what} is missing`)

  const value = (): { readonly value: string; readonly began: number } => {
    const began = at
    const quoted = eat(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y)
    if (quoted === undefined) return refuse('a value in quotes is missing')
    const inside = quoted
      .slice(1, -1)
      .replaceAll(/\\(.)/g, (whole, char: string) =>
        char === 'n' ? '\n' : char === 't' ? '\t' : /["'\\]/.test(char) ? char : whole,
      )
    return { value: inside, began }
  }
  const matcher = (): Matcher => {
    const began = at
    const label = eat(/[a-zA-Z_][a-zA-Z0-9_]*/y) ?? refuse('the name of a label is missing')
    const sign = eat(/=~|!~|!=|=/y) ?? refuse('one of = != =~ !~ is missing')
    const { value: wanted, began: inside } = value()
    const typed = text.slice(began, at).trim()
    if (sign === '=' || sign === '!=')
      return { label, text: typed, matches: found => (found === wanted) === (sign === '=') }
    const pattern = parsePattern(wanted)
    if (isPatternError(pattern))
      return refuse(
        `the regular expression is wrong: ${pattern.flaw}`,
        Math.min(inside + 1 + pattern.at, text.length),
        'It is anchored at both ends, as in Prometheus, and takes the syntax of RE2 without flags.',
      )
    return { label, text: typed, matches: found => pattern(found) === (sign === '=~') }
  }
  const selector = (args?: string): Selector => {
    const named = args ?? name()
    const matchers: Matcher[] = []
    if (eat(/\{/y)) {
      while (!/^\}/.test(text.slice(at))) {
        matchers.push(matcher())
        if (!eat(/,/y)) break
      }
      need(/\}/y, 'a }')
    }
    if (text[at] === '[') refuse('a range has no meaning here', at, whyNoRate)
    return { name: named, matchers }
  }
  const series = (): Series => {
    const began = at
    const first = name()
    if (text[at] !== '(') {
      if (/^(?:by|without)\b/.test(text.slice(at))) refuse('grouping is not taken')
      return { over: 'each', ...selector(first) }
    }
    if (overTime.test(first)) refuse(`${first}() means nothing for these series`, began, whyNoRate)
    const fold = aggregations.find(one => one === first)
    if (fold === undefined && first !== 'quantile')
      refuse(`there is no ${first}(); there are ${aggregations.join(', ')} and quantile`, began)
    need(/\(/y, 'a (')
    const share = fold === undefined ? shareOf() : undefined
    const inner = text.slice(at).match(/^([a-z_]+)\s*\(/)?.[1]
    if (inner !== undefined)
      refuse(
        overTime.test(inner) ? `${inner}() means nothing for these series` : 'one function is all',
        at,
        overTime.test(inner) ? whyNoRate : form,
      )
    const selected = selector()
    need(/\)/y, 'a )')
    return share === undefined
      ? { over: fold ?? 'each', ...selected }
      : { over: 'quantile', share, ...selected }
  }
  const shareOf = (): number => {
    const began = at
    const share = Number(eat(/\d+(?:\.\d+)?|\.\d+/y) ?? Number.NaN)
    if (!(share >= 0 && share <= 1))
      refuse('a quantile begins with a number from 0 to 1: quantile(0.95, ...)', began)
    need(/,/y, 'a comma')
    return share
  }

  if (text.length > longest) refuse(`it has more than ${longest} characters`, 0)
  space()
  const found = series()
  const comparison = comparisons.find(sign => text.startsWith(sign, at))
  if (comparison === undefined)
    return refuse(
      text[at] === '=' ? 'equality is written ==' : `one of ${comparisons.toReversed().join(' ')} is missing`,
    )
  at += comparison.length
  space()
  const began = at
  const bound = parseNumber(eat(/[^\s]+/y) ?? '')
  if (bound === undefined || Number.isNaN(bound)) return refuse('a number is missing', began)
  if (at < text.length) refuse('here it should end: one comparison is all')
  return { text: text.trim(), series: found, comparison, bound }
}

/** Why there is no rate (service-observed.md section 4). */
const whyNoRate =
  'The _1h_ series are gauges over a sliding hour, though some end in _total: they fall as well as rise, and a rate of them is nothing that ever happened. Compare the value as it is: it counts the last hour.'
