/**
 * Whether the terminal shows Unicode: on Windows always; elsewhere if the locale is UTF-8, which the first of
 * LC_ALL, LC_CTYPE and LANG that is set names.
 */
export function hasUnicode(env: Readonly<Record<string, string | undefined>>, platform: string): boolean {
  if (platform === 'win32') return true
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || ''
  return /utf-?8/i.test(locale)
}

/** The characters that mergeq draws with, and the ASCII character for each: one column wide, as before. */
const replacements: readonly (readonly [signs: string, ascii: string])[] = [
  ['✓✗◐●○…', '+x*o.~'],
  ['▁▂▃▄▅▆▇█', '_.:-=+*#'],
  ['▏▎▍▌▋▊▉', '.::--=='],
  ['⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏', '-\\|/-\\|/-\\'],
]

const asciiSigns: ReadonlyMap<string, string> = new Map(
  replacements.flatMap(([signs, ascii]) => [...signs].map((sign, index) => [sign, ascii[index] ?? '?'])),
)

/** Returns a text with ASCII characters in the place of the signs and blocks that mergeq draws with. */
export const toAscii = (text: string): string =>
  text.replace(/[✓✗◐●○…▁-█▉-▏⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, sign => asciiSigns.get(sign) ?? sign)
