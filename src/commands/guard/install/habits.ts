export const habits = [
  ['guard', 'enable on add setup --install', 'guard install'],
  ['', 'hook hooks', 'guard'],
] as const
