import type { Habit } from '../../../command/habits.ts'

export const habits: readonly Habit[] = [
  ['pr', 'edit change modify set', 'pr submit'],
  ['pr', 'priority update', 'To change the priority, submit again: mergeq pr submit <pr> --priority high'],
  [
    ', pr',
    'create new new-pr',
    'No command opens a pull request. To submit one that is open: mergeq pr submit',
  ],
  [', pr', 'add enqueue queue merge push land ship reopen requeue retry r+ automerge', 'pr submit'],
  ['queue', 'enqueue queue merge push land ship reopen requeue retry r+', 'pr submit'],
  [', pr', 'bump prioritize', 'pr submit --priority high'],
  ['merge', 'submit add queue enqueue', 'pr submit'],
  ['pr submit', '--watch --follow -w --sync', '--wait'],
  ['pr submit', '--wait=<time>', '--wait --timeout <value>'],
  ['pr submit', '--no-wait --async', 'Without --wait, the command does not wait.'],
  ['pr submit', '--auto --queue --enqueue', ''],
  ['pr submit', '-y --yes', 'Nothing is asked: pr submit needs no --yes.'],
  ['pr submit', '--solo --alone --single', '--no-batch'],
  ['pr submit', '--skip-the-line --emergency', '--priority urgent'],
  [
    'pr submit',
    '--first --front --now --top --jump',
    'To have it tested earlier: --priority high. With --priority urgent, it interrupts what is tested.',
  ],
  [
    'pr submit',
    '--merge-method --squash --rebase --merge -s -r -m',
    'The merge method is a setting of the queue: mergeq queue update --merge-method <method>',
  ],
  [
    'pr submit',
    '--delete-branch -d',
    'The service does not delete branches. GitHub can: see the settings of the repository.',
  ],
  [
    'pr submit',
    '--admin --bypass --force',
    'Nothing passes the queue. To have it tested before the others: --priority urgent',
  ],
  ['pr submit, pr restart', '--all', 'Pull requests are named: mergeq pr submit 7 8 9'],
  ['pr submit', '--urgent --high --medium --low', '--priority *'],
]
