export const habits = [
  ['auth', 'refresh setup setup-git signin', 'auth login'],
  ['', 'signin', 'auth login'],
  ['auth login', '-t', 'To pass a token, write it to standard input: mergeq auth login --with-token'],
  ['', 'init setup configure', 'To begin, run: mergeq auth login, then mergeq doctor'],
  ['*', '--token --api-token', 'Other processes see it: set MERGEQ_TOKEN, or run: mergeq auth login'],
] as const
