import type { CommandContext } from '../../cli/context.ts'
import { defineCustomCommand } from '../../cli/custom-command.ts'
import { readOrigin } from '../../cli/origin.ts'
import { printPreview } from '../../cli/preview.ts'
import { sectionOf, storeFile } from '../../config/store.ts'

/** Returns the origin of the base address, and whether a token is stored for it. */
async function findStoredToken(context: CommandContext) {
  const origin = await readOrigin(context)
  const tokens = sectionOf(await context.settings.store.read(), 'tokens')
  return { origin, isStored: Object.hasOwn(tokens, origin) }
}

/** `auth logout`: removes the stored token of the origin of the base address. */
export const authLogoutCommand = defineCustomCommand({
  command: 'auth logout',
  destructive: true,
  summary: 'Remove the stored token for the base URL',
  output: 'nothing',
  inputs: {},
  examples: ['mergeq auth logout'],
  async dryRun(_, context) {
    const { origin, isStored } = await findStoredToken(context)
    const preview = isStored
      ? `Would remove the token for ${origin} from ${storeFile(context)}.`
      : `Would change nothing: no token is stored for ${origin}.`
    return printPreview('auth logout', preview, context)
  },
  async run(_, context) {
    const { origin, isStored } = await findStoredToken(context)
    if (!isStored) {
      const { removeTemporaryFiles } = await import('../../config/store-update.ts')
      await removeTemporaryFiles(context.host).catch(() => undefined)
      await context.logger.info(`No token is stored for ${origin}.`)
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
