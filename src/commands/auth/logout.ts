import { command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import {
  ownProfile,
  parentDirectory,
  profileNames,
  storedTokens,
  storeFile,
  valueNamesOf,
} from '../../config/store.ts'
import { updateStore, updateTokens } from '../../config/store-update.ts'
import { describeTokenOwner, profileWords } from '../../config/token.ts'
import { joinCommandLine } from '../../values/suggested-command.ts'
import { readOrigin } from './shared/service.ts'

export const definition = command({
  name: 'auth logout',
  destructive: true,
  settings: 'profile created',
  summary: 'Remove the stored token, and with it a profile without settings',
  prints: 'nothing',
  examples: ['mergeq auth logout'],
  async run(_, cli) {
    const { host, settings, logger } = cli
    const origin = await readOrigin(cli)
    const profile = await settings.require('profile')
    const owner = describeTokenOwner(origin, profile)
    // It may be gone with its token.
    const isKnown = profile === 'default' || (await profileNames(settings.store)).includes(profile)
    const stored = isKnown ? Object.keys(await storedTokens(settings.store, profile)) : []
    const isStored = stored.includes(origin)
    const others = stored.filter(other => other !== origin)
    if (cli.options.dryRun) {
      const preview = isStored
        ? `Would remove the token for ${owner} from ${storeFile(cli)}.`
        : `Would change nothing: no token is stored for ${owner}.`
      return printPreview(preview, cli)
    }
    if (isStored) await updateTokens(cli, profile, ({ [origin]: _, ...tokens }) => tokens)
    else if (
      settings.store.path !== undefined &&
      (await host.files.exists(parentDirectory(settings.store.path)))
    )
      // A write also removes what a killed write left behind, which may contain the token.
      await updateStore(cli, document => document).catch(() => undefined)
    await logger.info(isStored ? `Removed the token for ${owner}.` : `No token is stored for ${owner}.`)
    for (const other of others) {
      const logout = joinCommandLine(['auth', 'logout', '--base-url', other, ...profileWords(profile)])
      await logger.info(`To remove the token for ${other}, run: ${logout}`)
    }
    const left = valueNamesOf(ownProfile(await settings.store.read(), profile))
    if (profile !== 'default' && left.length > 0 && others.length === 0) {
      const unset = joinCommandLine(['config', 'unset', ...left, '--profile', profile])
      await logger.info(`To remove its settings, and with them the profile, run: ${unset}`)
    }
    return 0
  },
})
