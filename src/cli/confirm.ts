import { isContinuousIntegration } from '../config/ci-systems.ts'
import { MergeqError, usageError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { textWidth, truncateLine, wrapLines } from '../output/text-width.ts'
import type { Cli } from './cli.ts'

/** Not without a terminal, in CI, or with --no-input (docs/reference/cli.md, "Prompts"). */
export const canPrompt = ({ options, host }: Pick<Cli, 'options' | 'host'>): boolean =>
  host.input.terminal && !options.noInput && !isContinuousIntegration(host.env)

/** A question, and the input that confirms it: y, or the full name of what is destroyed. */
interface Confirmation {
  /** What will happen; a sentence before the question, which begins a new line if both do not fit on one. */
  readonly statement?: string
  /** What is changed, a line for each. */
  readonly list?: readonly string[]
  /** Without `[y/N]`, which is added if the expected input is y. */
  readonly question: string
  readonly expectedInput: string
}

const maxLines = 10

/** Returns a line for each pull request, ten at most: its number and, as far as its record has them, title and author. */
export function listPullRequests(
  pullRequests: readonly { readonly pr: number; readonly record?: JsonObject | undefined }[],
): readonly string[] {
  const lines = pullRequests.map(({ pr, record }) => {
    const [title, author] = [getString(record, 'prTitle'), getString(record, 'prAuthor')]
    return [`#${pr}`, title ?? [], author === undefined ? [] : `(${author})`].flat().join('  ')
  })
  const count = lines.length > maxLines ? maxLines - 1 : maxLines
  return [...lines.slice(0, count), ...(lines.length > count ? [`and ${lines.length - count} more`] : [])]
}

export const promptError = (command: string): MergeqError =>
  usageError(
    `Cannot prompt to confirm \`mergeq ${command}\` without a terminal, in CI or with --no-input.`,
    'To skip the prompt, add --yes.',
  )

/** Throws a usage error when the user does not agree or cannot be asked. */
export async function confirm(
  { statement, list = [], question, expectedInput }: Confirmation,
  cli: Cli,
): Promise<void> {
  // A dry run changes nothing.
  if (cli.options.dryRun) return
  if (!canPrompt(cli)) throw promptError(cli.command)
  // The answer has a place on the last line.
  const columns = cli.host.err.columns - expectedInput.length - 2
  const fullQuestion = expectedInput === 'y' ? `${question} [y/N]` : question
  const sentences = [statement ?? [], fullQuestion].flat().map(sanitizeLine)
  const listed = list.map(item => truncateLine(`  ${sanitizeLine(cli.secrets.redact(item))}`, columns))
  const line = sentences.join(' ')
  const isShort = listed.length === 0 && textWidth(line) <= columns
  const lines = isShort ? line : [...sentences.slice(0, -1), ...listed, ...sentences.slice(-1)].join('\n')
  const prompt = wrapLines(lines, Math.max(24, columns))
  const input = (await cli.host.input.ask(`${prompt} `))?.trim() ?? ''
  const isConfirmed = expectedInput === 'y' ? /^y(es)?$/i.test(input) : input === expectedInput
  if (isConfirmed) return
  const problem = expectedInput === 'y' || input === '' ? '' : `'${input}' is not '${expectedInput}'. `
  throw new MergeqError('usage', `${problem}Nothing was changed.`)
}
