import { isContinuousIntegration } from '../config/ci-systems.ts'
import { MergeqError, usageError } from '../errors.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { textWidth, wrapLines } from '../output/text-width.ts'
import type { Confirmation } from './command.ts'
import type { CommandContext } from './context.ts'

/** Not without a terminal, in CI, or with --no-input (docs/reference/cli.md, "Prompts"). */
export const canPrompt = ({ options, host }: Pick<CommandContext, 'options' | 'host'>): boolean =>
  host.input.terminal && !options.noInput && !isContinuousIntegration(host.env)

const lastSentence = / (?=(?:Type \S+ to confirm:|Continue\? \[y\/N\])$)/

/** Throws a usage error when the user does not agree or cannot be asked. */
export async function confirm(
  command: string,
  confirmation: Confirmation | undefined,
  context: CommandContext,
): Promise<void> {
  if (confirmation === undefined) return
  if (!canPrompt(context))
    throw usageError(
      `Cannot prompt to confirm \`mergeq ${command}\` without a terminal, in CI or with --no-input.`,
      'To skip the prompt, add --yes.',
    )
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
