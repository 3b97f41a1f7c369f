import { command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import { findHookPath, hookRecord, printHook, readHook, shownHook } from './shared/hook-file.ts'

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
  async run(_, cli) {
    const { host, options } = cli
    const path = await findHookPath(host)
    const advice = 'If a line of the hook calls `mergeq guard`, remove that line.'
    if ((await readHook(path, advice, host)) === undefined)
      return printHook(path, 'nothing', `No guard is installed in ${path}.`, cli)
    if (options.dryRun) return printPreview(`Would remove the guard from ${path}.`, cli)
    await host.files.remove(path)
    return printHook(path, 'removed', `Removed the guard from ${path}.`, cli)
  },
})
