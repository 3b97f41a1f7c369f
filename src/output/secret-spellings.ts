/** The names that HTML has for characters of a token. */
const entities = new Map([
  ['!', 'excl'],
  ['"', 'quot'],
  ['#', 'num'],
  ['$', 'dollar'],
  ['%', 'percnt'],
  ['&', 'amp'],
  ["'", 'apos'],
  ['(', 'lpar'],
  [')', 'rpar'],
  ['*', 'ast|midast'],
  ['+', 'plus'],
  [',', 'comma'],
  ['.', 'period'],
  ['/', 'sol'],
  [':', 'colon'],
  [';', 'semi'],
  ['<', 'lt'],
  ['=', 'equals'],
  ['>', 'gt'],
  ['?', 'quest'],
  ['@', 'commat'],
  ['[', 'lsqb|lbrack'],
  ['\\', 'bsol'],
  [']', 'rsqb|rbrack'],
  ['^', 'Hat'],
  ['_', 'lowbar|UnderBar'],
  ['`', 'grave|DiacriticalGrave'],
  ['{', 'lcub|lbrace'],
  ['|', 'verbar|vert|VerticalLine'],
  ['}', 'rcub|rbrace'],
])

/** Backslashes before an escaped character: one, or more where JSON stands in JSON. Bounded, so that a search is linear. */
const slash = '(?:\\\\|%5[Cc])'
const slashes = `${slash}{1,4}`
/** What begins an escape of an address or of HTML, itself escaped so often. */
const percent = (times: string) => `(?:%|${slashes}u0025|&#37;)(?:25){${times}}`
const ampersand = (times: string) => `(?:&|${slashes}u0026|%26)(?:amp;){${times}}`
/** Escaped more often than this, nothing is a spelling of a secret. */
const depths = [0, 1, 2, 3]

const invisible = '\\0-\\x08\\x0E-\\x1A\\x1C-\\x1F\\x7F-\\x84\\x86-\\x9A\\x9C-\\u2027\\u202A-\\uFFFF'
const unseen = `${invisible}\\x1B\\x9B`

/** What may stand between two characters and is taken out before a person sees them: what is invisible, and sequences. */
const between = `(?:${[
  `[${invisible}]`,
  `(?:\\x1B\\[|\\x9B|${slashes}u001b\\[|${slashes}u009b)[0-?]{0,64}[ -/]{0,8}[@-~]`,
  `(?:\\x1B|${slashes}u001b)[\\]PX^_][^\\x07\\x1B\\x9C"\\\\]{0,256}(?:\\x07|\\x1B\\\\|\\x9C|${slashes}u(?:0007|009c))`,
  '\\x1B[ -/]{0,8}[0-~]?',
  `${slashes}u(?:(?!00[2-7]|000[9a-d]|0085|202[89])[0-9a-f]{4}|007f)`,
  '%(?:[89a-fA-F][0-9a-fA-F]|0[0-8eE]|1[0-9a-fA-F]|7[fF])',
].join('|')}){0,32}`

const quote = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const cases = (character: string): readonly string[] => [
  ...new Set([character.toLowerCase(), character.toUpperCase()]),
]

/** One character in its escaped spellings: in JSON, an address or HTML, these themselves escaped so often. */
function escaped(character: string, times: string): readonly string[] {
  const code = character.charCodeAt(0)
  const hex = code.toString(16).padStart(2, '0')
  // No token holds what is beyond ASCII; what was taken for one may, and is only looked for as it is.
  if (code > 127) return [quote(character)]
  const eitherCase = [...hex].map(digit => `[${cases(digit).join('')}]`).join('')
  const name = entities.get(character)
  const named = name === undefined ? '' : `|${name}`
  return [
    `${slashes}(?:u00|x)${eitherCase}`,
    `${slash}{0,4}${percent(times)}${eitherCase}`,
    `${ampersand(times)}(?:#0{0,6}${code}|#[xX]0{0,6}${eitherCase}${named});?`,
  ]
}

/**
 * Patterns for a character in all its spellings and either case. There are several where one that matches may be the
 * beginning of another: `%` is also that of `%25`.
 */
function patternsOf(character: string, before: string): readonly RegExp[] {
  const made = (source: string) => new RegExp(`${before}(?:${source})`, 'y')
  const both = cases(character)
  const plain = both.map(one => `${slash}{0,4}${quote(one)}`)
  if (!special.test(character))
    return [made([...plain, ...both.flatMap(one => escaped(one, '0,4'))].join('|'))]
  const doubled = `${quote(character)}{2}`
  const bare = character === '\\' ? [quote(character)] : plain
  return [...bare, doubled, ...depths.flatMap(times => escaped(character, `${times}`))].map(made)
}

const firstPatterns = new Map<string, readonly RegExp[]>()
const nextPatterns = new Map<string, readonly RegExp[]>()

const special = /[%&"\\]/

/** Every index at which a character can end that begins at `from`; where it is no first one, behind what is invisible. */
function endsOf(character: string, text: string, from: number, isFirst: boolean): readonly number[] {
  // Mostly a character stands for itself.
  if (text.charAt(from).toLowerCase() === character.toLowerCase() && !special.test(character))
    return [from + 1]
  const known = isFirst ? firstPatterns : nextPatterns
  const patterns = known.get(character) ?? patternsOf(character, isFirst ? '' : between)
  known.set(character, patterns)
  const ends: number[] = []
  for (const pattern of patterns) {
    pattern.lastIndex = from
    if (pattern.test(text)) ends.push(pattern.lastIndex)
  }
  return ends
}

/** A text of which so many characters are there counts as there, and reaches as far as it does. */
const enough = 64

/** Where a form that begins at an index ends, in any spelling of its characters; undefined where it does not stand. */
export function endOf(form: string, text: string, from: number): number | undefined {
  let ends: readonly number[] = [from]
  for (let index = 0; index < form.length; index++) {
    const character = form.charAt(index)
    const next =
      ends.length === 1
        ? endsOf(character, text, ends[0] ?? 0, index === 0)
        : [...new Set(ends.flatMap(end => endsOf(character, text, end, index === 0)))]
    if (next.length === 0) return index >= enough ? Math.max(...ends) : undefined
    ends = next
  }
  return Math.max(...ends)
}

const oneOf = (characters: readonly string[]): string =>
  [...new Set(characters.flatMap(cases))].map(quote).join('')

/** A quick pattern for wherever one of these forms may begin. */
export function beginnings(forms: readonly string[]): RegExp {
  const plain = forms.map(
    form => `[${oneOf([form.charAt(0)])}](?=[${oneOf([form.charAt(1)])}\\\\%&${unseen}])`,
  )
  const firsts = oneOf(forms.map(form => form.charAt(0)))
  return new RegExp(
    `${[...new Set(plain)].join('|')}|\\\\{1,4}[ux%&${firsts}]|%[0-9a-fA-F]{2}|&[#a-zA-Z]`,
    'g',
  )
}
