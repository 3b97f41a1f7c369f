export const habits = [
  ['queue', 'edit set configure change patch', 'queue update'],
  ['', 'scale', 'To test more pull requests at a time: mergeq queue update --concurrency <n>'],
  [
    ', queue',
    'undo rollback revert rollout',
    'To take a change back, run the command that mergeq queue update and mergeq queue apply print after it.',
  ],
  ['queue update', '--max-concurrency --parallelism --replicas', '--concurrency'],
  ['queue update', '--batch-size --min-size', '--batching-min-size'],
  ['queue update', '--timeout-minutes --test-timeout', '--testing-timeout-minutes'],
  [
    'queue update',
    '--for --until --duration',
    'A change of settings has no end. To end it, run the command that mergeq queue update prints after it.',
  ],
] as const
