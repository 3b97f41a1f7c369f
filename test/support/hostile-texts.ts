import { expect } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/base/json.ts'
import type { Answer, Seen } from './harness.ts'
import { operationExamples, testId } from './operations.ts'

export { testId }

/** Read in another letter case, by an eye or from base64, it is still the token. */
export const token = 'tok_W1re/Secret+42&Zx9=='

/** Text that does something to a terminal, or hides something in it, and what of it is shown. */
export const actingTexts: readonly (readonly [text: string, shown: string])[] = [
  // Colors, a clear screen and cursor moves.
  ['\x1B[31m', ''],
  ['\x9B31m', ''],
  ['\x1B[2J\x1B[H', ''],
  ['\x1B[3A\x1B[5C\x1B[1;1H\x1B7\x1B8', ''],
  // A title, the clipboard and a link.
  ['\x1B]0;pwned\x07', ''],
  ['\x9D0;pwned\x9C', ''],
  ['\x1B]52;c;cHduZWQ=\x07', ''],
  ['\x1B]8;;http://evil.test\x1B\\here\x1B]8;;\x1B\\', 'here'],
  // A device control string, an application command and a privacy message.
  ['\x1BP$qm\x1B\\', ''],
  ['\x1B_Gi=1;AAAA\x1B\\', ''],
  ['\x1B^pwned\x1B\\', ''],
  // The alternate screen, a hidden cursor, bracketed paste and mouse, queries, resets, another character set.
  ['\x1B[?1049h', ''],
  ['\x1B[?25l', ''],
  ['\x1B[?2004h\x1B[?1000h', ''],
  ['\x1B[c\x1B[6n\x1B]10;?\x07\x1B[>q\x05', ''],
  ['\x1Bc\x1B[!p', ''],
  ['\x1B(0\x0E', ''],
  // Sequences in a sequence, and sequences that never end.
  ['\x1B\x1B[0m[31m\x1B\x1B]0;x\x07]0;y\x07', '[31m]0;y'],
  ['\x1B\x07', ''],
  ['\x1B]0;', '0;'],
  ['\x9D0;', '0;'],
  ['\x1BP', ''],
  ['\x9F', ''],
  ['\x1B]0;a\x1B[31mb', '0;ab'],
  // Control characters.
  ['real\rfake', 'real fake'],
  ['real\b\b\b\bfake', 'realfake'],
  ['\x07\0', ''],
  ['\v\f', ' '],
  ['\r\n', ' '],
  ['\n8\tMERGED\ttrue', ' 8 MERGED true'],
  ['\x7F', ''],
  ['\x80\x84\x85\x8D\x99\x9C', ' '],
  // Bidirectional overrides, isolates and marks.
  ['\u202Egnp.\u202C', 'gnp.'],
  ['\u2066\u2067\u2068\u2069\u200E\u200F\u061C', ''],
  // Zero width, tags, separators, private and unassigned characters, lone surrogates, annotations.
  ['\u200B\u2060\uFEFF\u00AD', ''],
  ['\u{E0001}\u{E0041}\u{E007F}', ''],
  ['\u2028\u2029', ' '],
  ['\uE000\uFFFF\u{10FFFF}', ''],
  ['\uD800 \uDC00', ' '],
  ['\uFFF9\uFFFA\uFFFB', ''],
  // Fillers: Unicode calls them letters or marks, and nobody sees them.
  ['\u3164\u115F\u1160\uFFA0\u034F\u17B4\u17B5\u180B\u180C\u180D\u180F', ''],
  // The joiner in an emoji stays.
  ['\u{1F469}\u200D\u{1F4BB}', '\u{1F469}\u200D\u{1F4BB}'],
]

/** Formulas and what CSV quotes, and the cell that each becomes. */
export const csvCells: Readonly<Record<string, string>> = {
  '=1+1': `"'=1+1"`,
  '+1': `"'+1"`,
  '-1+cmd|x': `"'-1+cmd|x"`,
  '@SUM(A1)': `"'@SUM(A1)"`,
  '＝1+1': `"'＝1+1"`,
  '＋1': `"'＋1"`,
  '－1': `"'－1"`,
  '＠SUM(A1)': `"'＠SUM(A1)"`,
  'a＝b': 'a＝b',
  '\t=1': `"'=1"`,
  '\r=1': `"'=1"`,
  ' =1': `"'=1"`,
  '\u200B=1': `"'=1"`,
  '\x1B[0m=1': `"'=1"`,
  'say "hi"': '"say ""hi"""',
  'a,b': '"a,b"',
  'a\nb': 'a b',
  '"=1': '"""=1"',
  '=cmd|"/c calc"!A1': `"'=cmd|""/c calc""!A1"`,
  ' a': 'a',
  'a=b': 'a=b',
}

/** Markup and mentions, and the Markdown that each becomes. */
export const markdownCells: Readonly<Record<string, string>> = {
  'a|b': 'a\\|b',
  '`code`': '\\`code\\`',
  '<img src=x>': '\\<img src=x\\>',
  '[link](http://evil.test)': '\\[link\\](http://evil.test)',
  '*a* _b_ ~c~': '\\*a\\* \\_b\\_ \\~c\\~',
  '# head #7': '\\# head \\#7',
  '@someone': '@\u200Csomeone',
  'a\\|b': 'a\\\\\\|b',
  '<!-- x': '\\<!-- x',
  'a\n| b | c |': 'a \\| b \\| c \\|',
  '&lt;b&gt;': '\\&lt;b\\&gt;',
  '![i](x)': '!\\[i\\](x)',
}

/** Commands for a CI runner. */
export const runnerCommands = [
  '::error file=app.js,line=1,title=x::stop',
  '::ERROR::stop',
  '::endgroup::',
  '##[error]stop',
  '##[error file=a.js;line=1]stop',
  // Cut in a column, the row ends its bracket.
  '##[error]##[error]##vso[a.b]x',
  '##vso[task.setvariable variable=x]stop',
  "##teamcity[setParameter name='x' value='y']",
  '::::error::stop::error::stop',
  '  ::error::stop',
  'x ::set-output name=x::stop',
  'x\n::error::stop',
  'x\r\n##vso[task.complete result=Succeeded;]',
  '\x1B[0m::error::stop',
  ':\u200B:error::stop',
  ':\x1B[0m:error::stop',
  '#\x07#teamcity[buildStatus]',
  '##\u2060[error]stop',
]

/** What GitHub, Azure and TeamCity take as a command: the first on a line of its own, the others anywhere. */
export const actsOnRunner = /^\s*::[\w-]+(?: .*)?::|##\[\w|##vso\[|##teamcity\[/im

/** All that act in one text; it shows nothing that acts, and no `pwned`. */
export const hostileText = actingTexts.map(([text], index) => `${index}${text}`).join(' ')

/** The token as a service may spell it. */
export const tokens = [token, encodeURIComponent(token), Buffer.from(token).toString('base64')].join(' ')

/** What a reader could undo: JSON and HTML escapes, percent-encoding. */
const unescapeText = (text: string): string =>
  text
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\(.)/g, '$1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/&amp;/g, '&')

/** Pieces of so many characters of a token are more than chance. */
const minPieceLength = 6

/** The pieces of a token that a text shows, in any spelling. */
export function piecesIn(text: string, secret = token): readonly string[] {
  const encoded = Buffer.from(secret).toString('base64').slice(1, -4)
  const plain = unescapeText(text).toLowerCase()
  return [secret, encoded].flatMap(form =>
    Array.from({ length: form.length - minPieceLength }, (_, at) =>
      form.slice(at, at + minPieceLength),
    ).filter(piece => text.includes(piece) || plain.includes(piece.toLowerCase())),
  )
}

/** What mergeq itself writes to a terminal, and the line ends of CSV. */
const ownSequences = /\u001B\[(?:[\d;]*m|\d*[AGJK]|H|\?(?:7|25|1049|2026)[hl])|\r\n|\r(?=\u001B)/g
export const controlCharacters =
  /[\0-\x08\x0B-\x1F\x7F-\x9F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]|[\u{E0000}-\u{E0FFF}]/u

/** Checks that a text holds nothing of the token, and nothing that acts on a terminal but our own sequences. */
export function expectHarmless(text: string, where: string): void {
  const plain = text.replaceAll(ownSequences, '')
  const at = plain.search(controlCharacters)
  const acts = at === -1 ? undefined : JSON.stringify(plain.slice(Math.max(0, at - 40), at + 40))
  // What is escaped is only text.
  const pwned = /(?<!\\u00\S{0,6}|%3B|%5E)pwned/.exec(plain)?.[0]
  expect({ where, acts, pwned, pieces: piecesIn(text) }).toEqual({ where, pieces: [] })
}

/** Values that are not replaced, so that commands go on. */
const kept = ['isCurrentlySubmittedToQueue', 'next_page_token', 'nextCursor']

/** The same document with a text in the place of every value, and in a member that nobody knows. */
function fill(value: Json | undefined, text: string): Json {
  if (Array.isArray(value)) return value.map(item => fill(item, text))
  if (!isObject(value)) return value === testId ? value : text
  const filled = Object.entries(value).map(([key, child]) => [
    key,
    kept.includes(key) ? child : fill(child, text),
  ])
  return { ...Object.fromEntries(filled), [text]: text }
}

const metricsOf = (text: string): string => {
  const label = text.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
  return `# HELP mq_depth_current ${label}\n# TYPE mq_depth_current gauge\nmq_depth_current{repo="${label}",branch="main"} 3\nmq_depth_current{branch="${label}"} 4\n`
}

/** What an operation answers with a text wherever it may have any. */
function documentOf(name: string, text: string): string | JsonObject {
  const { response } = operationExamples.find(each => each.name === name) ?? {}
  if (name === 'getMergeQueueMetrics') return metricsOf(text)
  if (response === undefined || typeof response === 'string') return { message: text, [text]: text }
  const document = fill(response as JsonObject, text) as JsonObject
  const { enqueuedPullRequests } = document
  if (!Array.isArray(enqueuedPullRequests)) return document
  // Pull requests that a command looks for.
  const [one, other] = enqueuedPullRequests.filter(isObject)
  const known = [
    { ...one, prNumber: 7 },
    { ...other, prNumber: 8, state: 'TESTING' },
  ]
  return { ...document, enqueuedPullRequests: [...enqueuedPullRequests.slice(0, 1), ...known] }
}

export const record = (text: string): JsonObject => documentOf('getSubmittedPullRequest', text) as JsonObject
export const operation = ({ path }: Seen): string => path.replace(/^\/v1\//, '').replace(/\?.*/, '')
export const answerOf =
  (text: string) =>
  (seen: Seen): Answer => {
    const document = documentOf(operation(seen), text)
    return {
      body: typeof document === 'string' ? document : JSON.stringify(document),
      headers: {
        'x-request-id': Buffer.from(text)
          .toString()
          .replace(/[^\w%/+&=\\]/gu, encodeURIComponent),
        'x-evil': token,
      },
    }
  }
