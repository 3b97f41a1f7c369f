import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findHits, type Hit, proseOfSource, wordRules } from '../support/plain-english.ts'

/**
 * Ordinary uses of words of the list: a part of the line that has the word, and the reason. Each must still
 * occur.
 */
const allowed: readonly (readonly [text: string, reason: string])[] = [
  ['bash 3.2 cannot be asked to', 'bash has no such option: nothing is sent to anyone'],
  [
    'JSON keys: `mend` of `doctor --json` is `fix`. The check `base address` is `base URL`.',
    'old names, for those who update',
  ],
  ['goes back without losing what was typed', 'a form from which the user returns to the previous page'],
]

const pathsBelow = (directory: string, ending: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(name => `${directory}/${name.replaceAll('\\', '/')}`)
    .filter(path => path.endsWith(ending))
    .sort()

const read = (path: string) => ({ path, text: readFileSync(path, 'utf8') })

const sources = pathsBelow('src', '.ts').map(path => proseOfSource(path, readFileSync(path, 'utf8')))
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'RELEASING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...pathsBelow('docs', '.md'),
].map(read)
/** The help of every command as the program prints it; another test keeps these files current. */
const help = ['test/golden/help.json', 'man/mergeq.1'].map(read)

const rulesForComments = wordRules.filter(({ inComments }) => inComments)
const hits: Readonly<Record<string, readonly Hit[]>> = {
  'the strings of src': sources.flatMap(({ strings }) => findHits(strings, wordRules)),
  'the comments of src': sources.flatMap(({ comments }) => findHits(comments, rulesForComments)),
  'README, CONTRIBUTING, CHANGELOG, SECURITY and docs': pages.flatMap(page => findHits(page, wordRules)),
  'the help of all commands': help.flatMap(page => findHits(page, wordRules)),
}

const isAllowed = ({ context, found }: Hit): boolean =>
  allowed.some(([text]) => context.includes(text) && text.toLowerCase().includes(found.toLowerCase()))

const format = ({ path, line, found, instead, context }: Hit): string =>
  `${path}:${line}: "${found}" (better: ${instead}) in: ${context.slice(0, 160)}`

describe('plain English', () => {
  test.each(Object.keys(hits))('in %s', where => {
    expect((hits[where] ?? []).filter(hit => !isAllowed(hit)).map(format)).toEqual([])
  })

  test.each(allowed)('"%s" is still used', text => {
    expect(Object.values(hits).some(list => list.some(({ context }) => context.includes(text)))).toBe(true)
  })

  const find = (text: string) => findHits({ path: 'page', text }, wordRules).map(({ found }) => found)

  test.each([
    ['Mend the request and run it again', ['Mend']],
    ['This tells how it stands:', ['tells', 'stands']],
    ['Hold metrics against bounds', ['Hold metrics against', 'bounds']],
    ['This is no JSON', ['is no']],
    ['There is no queue, and it is no longer submitted', []],
    ['It is held back; check the metrics against the thresholds', []],
    ['Check how a queue is: 0 if', ['how a queue is']],
    ['how it is printed', []],
    ['It lists at most so many', ['so many']],
    ['Push all the\n * same', ['all the * same']],
    ['what is not named is left alone', ['what is not named is']],
    ['the answer of the base address', ['answer', 'base address']],
    ['the queue could not be asked', ['be asked']],
    ['Give a file with -f. Name at least one setting', ['Give a', 'Name at least']],
    ['The body does not name a valid branch; the same seed gives the same data', []],
    ['Submitted #9 to the queue of main', ['queue of']],
    ['Check the test id, not the test ID', ['test id']],
    ['one on each line, or leave out the option', ['leave out', 'one on each line']],
    ['three readings must agree; the most severe code wins', ['three readings', 'wins']],
  ])('%j', (text, expected) => expect([...find(text)].sort()).toEqual([...expected].sort()))

  test('is looked for in strings, templates and comments, and not in code', () => {
    const source =
      "// it tells\nconst tell = /mend/.test(`mend \x24{mend} told`) // told\nmend('stands', 'the answer', 'TELLS')\n"
    const { strings, comments } = proseOfSource('example.ts', source)
    const found = (prose: typeof strings) =>
      findHits(prose, wordRules).map(({ line, found }) => `${line} ${found}`)
    expect(found(strings).toSorted()).toEqual(['2 mend', '2 told', '3 TELLS', '3 answer'])
    expect(found(comments).toSorted()).toEqual(['1 tells', '2 told'])
  })
})
