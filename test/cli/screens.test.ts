import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { hasUnicode } from '../../src/output/styled-text.ts'
import { textWidth } from '../../src/output/text-width.ts'
import { screens } from '../support/screen-list.ts'
import { drawScreen, type Screen, secret } from '../support/screens.ts'

const dialects = ['document', 'hosted'] as const
const widths = [60, 80, 120, 200]
const plain = { NO_COLOR: '1' }

/** Draws a screen in each dialect at each width, without colors. */
async function drawAll(screen: Screen) {
  const drawn = []
  for (const dialect of dialects)
    for (const columns of widths)
      drawn.push({ dialect, columns, text: await drawScreen(screen, { dialect, columns, env: plain }) })
  return drawn
}

type Drawn = Awaited<ReturnType<typeof drawAll>>[number]

/** Returns the different texts of a screen, each below the dialects and widths that have it. */
function golden(title: string, drawn: readonly Drawn[]): string {
  const places = new Map<string, string[]>()
  for (const dialect of dialects)
    for (const { columns, text } of drawn.filter(one => one.dialect === dialect)) {
      const list = places.get(text) ?? []
      const last = list.at(-1)
      if (last?.startsWith(dialect) === true) list[list.length - 1] = `${last}, ${columns}`
      else list.push(`${dialect} ${columns}`)
      places.set(text, list)
    }
  const texts = [...places].map(([text, list]) => `--- ${list.join('; ')}\n${text}`)
  return `=== ${title}\n${texts.join('')}`
}

/** Returns the parts of a secret that a text shows, 6 characters or longer. */
const partsOfSecret = (text: string): readonly string[] =>
  [...secret.slice(5)].flatMap((_, start) => {
    const part = secret.slice(start, start + 6)
    return part.length === 6 && text.includes(part) ? [part] : []
  })

/** Whether a line may be wider than the terminal: it is a command to copy, or it ends with a URL. */
const mayBeWide = (line: string): boolean =>
  /^\s*(?:\$ |mergeq |export |curl )/.test(line) || /(?:^|\s)\S*https?:\/\/\S+$/.test(line)

/** What each rule finds in a screen without colors. The command lines are no part of it. */
const rules: Readonly<Record<string, (drawn: Drawn) => readonly string[]>> = {
  width: ({ text, columns }) =>
    text.split('\n').filter(line => textWidth(line) > columns && !mayBeWide(line)),
  iso: ({ text }) => text.match(/\d{4}-\d\d-\d\dT\S*/g) ?? [],
  boolean: ({ text }) => text.match(/^(?! *mergeq ).*\b(?:true|false)\b.*/gm) ?? [],
  ratio: ({ text }) => text.match(/.*(?<![\w.])[01]\.\d{2,}\b(?!\.).*/g) ?? [],
  blanks: ({ text }) => text.match(/.*[^: ] +$/gm) ?? [],
  sign: ({ text }) => text.match(/.*[✓✗◐●○](?! #?[\dA-Za-z]).*/g) ?? [],
}

/** Returns what breaks a rule. */
const broken = (drawn: Drawn): readonly string[] =>
  Object.entries(rules).flatMap(([name, find]) =>
    find(drawn).map(found => `${drawn.dialect} ${drawn.columns} ${name}: ${found}`),
  )

/** The sequences of the standard colors that are readable on dark and light backgrounds, bold and dim. */
const readableStyle = /^(?:0|1|2|22|3[1-6]|39)$/

test('a token in a title is redacted before the title is cut', async () => {
  const screen = { title: 'list', before: ['pr submit 5 6'], lines: ['pr list'] }
  for (const columns of widths) {
    const text = await drawScreen(screen, { dialect: 'hosted', columns, env: plain, isPlanted: true })
    expect(text).toMatch(/^#6 .*\[REDACTED\]/m)
    expect(partsOfSecret(text)).toEqual([])
  }
})

describe.each(Object.entries(screens))('the screens of %s', (name, list) => {
  const all: (readonly [Screen, readonly Drawn[]])[] = []

  test('are the golden screens, in both dialects and at every width', { timeout: 90_000 }, async () => {
    all.length = 0
    for (const screen of list) all.push([screen, await drawAll(screen)])
    const text = all.map(([{ title }, drawn]) => golden(title, drawn)).join('\n')
    await expect(text).toMatchFileSnapshot(`../golden/screens/${name}.txt`)
  })

  test('keep the rules of every screen', () => {
    expect(all.length).toBe(list.length)
    expect(all.flatMap(([, drawn]) => drawn.flatMap(broken))).toEqual([])
  })

  test('have no escape sequence with NO_COLOR, and no part of a token', () => {
    for (const [{ title }, drawn] of all)
      for (const { text } of drawn) {
        expect(text, title).not.toMatch(/[^\P{Cc}\n]/u)
        expect(partsOfSecret(text), title).toEqual([])
      }
  })

  test('have no part of a token where the service has it in titles, names and messages', async () => {
    const authorized = list.filter(({ setting }) => setting?.env?.MERGEQ_TOKEN === undefined)
    for (const screen of authorized)
      for (const dialect of dialects)
        for (const columns of [60, 120]) {
          const text = await drawScreen(screen, { dialect, columns, env: plain, isPlanted: true })
          expect(partsOfSecret(text), screen.title).toEqual([])
        }
  })

  test('have the standard colors that every background allows, and the same text', async () => {
    for (const [screen, drawn] of all)
      for (const { text, dialect, columns } of drawn.filter(one => one.columns === 80)) {
        const colored = await drawScreen(screen, { dialect, columns, env: {} })
        expect(stripVTControlCharacters(colored), screen.title).toBe(text)
        const styles = [...colored.matchAll(/\u001B\[([\d;]*)m/g)].map(([, style = '']) => style)
        expect(
          styles.filter(style => !readableStyle.test(style)),
          screen.title,
        ).toEqual([])
        expect(colored.replaceAll(/\u001B\[[\d;]*m/g, ''), screen.title).not.toMatch(/[^\P{Cc}\n]/u)
      }
  })

  test('are ASCII if the locale is not UTF-8', async () => {
    expect(hasUnicode({ LANG: 'C' }, 'linux')).toBe(false)
    for (const [screen, drawn] of all)
      for (const { text, dialect, columns } of drawn.filter(one => one.columns === 80)) {
        const ascii = await drawScreen(screen, { dialect, columns, env: { ...plain, LANG: 'C' } })
        expect(ascii, screen.title).toMatch(/^[\n -~]*$/)
        expect(ascii.split('\n').length, screen.title).toBe(text.split('\n').length)
      }
  })

  test('have no escape sequence if TERM is dumb', async () => {
    for (const [screen] of all)
      expect(
        await drawScreen(screen, { dialect: 'document', columns: 80, env: { TERM: 'dumb' } }),
        screen.title,
      ).not.toMatch(/[^\P{Cc}\n]/u)
  })
})
