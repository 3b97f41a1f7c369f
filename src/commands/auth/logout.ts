import { defineCommand } from '../../cli/command.ts'
import { readOrigin } from '../../cli/origin.ts'
import { printPreview } from '../../cli/preview.ts'
import { sectionOf, storeFile } from '../../config/store.ts'

/** `auth logout`: removes the stored token of the origin of the base address. */
export const authLogoutCommand = defineCommand({
  command: 'auth logout',
  summary: 'Remove the stored token for the base URL',
  output: 'nothing',
  inputs: {},
  examples: ['mergeq auth logout'],
  async run(_, context) {
    const origin = await readOrigin(context)
    const isStored = Object.hasOwn(sectionOf(await context.settings.store.read(), 'tokens'), origin)
    if (context.options.dryRun)
      return printPreview(
        'auth logout',
        isStored
          ? `Would remove the token for ${origin} from ${storeFile(context)}.`
          : `Would change nothing: no token is stored for ${origin}.`,
        context,
      )
    if (!isStored) {
      const { removeTemporaryFiles } = await import('../../config/store-update.ts')
      await removeTemporaryFiles(context.host).catch(() => undefined)
      await context.logger.info(`Nothing was stored for ${origin}.`)
      return 0
    }
    const { updateStore } = await import('../../config/store-update.ts')
    await updateStore(context.host, document => {
      const { [origin]: _, ...tokens } = sectionOf(document, 'tokens')
      return { ...document, tokens }
    })
    await context.logger.info(`Removed the token for ${origin}.`)
    return 0
  },
})
