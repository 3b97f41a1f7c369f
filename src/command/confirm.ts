import { sandboxNote } from '../api/send.ts'
import { MergeqError, usageError } from '../base/errors.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { outcomeOfRecord, stateOf, stateWords } from '../domain/states.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { textWidth, truncateLine, wrapLines } from '../output/text-width.ts'
import { sandboxToken } from '../values/scenario-names.ts'
import type { Cli } from './command.ts'

/** Not without a terminal, in CI, or with --no-input (docs/reference/cli.md, "Prompts"). */
export const canPrompt = ({ options, host }: Pick<Cli, 'options' | 'host'>): boolean =>
  host.input.terminal && !options.noInput && !isContinuousIntegration(host.env)

/** A question, and the input that confirms it: y, or the full name of what is destroyed. */
interface Confirmation {
  /** What will happen; sentences before the question, which each begin a new line if all do not fit on one. */
  readonly statement?: string | readonly string[]
  /** What is changed, a line for each. */
  readonly list?: readonly string[]
  /** Without `[y/N]`, which is added if the expected input is y. */
  readonly question: string
  readonly expectedInput: string
}

const maxLines = 10

/** A pull request of a prompt; its record is undefined if it is not in the queue, and empty if it was not read. */
interface ListedPullRequest {
  readonly pr: number
  readonly record: JsonObject | undefined
}

export const isListedAsQueued = ({ record }: ListedPullRequest): boolean =>
  record !== undefined && outcomeOfRecord(record) === 'pending'

/** Returns a line for each pull request, ten at most, those that are not queued last. */
export function pullRequestLines(pullRequests: readonly ListedPullRequest[]): readonly string[] {
  const notQueued = pullRequests.filter(pullRequest => !isListedAsQueued(pullRequest))
  const rows = [...pullRequests.filter(isListedAsQueued), ...notQueued].map(({ pr, record }) => {
    const author = getString(record, 'prAuthor')
    const state = record === undefined ? 'not in the queue' : stateWords(stateOf(record))
    // The state stands first: the end of a long line is cut.
    const words = [getString(record, 'prTitle') ?? '', author === undefined ? '' : `(${author})`]
    return [`#${pr}`, state, ...words.filter(word => word !== '')]
  })
  const widths = [0, 1].map(column => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  const lines = rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const count = lines.length > maxLines ? maxLines - 1 : maxLines
  return [...lines.slice(0, count), ...(lines.length > count ? [`and ${lines.length - count} more`] : [])]
}

function whyNoPrompt({ options, host }: Cli): string {
  if (options.noInput) return '--no-input is set'
  if (!host.input.terminal) return 'standard input is not a terminal'
  return 'this is a CI job'
}

export const promptError = (cli: Cli): MergeqError =>
  usageError(
    `Cannot prompt to confirm ${cli.command}: ${whyNoPrompt(cli)}.`,
    'To see first what would be sent, add --dry-run. To skip the prompt, add --yes.',
  )

/** Throws a usage error when the user does not agree or cannot be asked. */
export async function confirm(
  { statement, list = [], question, expectedInput }: Confirmation,
  cli: Cli,
): Promise<void> {
  // A dry run changes nothing.
  if (cli.options.dryRun) return
  if (!canPrompt(cli)) throw promptError(cli)
  // A request would say it only after the prompt.
  const { MERGEQ_TOKEN, MERGEQ_SANDBOX_SHELL } = cli.host.env
  if (MERGEQ_TOKEN === sandboxToken && MERGEQ_SANDBOX_SHELL !== '1') await cli.logger.infoOnce(sandboxNote)
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
