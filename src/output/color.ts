/** What decides whether output is colored (docs/reference/cli.md, "Color"). */
export interface ColorOptions {
  readonly color: 'auto' | 'always' | 'never'
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: boolean
}

/**
 * Returns whether to color output. In this order: `--color`, NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE,
 * TERM=dumb, whether the output is a terminal.
 */
export function shouldColor({ color, env, terminal }: ColorOptions): boolean {
  if (color !== 'auto') return color === 'always'
  if ((env.NO_COLOR ?? '') !== '') return false
  const forced = env.FORCE_COLOR ?? ''
  if (forced !== '') return forced !== '0' && forced !== 'false'
  if ((env.CLICOLOR_FORCE || '0') !== '0') return true
  return terminal && env.TERM !== 'dumb'
}

/** Returns a text in bold, as a terminal sequence. */
export const bold = (text: string): string => `\u001B[1m${text}\u001B[22m`

/** Returns a text in red, as a terminal sequence. */
export const red = (text: string): string => `\u001B[31m${text}\u001B[39m`

/** Returns a text dimmed, as a terminal sequence. */
export const dim = (text: string): string => `\u001B[2m${text}\u001B[22m`
