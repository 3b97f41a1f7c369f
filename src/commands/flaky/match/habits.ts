export const habits = [
  [
    'flaky, flakytests',
    'upload validate',
    "The service's own uploader uploads reports. To compare one with the known tests: mergeq flaky match <file>",
  ],
] as const
