import { outline } from '../../api/operations/fields.ts'
import { command } from '../../command/command.ts'
import { hookFields, hookRecord, uninstallHook } from './shared/hook-file.ts'

export const definition = command({
  name: 'guard uninstall',
  summary: 'Remove the pre-push hook',
  settings: 'optional',
  exits: ['refused'],
  prints: {
    table: 'the path of the hook and what was done',
    json: `${outline(hookRecord)}; did is removed or nothing`,
    ndjson: 'the same, on one line',
  },
  documents: [hookRecord],
  fields: hookFields,
  examples: ['mergeq guard uninstall'],
  run: (_, cli) => uninstallHook(cli),
})
