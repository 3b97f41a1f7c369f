export const habits = [
  [
    'flaky',
    'upload validate',
    "The service's own uploader uploads reports. To compare one with the known tests: mergeq flaky match <file>",
  ],
  ['flaky', 'check', 'flaky match'],
] as const
