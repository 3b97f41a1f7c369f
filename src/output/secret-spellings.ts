/** The names of HTML entities for the characters of a token. */
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

/**
 * Backslashes before an escaped character; several of them when JSON is nested in JSON. Their number is
 * limited, so that a search takes linear time.
 */
const slash = '(?:\\\\|%5[Cc])'
const slashes = `${slash}{1,4}`
/** The beginning of a percent escape and of an HTML entity, which may be escaped several times. */
const percent = (times: string) => `(?:%|${slashes}u0025|&#37;)(?:25){${times}}`
const ampersand = (times: string) => `(?:&|${slashes}u0026|%26)(?:amp;){${times}}`
/** The numbers of nested escapes that are recognized. */
const depths = [0, 1, 2, 3]

const invisible = '\\0-\\x08\\x0E-\\x1A\\x1C-\\x1F\\x7F-\\x84\\x86-\\x9A\\x9C-\\u2027\\u202A-\\uFFFF'
const unprintable = `${invisible}\\x1B\\x9B`

/**
 * Matches what may be between two characters of a secret and is removed before people see the text:
 * invisible characters and terminal sequences.
 */
const ignorable = `(?:${[
  `[${invisible}]`,
  `(?:\\x1B\\[|\\x9B|${slashes}u001b\\[|${slashes}u009b)[0-?]{0,64}[ -/]{0,8}[@-~]`,
  `(?:\\x1B|${slashes}u001b)[\\]PX^_][^\\x07\\x1B\\x9C"\\\\]{0,256}(?:\\x07|\\x1B\\\\|\\x9C|${slashes}u(?:0007|009c))`,
  '\\x1B[ -/]{0,8}[0-~]?',
  `${slashes}u(?:(?!00[2-7]|000[9a-d]|0085|202[89])[0-9a-f]{4}|007f)`,
  '%(?:[89a-fA-F][0-9a-fA-F]|0[0-8eE]|1[0-9a-fA-F]|7[fF])',
].join('|')}){0,32}`

const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const bothCases = (character: string): readonly string[] => [
  ...new Set([character.toLowerCase(), character.toUpperCase()]),
]

/**
 * Returns patterns for an escaped character: in JSON, in a percent escape or an HTML entity, themselves
 * escaped `times` times. `before` matches the backslashes before a percent escape.
 */
function escapedPatterns(character: string, times: string, before: string): readonly string[] {
  const code = character.charCodeAt(0)
  const hex = code.toString(16).padStart(2, '0')
  // A valid token is ASCII; any other secret is searched unescaped only.
  if (code > 127) return [unicodeEscape(character)]
  const eitherCase = [...hex].map(digit => `[${bothCases(digit).join('')}]`).join('')
  const name = entities.get(character)
  const named = name === undefined ? '' : `|${name}`
  return [
    `${slashes}(?:u00|x)${eitherCase}`,
    `${before}${percent(times)}${eitherCase}`,
    `${ampersand(times)}(?:#0{0,6}${code}|#[xX]0{0,6}${eitherCase}${named});?`,
  ]
}

/** Backslashes before a character that may be escaped: as many as possible, and as few. */
const [mostSlashes, fewestSlashes] = [`${slash}{0,4}`, `${slash}{0,4}?`]

/**
 * Returns patterns for a character in all its escaped forms, in upper and lower case. There are several
 * patterns where a match may be the beginning of another match: `%` is also the beginning of `%25`, and
 * `%5C%` is a backslash and `%`, or an escaped `%`.
 */
function createPatterns(character: string, before: string): readonly RegExp[] {
  const createPattern = (source: string) => new RegExp(`${before}(?:${source})`, 'y')
  const both = bothCases(character)
  const plain = both.map(letter => `${mostSlashes}${unicodeEscape(letter)}`)
  if (!specialCharacters.test(character))
    return [
      createPattern(
        [...plain, ...both.flatMap(letter => escapedPatterns(letter, '0,4', mostSlashes))].join('|'),
      ),
    ]
  const doubled = `${unicodeEscape(character)}{2}`
  const escaped = depths.flatMap(times =>
    [mostSlashes, fewestSlashes].flatMap(slashes => escapedPatterns(character, `${times}`, slashes)),
  )
  return [
    ...new Set([unicodeEscape(character), ...(character === '\\' ? [] : plain), doubled, ...escaped]),
  ].map(createPattern)
}

/**
 * Returns the patterns for what may precede a character. The beginning of a secret such as `%cb%` also reads
 * as an invisible character before its end, so both the shortest and the longest match count for the
 * characters that begin an escape.
 */
const precedingPatterns = (character: string, isFirst: boolean): readonly string[] => {
  if (isFirst) return ['']
  return specialCharacters.test(character) ? [ignorable, `${ignorable}?`] : [ignorable]
}

const firstPatterns = new Map<string, readonly RegExp[]>()
const nextPatterns = new Map<string, readonly RegExp[]>()

const specialCharacters = /[%&"\\]/

/**
 * Returns every index at which a character can end that begins at `from`. Invisible characters may precede
 * it, unless it is the first character of a secret.
 */
function findCharacterEnds(
  character: string,
  text: string,
  from: number,
  isFirst: boolean,
): readonly number[] {
  // Fast path: most characters are not escaped.
  if (text.charAt(from).toLowerCase() === character.toLowerCase() && !specialCharacters.test(character))
    return [from + 1]
  const cache = isFirst ? firstPatterns : nextPatterns
  const patterns =
    cache.get(character) ??
    precedingPatterns(character, isFirst).flatMap(before => createPatterns(character, before))
  cache.set(character, patterns)
  const ends: number[] = []
  for (const pattern of patterns) {
    pattern.lastIndex = from
    if (pattern.test(text)) ends.push(pattern.lastIndex)
  }
  return ends
}

/** When this number of characters match, the rest of the secret may be missing. */
const minMatchLength = 64

/**
 * Returns the index where a form of a secret ends that begins at `from`, in any escaped form of its
 * characters; undefined when the text does not contain it there.
 */
export function findEnd(form: string, text: string, from: number): number | undefined {
  let ends: readonly number[] = [from]
  for (let index = 0; index < form.length; index++) {
    const character = form.charAt(index)
    const next =
      ends.length === 1
        ? findCharacterEnds(character, text, ends[0] ?? 0, index === 0)
        : [...new Set(ends.flatMap(end => findCharacterEnds(character, text, end, index === 0)))]
    if (next.length === 0) return index >= minMatchLength ? Math.max(...ends) : undefined
    ends = next
  }
  return Math.max(...ends)
}

const characterClass = (characters: readonly string[]): string =>
  [...new Set(characters.flatMap(bothCases))].map(unicodeEscape).join('')

/** Returns a fast pattern that matches wherever a form of a secret may begin. */
export function createPrefixPattern(forms: readonly string[]): RegExp {
  const plain = forms.map(
    form =>
      `[${characterClass([form.charAt(0)])}](?=[${characterClass([form.charAt(1)])}\\\\%&${unprintable}])`,
  )
  const firsts = characterClass(forms.map(form => form.charAt(0)))
  return new RegExp(
    `${[...new Set(plain)].join('|')}|\\\\{1,4}[ux%&${firsts}]|%[0-9a-fA-F]{2}|&[#a-zA-Z]`,
    'g',
  )
}
