import { MergeqError } from '../base/errors.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import type { Cli } from './command.ts'

/** Opens a page in the browser, and says so. Throws an `output` error that shows the URL if that is not possible. */
export async function openPage(url: string, { host, logger, options }: Cli): Promise<void> {
  const shown = sanitizeLine(url)
  if (!/^https?:\/\//.test(url)) throw new MergeqError('output', `${shown} is not the URL of a web page.`)
  if (options.dryRun) return logger.info(`Would open ${shown} in your browser.`)
  try {
    await host.openUrl(url)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `The browser could not be started: ${sanitizeLine(reason)}.`, {
      hint: `Open this page in a browser: ${shown}`,
    })
  }
  await logger.info(`Opened ${shown} in your browser.`)
}
