import { limitPrograms } from '../../api/limit-programs.ts'
import { startWaitTime } from '../../api/wait-time.ts'
import { failureOrThrow } from '../../base/errors.ts'
import { type Cli, command } from '../../command/command.ts'
import { flag } from '../../command/inputs.ts'
import { listHeads } from '../../config/git.ts'
import { installedHookRecord, installHook, shownHook } from './shared/hook-file.ts'

/** Warns if the guard would not find every pull request in this checkout. */
async function warnOfLimits({
  host,
  logger,
  settings,
}: Pick<Cli, 'host' | 'logger' | 'settings'>): Promise<void> {
  try {
    // As long as the hook has.
    const limited = limitPrograms(host, startWaitTime(3_000, host.clock))
    const heads = await listHeads(limited, await settings.require('repo'), '*')
    if (typeof heads === 'string')
      await logger.warn(`Pushes will be checked by the name of the branch only: ${heads}.`)
  } catch (error) {
    await logger.warn(`Pushes cannot be checked: ${failureOrThrow(error).message}`)
  }
}

export const definition = command({
  name: 'guard install',
  summary: 'Install the pre-push hook in this checkout',
  settings: 'optional',
  exits: ['refused'],
  prints: {
    table: 'the path of the hook and what was done; with core.hooksPath, the line to add to a hook',
    note: 'did is installed or nothing; with core.hooksPath also "line" and "setIn"',
    documents: [installedHookRecord],
    ...shownHook,
  },
  options: { failClosed: flag('Also block a push if the queue cannot be read') },
  examples: ['mergeq guard install', 'mergeq guard install --fail-closed'],
  async run({ failClosed }, cli) {
    const code = await installHook(failClosed, cli)
    if (!cli.options.dryRun) await warnOfLimits(cli)
    return code
  },
})
