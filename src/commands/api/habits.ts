export const habits = [
  ['api', '<word>', 'Name only the operation: mergeq api getQueue'],
  ['api', '-d --data --body', 'To send fields: -F <key=value>. To send a document: --input <file>'],
  ['', 'curl request call', 'api'],
] as const
