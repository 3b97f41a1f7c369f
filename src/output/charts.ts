/** Pictures of numbers in characters that stand in any terminal's font. */

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const heights = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** A bar of at most `width` characters for a value out of `most`; nothing for what is not above 0. */
export function bar(value: number, most: number, width: number): string {
  if (!(value > 0) || !(most > 0)) return ''
  const parts = value >= most ? width * 8 : Math.max(1, Math.round((value / most) * width * 8))
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '')
}

/**
 * A column for each value, as high as it is beside `least` and `most`; a value that is not 0 is always to be seen, and a
 * gap stands for what is no number.
 */
export const sparkline = (
  values: readonly number[],
  most = values.filter(Number.isFinite).reduce((most, value) => Math.max(most, value), -Infinity),
  least = values.filter(Number.isFinite).reduce((least, value) => Math.min(least, value), 0),
): string =>
  values
    .map(value => {
      if (Number.isNaN(value) || value === least)
        return value === least && value !== 0 ? heights[1] : heights[0]
      const share = value >= most ? 1 : value <= least ? 0 : (value - least) / (most - least)
      return heights[Math.max(1, Math.round(share * 8))] ?? heights[0]
    })
    .join('')
