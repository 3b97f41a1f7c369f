import { firstPageQuery, type Operation } from '../api/operation.ts'
import { buildRequest, curlCommand, previewRequest } from '../api/request.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { MergeqError, usageError } from '../errors.ts'
import { escapeInvisible, parseJson, stringifyJson } from '../json.ts'
import { singleRecord } from '../output/printer.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { textWidth, wrapLines } from '../output/text-width.ts'
import type { CommandRequest, Confirmation } from './command.ts'
import type { CommandContext } from './context.ts'

/** Not without a terminal, in CI, or with --no-input (docs/reference/cli.md, "Prompts"). */
export const canPrompt = ({ options, host }: Pick<CommandContext, 'options' | 'host'>): boolean =>
  host.input.terminal && !options.noInput && !isContinuousIntegration(host.env)

const lastSentence = / (?=(?:Type \S+ to confirm:|Continue\? \[y\/N\])$)/

/** Throws a usage error when the user cannot be asked. */
export function requirePrompt(command: string, context: Pick<CommandContext, 'options' | 'host'>): void {
  if (!canPrompt(context))
    throw usageError(
      `Cannot prompt to confirm \`mergeq ${command}\` without a terminal, in CI or with --no-input.`,
      'To skip the prompt, add --yes.',
    )
}

/** Throws a usage error when the user does not agree or cannot be asked. */
export async function confirm(
  command: string,
  confirmation: Confirmation | undefined,
  context: CommandContext,
): Promise<void> {
  if (confirmation === undefined) return
  requirePrompt(command, context)
  // The answer has a place on the last line.
  const columns = context.host.err.columns - confirmation.expectedInput.length - 2
  const text = sanitizeLine(confirmation.text)
  const lines = textWidth(text) <= columns ? text : text.replace(lastSentence, '\n')
  const question = wrapLines(lines, Math.max(24, columns))
  const input = (await context.host.input.ask(`${question} `))?.trim() ?? ''
  const { expectedInput } = confirmation
  const isConfirmed = expectedInput === 'y' ? /^y(es)?$/i.test(input) : input === expectedInput
  if (isConfirmed) return
  const problem = expectedInput === 'y' || input === '' ? '' : `'${input}' is not '${expectedInput}'. `
  throw new MergeqError('usage', `${problem}Nothing was changed.`)
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
