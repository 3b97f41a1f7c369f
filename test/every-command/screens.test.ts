import { describe, expect, test } from 'vitest'
import { textWidth } from '../../src/output/text-width.ts'
import { sampleOf } from '../support/sample.ts'
import { screens } from '../support/screen-list.ts'
import { drawScreen, type Screen, type ScreenTerminal, secret } from '../support/screens.ts'

const plain = { NO_COLOR: '1' }

/** Draws a screen, by default for a terminal of 80 columns with colors and the hosted service. */
const draw = (screen: Screen, terminal: Partial<ScreenTerminal> = {}) =>
  drawScreen(screen, { dialect: 'hosted', columns: 80, env: {}, ...terminal })

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
const rules: Readonly<Record<string, (text: string, columns: number) => readonly string[]>> = {
  width: (text, columns) => text.split('\n').filter(line => textWidth(line) > columns && !mayBeWide(line)),
  control: text => text.match(/[^\P{Cc}\n]/gu) ?? [],
  secret: partsOfSecret,
  iso: text => text.match(/\d{4}-\d\d-\d\dT\S*/g) ?? [],
  boolean: text => text.match(/^(?! *mergeq ).*\b(?:true|false)\b.*/gm) ?? [],
  ratio: text => text.match(/.*(?<![\w.])[01]\.\d{2,}\b(?!\.).*/g) ?? [],
  blanks: text => text.match(/.*[^: ] +$/gm) ?? [],
  sign: text => text.match(/.*[✓✗◐●○](?! #?[\dA-Za-z]).*/g) ?? [],
}

/** Returns what breaks a rule. */
const broken = (text: string, columns = 80): readonly string[] =>
  Object.entries(rules).flatMap(([name, find]) => find(text, columns).map(found => `${name}: ${found}`))

/** The sequences of the standard colors that are readable on dark and light backgrounds, bold and dim. */
const readableStyle = /^(?:0|1|2|22|3[1-6]|39)$/

test('a token in a title is redacted before the title is cut', async () => {
  const screen = { title: 'list', before: ['pr submit 5 6'], lines: ['pr list'] }
  for (const columns of [60, 80, 120, 200]) {
    const text = await draw(screen, { columns, env: plain, isPlanted: true })
    expect(text).toMatch(/^#6 .*\[REDACTED\]/m)
    expect(partsOfSecret(text)).toEqual([])
  }
})

describe.each(Object.entries(screens))('the screens of %s', { timeout: 90_000 }, (name, list) => {
  const shown = new Map<Screen, string>()
  /** What the screens of a group have in common shows in two of them. */
  const first = list.slice(0, 2)
  const sample = sampleOf(list, 2)

  test('are the golden screens and keep the rules of every screen', async () => {
    const pieces: string[] = []
    for (const screen of list) {
      const colored = await draw(screen)
      const styles = [...colored.matchAll(/\u001B\[([\d;]*)m/g)].map(([, style = '']) => style)
      expect(
        styles.filter(style => !readableStyle.test(style)),
        screen.title,
      ).toEqual([])
      const text = colored.replaceAll(/\u001B\[[\d;]*m/g, '')
      expect(broken(text), screen.title).toEqual([])
      shown.set(screen, text)
      pieces.push(`=== ${screen.title}\n${text}`)
      for (const where of screen.also ?? []) {
        const terminal = where === 'both' ? { dialect: where } : { columns: where }
        const other = await draw(screen, { ...terminal, env: plain })
        expect(broken(other, terminal.columns), screen.title).toEqual([])
        pieces.push(`--- ${where}\n${other}`)
      }
    }
    await expect(pieces.join('\n')).toMatchFileSnapshot(`../golden/screens/${name}.txt`)
  })

  test.each([
    ['hosted', 60, sample],
    ['both', 200, first],
  ] as const)(
    'keep the rules in the %s dialect at %i columns, with the token in names',
    async (dialect, columns, some) => {
      for (const screen of some) {
        const isPlanted = screen.setting?.env?.MERGEQ_TOKEN === undefined
        const text = await draw(screen, { dialect, columns, env: plain, isPlanted })
        expect(broken(text, columns), screen.title).toEqual([])
      }
    },
  )

  test('are ASCII without escape sequences if TERM is dumb and the locale is not UTF-8', async () => {
    for (const screen of first) {
      const ascii = await draw(screen, { env: { TERM: 'dumb', LANG: 'C' } })
      expect(ascii, screen.title).toMatch(/^[\n -~]*$/)
      // A dumb terminal shows what a live view overwrites elsewhere.
      if (name === 'queue-watch') continue
      expect(ascii.split('\n').length, screen.title).toBe(shown.get(screen)?.split('\n').length)
    }
  })
})
