export const habits = [
  [', auth', 'whoami me user', 'auth status'],
  ['auth status', '-t --show-token', 'auth token'],
] as const
