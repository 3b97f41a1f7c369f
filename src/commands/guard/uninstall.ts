import { command } from '../../run/command.ts'
import { hookFields, uninstallHook } from './hook-file.ts'

export const guardUninstallCommand = command({
  name: 'guard uninstall',
  summary: 'Remove the pre-push hook',
  settings: 'optional',
  exits: ['refused'],
  prints: {
    table: 'the path of the hook and what was done',
    json: '{"hook","did"}; did is removed or nothing',
    ndjson: 'the same, on one line',
  },
  fields: hookFields,
  examples: ['mergeq guard uninstall'],
  run: (_, cli) => uninstallHook(cli),
})
