import { defineCommand } from '../../cli/define-command.ts'
import { printPreview } from '../../cli/dry-run.ts'
import { parentDirectory, sectionOf, storeFile, updateStore } from '../../config/store.ts'
import { readOrigin } from './service.ts'

export const authLogoutCommand = defineCommand({
  command: 'auth logout',
  destructive: true,
  summary: 'Remove the stored token for the base URL',
  output: 'nothing',
  examples: ['mergeq auth logout'],
  async run(_, context) {
    const { host, settings, logger } = context
    const origin = await readOrigin(context)
    const isStored = Object.hasOwn(sectionOf(await settings.store.read(), 'tokens'), origin)
    if (context.options.dryRun) {
      const preview = isStored
        ? `Would remove the token for ${origin} from ${storeFile(context)}.`
        : `Would change nothing: no token is stored for ${origin}.`
      return printPreview(preview, context)
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
