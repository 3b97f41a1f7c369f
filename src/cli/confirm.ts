import { firstPageQuery, type Operation } from '../api/operation.ts'
import { buildRequest, curlCommand, previewRequest } from '../api/request.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { MergeqError, usageError } from '../errors.ts'
import { escapeInvisible, parseJson, stringifyJson } from '../json.ts'
import { singleRecord } from '../output/printer.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { textWidth, wrapLines } from '../output/text-width.ts'
import type { CommandRequest } from './command.ts'
import type { CommandContext } from './context.ts'

/** Not without a terminal, in CI, or with --no-input (docs/reference/cli.md, "Prompts"). */
export const canPrompt = ({ options, host }: Pick<CommandContext, 'options' | 'host'>): boolean =>
  host.input.terminal && !options.noInput && !isContinuousIntegration(host.env)

/** A question, and the input that confirms it: y, or the full name of what is destroyed. */
interface Confirmation {
  readonly text: string
  readonly expectedInput: string
}

const lastSentence = / (?=(?:Type \S+ to confirm:|Continue\? \[y\/N\])$)/

export const promptError = (command: string): MergeqError =>
  usageError(
    `Cannot prompt to confirm \`mergeq ${command}\` without a terminal, in CI or with --no-input.`,
    'To skip the prompt, add --yes.',
  )

/** Throws a usage error when the user does not agree or cannot be asked. */
export async function confirm(
  command: string,
  { text: question, expectedInput }: Confirmation,
  context: CommandContext,
): Promise<void> {
  if (!canPrompt(context)) throw promptError(command)
  // The answer has a place on the last line.
  const columns = context.host.err.columns - expectedInput.length - 2
  const text = sanitizeLine(question)
  const lines = textWidth(text) <= columns ? text : text.replace(lastSentence, '\n')
  const prompt = wrapLines(lines, Math.max(24, columns))
  const input = (await context.host.input.ask(`${prompt} `))?.trim() ?? ''
  const isConfirmed = expectedInput === 'y' ? /^y(es)?$/i.test(input) : input === expectedInput
  if (isConfirmed) return
  const problem = expectedInput === 'y' || input === '' ? '' : `'${input}' is not '${expectedInput}'. `
  throw new MergeqError('usage', `${problem}Nothing was changed.`)
}

/**
 * Opens a page in the browser of this machine and says so on standard error. Throws an `output` error that
 * shows the URL if no browser can be started, or if the URL is not one of the web.
 */
export async function openPage(url: string, { host, logger, options }: CommandContext): Promise<void> {
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

/**
 * Prints what a command would change on this machine, for a `--dry-run` without requests
 * (docs/reference/cli.md, "Dry run"): `{"command","would"}` as JSON, the sentence `would` as text. Returns
 * exit code 0.
 */
export async function printPreview(
  command: string,
  would: string,
  { printer }: Pick<CommandContext, 'printer'>,
): Promise<number> {
  await printer.print(
    singleRecord({ command, would }, () => ({
      columns: [{ title: 'WOULD', format: 'prose' }],
      rows: [[would]],
      sentence: would,
    })),
  )
  await printer.end()
  return 0
}

/**
 * Prints requests without sending them (docs/reference/cli.md, "Dry run"), without confirmation and token.
 */
export async function printDryRun(
  operation: Operation,
  requests: readonly CommandRequest[],
  context: CommandContext,
): Promise<number> {
  const { out } = context.host
  for (const { values, overrides } of requests) {
    const pageQuery = firstPageQuery(operation, values, context.startedAt)
    const { request } = await buildRequest(context.client(), operation, values, { overrides, pageQuery })
    const { body, ...shown } = previewRequest(request)
    const document = { ...shown, ...(body === undefined ? {} : { body: parseJson(body) ?? null }) }
    await out.write(`${stringifyJson(document, out.terminal)}\n`)
    // The escapes in the body are JSON: the copied command sends the same characters.
    const shownBody = body === undefined ? {} : { body: escapeInvisible(body) }
    if (out.terminal) await out.write(`${curlCommand({ ...shown, ...shownBody })}\n`)
  }
  return 0
}
