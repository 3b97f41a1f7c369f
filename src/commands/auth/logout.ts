import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/confirm.ts'
import { sectionOf, storeFile } from '../../config/store.ts'
import { readOrigin } from './service.ts'

export const authLogoutCommand = defineCommand({
  command: 'auth logout',
  destructive: true,
  summary: 'Remove the stored token for the base URL',
  output: 'nothing',
  examples: ['mergeq auth logout'],
  async run(_, context) {
    const origin = await readOrigin(context)
    const isStored = Object.hasOwn(sectionOf(await context.settings.store.read(), 'tokens'), origin)
    if (context.options.dryRun) {
      const preview = isStored
        ? `Would remove the token for ${origin} from ${storeFile(context)}.`
        : `Would change nothing: no token is stored for ${origin}.`
      return printPreview('auth logout', preview, context)
    }
    const { removeTemporaryFiles, updateStore } = await import('../../config/store-update.ts')
    if (!isStored) {
      await removeTemporaryFiles(context.host).catch(() => undefined)
      await context.logger.info(`No token is stored for ${origin}.`)
      return 0
    }
    await updateStore(context.host, document => {
      const { [origin]: _, ...tokens } = sectionOf(document, 'tokens')
      return { ...document, tokens }
    })
    await context.logger.info(`Removed the token for ${origin}.`)
    return 0
  },
})
