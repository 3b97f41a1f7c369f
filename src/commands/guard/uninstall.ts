import { command } from '../../command/command.ts'
import { hookRecord, shownHook, uninstallHook } from './shared/hook-file.ts'

export const definition = command({
  name: 'guard uninstall',
  summary: 'Remove the pre-push hook',
  settings: 'optional',
  exits: ['refused'],
  prints: {
    table: 'the path of the hook and what was done',
    note: 'did is removed or nothing',
    documents: [hookRecord],
    ...shownHook,
  },
  examples: ['mergeq guard uninstall'],
  run: (_, cli) => uninstallHook(cli),
})
