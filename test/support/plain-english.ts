import { parseAst } from 'vitest/node'

/** A construction that reads as translated, and what to write instead. */
export interface WordRule {
  readonly pattern: RegExp
  readonly instead: string
  /** Whether the rule also applies to comments. */
  readonly inComments: boolean
}

/** A text with all code masked; offsets and line breaks are those of the file. */
export interface Prose {
  readonly path: string
  readonly text: string
  /** Whether strings of one word in lower case are names, such as the kind of an error, and not prose. */
  readonly hasNames?: boolean
}

/** A construction of the word list in a file. */
export interface Hit {
  readonly path: string
  readonly line: number
  readonly found: string
  readonly instead: string
  /** The words around it on its line. */
  readonly context: string
}

/** What separates two words: white space, also over a line break inside a comment. */
const gap = String.raw`\s+(?:(?:\*|\/\/)\s+)?`

const createRule =
  (inComments: boolean, flags = 'gi') =>
  ([words, instead]: readonly [words: string, instead: string]): WordRule => ({
    pattern: new RegExp(`(?<![\\w-])(?:${words.replaceAll(' ', gap)})(?![\\w-])`, flags),
    instead,
    inComments,
  })

/** The word list. A blank in a pattern matches any white space. */
export const wordRules: readonly WordRule[] = [
  ...(
    [
      ['mend(?:s|ed|ing)?', 'fix'],
      ['tells?|telling|told', 'say, show, print, report'],
      ['stands?|stood|standing', 'is, or the state itself'],
      ['(?:hold|holds|held|holding) (?:[^\\s.:;|]+ ){0,6}against', 'check against'],
      ['(?<!\\bthere )(?:is|are|was|were) no(?! longer| more\\b)(?= \\w)', 'is not a, is an invalid'],
      ['(?:is|are|was|were) none of', 'must be one of'],
      ['all the same', 'anyway'],
      ['somebody|nobody|anybody|everybody', 'someone, no one, anyone, or the person'],
      ['so (?:many|much|few|long|often)', 'the number or the duration'],
      ['anew|afresh|aloud|hence|thereof|therein|whence|lest|hitherto|in vain', 'a present-day word'],
      ['once more', 'again, one more time'],
      ['besides', 'other than, in addition to'],
      ['as (?:its|the|their) files? (?:say|says)', 'the settings from the file'],
      ['to blame', 'caused the failure'],
      ['how (?:it|they|a queue|the queue) (?:is|are)(?=\\s*[^\\s\\w]|\\s*$)', 'the state, the health'],
      ['what (?:is|was|are|were) (?:[^\\s.,;:|]+ ){1,5}(?:is|are)', 'the noun'],
      ['what (?:differs|comes|came|stands|goes)', 'the noun'],
      ['as far as was|is as far as', 'reached the requested state'],
      ['(?:come|comes|came|go|goes|went) back', 'return'],
      ['(?:go|goes|going|went) on', 'continue'],
      ['(?:go|goes|going) (?:with|first)', 'requires, can be used with, takes precedence'],
      ['(?:is|are|was|were|be|been) asked for', 'requested'],
      ['(?:is|are|was|were) waited', 'mergeq waits for'],
      ['fares?|faring', 'what happens to'],
      ['settle[sd]?|settling', 'finish, reach a final state, resolve'],
      ['(?:say|says|said) no', 'failed, declined'],
      ['in no case', 'never'],
      ['untouched', 'unchanged'],
      ['(?:is|are|was|were) (?:not )?whole', 'complete, incomplete'],
      ['do(?:es)? no harm', 'is safe'],
      ['(?:lie|lies|lay) (?:in|on|beside|below|under|at)', 'is in'],
      ['may be repeated|allowed repeats', 'retry, retries'],
      [
        '(?:un)?coloured|colours?|behaviours?|favou?rs?|honou?r(?:s|ed)?|neighbours?|licences?',
        'American spelling',
      ],
      [
        '(?:recogni|organi|normali|summari|seriali|initiali|minimi|optimi)s(?:e|es|ed|ing)',
        'American spelling',
      ],
      ['centres?|grey|whilst|analys(?:e|es|ed)|labell(?:ed|ing)', 'American spelling'],
    ] as const
  ).map(createRule(true)),
  ...(
    [
      ['answers?|answered|answering', 'response, respond'],
      ['folders?', 'directory, working directory'],
      ['base address(?:es)?', 'base URL'],
      ['time-outs?', 'timeout, time limit, time out'],
      ['bounds', 'thresholds'],
      ['queues? of(?= (?:main|release)\\b| \\$)', 'queue for'],
      ['responses? of(?= \\$)', 'response from'],
      ['give (?:a|an|the|each|one)', 'specify, use, provide'],
      ['(?<!\\bnot )name (?:a|an|at least|each)(?= \\w)', 'specify'],
      ['(?:one|each) on (?:each|its own) line', 'one per line'],
      ['leave out|leaves out|left out', 'omit'],
      ['cannot be combined', 'cannot be used together, cannot be used with'],
      ['typed options?|as typed', 'option on the command line'],
      ['wins', 'is used, takes precedence'],
      ['(?:a|one|each|three|failed|further|new|of) readings?|readings', 'read, reads'],
      ['at once', 'immediately, at the same time'],
      ['not there(?: yet)?', 'not visible yet, does not exist'],
      ['time was over', 'timed out'],
      ['(?:be|being|was|were) asked', 'query, prompt, request'],
      ['leaves(?=\\s*[^\\s\\w]|\\s*$)', 'quits'],
      ['(?:is|are) (?:not )?there(?! (?:is|are|a|an|any)\\b)', 'exists'],
    ] as const
  ).map(createRule(false)),
  ...([['(?:the|an|any|test|run) ids?|ids? of', 'ID']] as const).map(createRule(false, 'g')),
]

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

type Span = readonly [start: number, end: number]

/** Returns the places of strings, of fixed parts of templates, and of regular expressions in a program. */
function literalSpans(program: unknown): { readonly strings: Span[]; readonly patterns: Span[] } {
  const [strings, patterns]: [Span[], Span[]] = [[], []]
  const visit = (node: Node): void => {
    if (node.type === 'TemplateElement') strings.push([node.start, node.end])
    else if (node.type === 'Literal' && 'regex' in node) patterns.push([node.start, node.end])
    else if (node.type === 'Literal' && typeof node.value === 'string')
      strings.push([node.start + 1, node.end - 1])
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child)
  }
  if (isNode(program)) visit(program)
  return { strings, patterns }
}

/** Returns the source with everything outside the spans masked, so that no pattern continues over code. */
function maskOutside(source: string, spans: readonly Span[]): string {
  const pieces: string[] = []
  let position = 0
  for (const [start, end] of spans.toSorted(([one], [other]) => one - other)) {
    pieces.push(source.slice(position, start).replace(/[^\n]/g, '|'), source.slice(start, end))
    position = end
  }
  return [...pieces, source.slice(position).replace(/[^\n]/g, '|')].join('')
}

/** The strings and the comments of a TypeScript file: two texts in which everything else is masked. */
export function proseOfSource(
  path: string,
  source: string,
): { readonly strings: Prose; readonly comments: Prose } {
  const { strings, patterns } = literalSpans(parseAst(source, { lang: 'ts' }))
  const withoutLiterals = [...strings, ...patterns].reduce(
    (text, [start, end]) =>
      text.slice(0, start) + source.slice(start, end).replace(/[^\n]/g, '|') + text.slice(end),
    source,
  )
  const comments = [...withoutLiterals.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)].map(
    ({ index, 0: comment }): Span => [index, index + comment.length],
  )
  return {
    strings: { path, text: maskOutside(source, strings), hasNames: true },
    comments: { path, text: maskOutside(source, comments) },
  }
}

const isName = (text: string, index: number): boolean => {
  const before = /[^|\n]*$/.exec(text.slice(0, index))?.[0] ?? ''
  const after = /^[^|\n]*/.exec(text.slice(index))?.[0] ?? ''
  return /^[a-z-]+$/.test(before + after)
}

/** Returns what the rules find in a text. */
export function findHits({ path, text, hasNames }: Prose, rules: readonly WordRule[]): readonly Hit[] {
  return rules.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)]
      .filter(({ index }) => hasNames !== true || !isName(text, index))
      .map(({ index, 0: found }) => {
        const lineStart = text.lastIndexOf('\n', index) + 1
        const lineEnd = text.indexOf('\n', index + found.length)
        return {
          path,
          line: text.slice(0, index).split('\n').length,
          found: found.replace(/\s+/g, ' '),
          instead,
          context: text
            .slice(lineStart, lineEnd < 0 ? undefined : lineEnd)
            .replace(/\|{2,}/g, '|')
            .replace(/\s+/g, ' ')
            .trim(),
        }
      }),
  )
}
