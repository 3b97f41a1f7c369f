import { command } from '../../cli/command.ts'
import { printPreview } from '../../cli/dry-run.ts'
import { parentDirectory, sectionOf, storeFile, updateStore } from '../../config/store.ts'
import { readOrigin } from './service.ts'

export const authLogoutCommand = command({
  name: 'auth logout',
  destructive: true,
  summary: 'Remove the stored token for the base URL',
  prints: 'nothing',
  examples: ['mergeq auth logout'],
  async run(_, cli) {
    const { host, settings, logger } = cli
    const origin = await readOrigin(cli)
    const isStored = Object.hasOwn(sectionOf(await settings.store.read(), 'tokens'), origin)
    if (cli.options.dryRun) {
      const preview = isStored
        ? `Would remove the token for ${origin} from ${storeFile(cli)}.`
        : `Would change nothing: no token is stored for ${origin}.`
      return printPreview(preview, cli)
    }
    if (isStored)
      await updateStore(host, document => {
        const { [origin]: _, ...tokens } = sectionOf(document, 'tokens')
        return { ...document, tokens }
      })
    else if (
      settings.store.path !== undefined &&
      (await host.files.exists(parentDirectory(settings.store.path)))
    )
      // A write also removes what a killed write left behind, which may contain the token.
      await updateStore(host, document => document).catch(() => undefined)
    await logger.info(isStored ? `Removed the token for ${origin}.` : `No token is stored for ${origin}.`)
    return 0
  },
})
