export const habits = [
  ['completion', '--shell -s', ''],
  ['', 'autocomplete complete', 'completion'],
] as const
