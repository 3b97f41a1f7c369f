import { limitPrograms, startWaitTime } from '../../api/wait-time.ts'
import { failureOrThrow, MergeqError } from '../../base/errors.ts'
import { type Cli, command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import { flag } from '../../command/inputs.ts'
import { listHeads } from '../../config/git.ts'
import { parentDirectory } from '../../config/store.ts'
import { findOtherHook, howToAdd, lineToAdd, printLine, renderHook } from './install/hook.ts'
import { findHookPath, installedHookRecord, printHook, readHook, shownHook } from './shared/hook-file.ts'

async function warnOfLimits({ host, logger, settings }: Cli): Promise<void> {
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

/** Installs or updates the hook; throws a `refused` error if there is a hook of another program. */
async function installHook(failClosed: boolean, cli: Cli): Promise<number> {
  const { host, options } = cli
  const path = await findHookPath(host)
  const other = await findOtherHook(host, path)
  if (other !== undefined) return printLine(other, failClosed, cli)
  const wanted = renderHook(failClosed)
  const advice = `Add this line to the hook. ${howToAdd}\n${lineToAdd(failClosed)}`
  const existing = await readHook(path, advice, host)
  if (existing === wanted)
    return printHook(path, 'nothing', `The guard is already installed in ${path}.`, cli)
  if (options.dryRun)
    return printPreview(`Would ${existing === undefined ? 'install' : 'update'} the guard in ${path}.`, cli)
  try {
    await host.files.createDirectory(parentDirectory(path))
    await host.files.replace(path, wanted, 0o755)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `${path} could not be written: ${reason}.`, {
      hint: `Check the permissions of the directory and of ${path}.`,
    })
  }
  return printHook(path, 'installed', `Installed the guard in ${path}; git runs it before each push.`, cli)
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
