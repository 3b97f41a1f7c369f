import { usageError } from '../../errors.ts'
import { hintWithSuggestion } from '../similar-name.ts'
import { metricName, parseNumber } from './exposition.ts'

/**
 * An expression `<series> <op> <number>` (docs/reference/cli.md, "Metric expressions"), which must hold for
 * every series that it selects.
 */
export interface Expression {
  readonly text: string
  readonly series: Series
  readonly comparison: Comparison
  readonly bound: number
}

interface Series extends Selector {
  readonly over: 'each' | Aggregation | 'quantile'
  readonly share?: number
}

export interface Selector {
  readonly name: string
  readonly matchers: readonly Matcher[]
}

interface Matcher {
  readonly label: string
  readonly text: string
  /** A missing label has an empty value, as in Prometheus. */
  matches(value: string): boolean
}

/** The comparison operators; an operator precedes the operators that are prefixes of it. */
const comparisons = ['<=', '>=', '==', '!=', '<', '>'] as const

export type Comparison = (typeof comparisons)[number]

const aggregations = ['sum', 'min', 'max', 'avg'] as const

export type Aggregation = (typeof aggregations)[number]

/** The maximum length of an expression in characters. */
const maxLength = 4_000

const rangeFunction = /^(?:rate|irate|increase|delta|idelta|deriv|resets|changes|\w+_over_time)$/

const syntaxHint = `Write <series> <operator> <number>, for example:
'sum(mq_depth_current{queue_type="main"}) < 50'
'quantile(0.95, mq_pr_time_in_queue_1h_seconds) <= 3600'`

/** Parses an expression; throws a usage error that marks the position of a mistake. */
export function parseExpression(text: string): Expression {
  let at = 0
  const refuse = (problem: string, position = at, hint = syntaxHint): never => {
    const shown = text.replaceAll(/[\n\t]/g, ' ')
    throw usageError(
      `Invalid expression: ${problem} (at character ${position + 1}).`,
      `${shown}\n${' '.repeat(position)}^\n${hint}`,
    )
  }
  const consume = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    if (found === undefined) return undefined
    at += found.length
    skipSpace()
    return found
  }
  const skipSpace = () => {
    at += /^\s*/.exec(text.slice(at))?.[0].length ?? 0
  }
  const parseName = (): string =>
    consume(new RegExp(metricName.source.slice(1), 'y')) ?? refuse('expected the name of a series')
  const expect = (token: RegExp, name: string) => consume(token) ?? refuse(`expected ${name}`)

  const parseString = (): { readonly value: string; readonly start: number } => {
    const start = at
    const quoted = consume(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y)
    if (quoted === undefined) return refuse('expected a value in quotes')
    const unescaped = quoted
      .slice(1, -1)
      .replaceAll(/\\(.)/g, (whole, char: string) =>
        char === 'n' ? '\n' : char === 't' ? '\t' : /["'\\]/.test(char) ? char : whole,
      )
    return { value: unescaped, start }
  }
  const parsePattern = (source: string, position: number): RegExp => {
    try {
      // Alone first: the text around the source could close a group that the source does not open.
      new RegExp(source, 'su')
      return new RegExp(`^(?:${source})$`, 'su')
    } catch (error) {
      return refuse(
        `invalid regular expression: ${error instanceof Error ? error.message : error}`,
        position,
        'Use a JavaScript regular expression that matches the whole value of the label.',
      )
    }
  }
  const parseMatcher = (): Matcher => {
    const start = at
    const label = consume(/[a-zA-Z_][a-zA-Z0-9_]*/y) ?? refuse('expected the name of a label')
    const sign = consume(/=~|!~|!=|=/y) ?? refuse('expected one of = != =~ !~')
    const { value: expected, start: valueStart } = parseString()
    const typed = text.slice(start, at).trim()
    if (sign === '=' || sign === '!=')
      return { label, text: typed, matches: actual => (actual === expected) === (sign === '=') }
    const pattern = parsePattern(expected, valueStart)
    return { label, text: typed, matches: actual => pattern.test(actual) === (sign === '=~') }
  }
  const parseSelector = (knownName?: string): Selector => {
    const name = knownName ?? parseName()
    const matchers: Matcher[] = []
    if (consume(/\{/y)) {
      while (!/^\}/.test(text.slice(at))) {
        matchers.push(parseMatcher())
        if (!consume(/,/y)) break
      }
      expect(/\}/y, 'a }')
    }
    if (text[at] === '[') refuse('ranges are not supported', at, whyNoRate)
    return { name, matchers }
  }
  const parseSeries = (): Series => {
    const start = at
    const first = parseName()
    if (text[at] !== '(') {
      if (/^(?:by|without)\b/.test(text.slice(at))) refuse('grouping (by, without) is not supported')
      return { over: 'each', ...parseSelector(first) }
    }
    if (rangeFunction.test(first)) refuse(`${first}() is not supported for these series`, start, whyNoRate)
    const aggregation = aggregations.find(candidate => candidate === first)
    if (aggregation === undefined && first !== 'quantile')
      refuse(
        `unknown function ${first}(); must be one of: ${aggregations.join(', ')}, quantile`,
        start,
        hintWithSuggestion(first, [...aggregations, 'quantile'], syntaxHint),
      )
    expect(/\(/y, 'a (')
    const share = aggregation === undefined ? parseShare() : undefined
    const inner = text.slice(at).match(/^([a-z_]+)\s*\(/)?.[1]
    if (inner !== undefined)
      refuse(
        rangeFunction.test(inner)
          ? `${inner}() is not supported for these series`
          : 'functions cannot be nested',
        at,
        rangeFunction.test(inner) ? whyNoRate : syntaxHint,
      )
    const selected = parseSelector()
    expect(/\)/y, 'a )')
    return share === undefined
      ? { over: aggregation ?? 'each', ...selected }
      : { over: 'quantile', share, ...selected }
  }
  const parseShare = (): number => {
    const start = at
    const share = Number(consume(/\d+(?:\.\d+)?|\.\d+/y) ?? Number.NaN)
    if (!(share >= 0 && share <= 1))
      refuse('the first argument of quantile must be a number from 0 to 1: quantile(0.95, ...)', start)
    expect(/,/y, 'a comma')
    return share
  }

  if (text.length > maxLength) refuse(`longer than ${maxLength} characters`, 0)
  skipSpace()
  const series = parseSeries()
  const comparison = comparisons.find(sign => text.startsWith(sign, at))
  if (comparison === undefined)
    return refuse(
      text[at] === '=' ? 'use == for equality' : `expected one of ${comparisons.toReversed().join(' ')}`,
    )
  at += comparison.length
  skipSpace()
  const start = at
  const bound = parseNumber(consume(/[^\s]+/y) ?? '')
  if (bound === undefined || Number.isNaN(bound)) return refuse('expected a number', start)
  if (at < text.length) refuse('only one comparison is supported')
  return { text: text.trim(), series, comparison, bound }
}

/** The hint that explains why rates are not supported (docs/reference/service.md, "Metrics"). */
const whyNoRate =
  'The _1h_ series are gauges over the last hour, even if their name ends in _total. They can fall, so a rate has no meaning. Compare the value directly.'
