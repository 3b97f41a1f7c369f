/** Block characters, which every terminal font has. */
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const heights = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/**
 * Returns a bar of at most `width` characters for a value between 0 and `max`; an empty string for a value
 * that is not above 0.
 */
export function bar(value: number, max: number, width: number): string {
  if (!(value > 0) || !(max > 0)) return ''
  const parts = value >= max ? width * 8 : Math.max(1, Math.round((value / max) * width * 8))
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '')
}

/**
 * Returns a sparkline with a character for each value, scaled from 0 or a smaller value to the largest value.
 * A value other than 0 is always visible, and NaN is a gap.
 */
export function sparkline(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite)
  const [min, max] = [Math.min(0, ...finite), Math.max(...finite)]
  return values
    .map(value => {
      if (Number.isNaN(value) || value === min) return value === min && value !== 0 ? heights[1] : heights[0]
      const share = value >= max ? 1 : value <= min ? 0 : (value - min) / (max - min)
      return heights[Math.max(1, Math.round(share * 8))] ?? heights[0]
    })
    .join('')
}
