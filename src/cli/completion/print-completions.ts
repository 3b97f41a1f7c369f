import type { Host } from '../../host/host.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import type { SecretOutput } from '../context.ts'
import type { HelpGroup } from '../help/help-text.ts'
import { type CompletableCommand, type Completion, completeWords } from './complete.ts'

/** Whether a candidate can be a line of the protocol; a shell would misread any other. */
const isSingleLine = (value: string): boolean => value === sanitizeLine(value) && !value.startsWith(':')

/** Returns a line `value`, or `value<TAB>description`, for each candidate, then the line `:directive`. */
export const formatCompletion = ({ candidates, directive }: Completion): string =>
  [
    ...candidates
      .filter(({ value }) => isSingleLine(value))
      .map(({ value, description }) =>
        description === undefined ? value : `${value}\t${sanitizeLine(description)}`,
      ),
    `:${directive}`,
  ]
    .map(line => `${line}\n`)
    .join('')

/**
 * Runs `mergeq __complete`, the hidden command behind the completion scripts, and returns 0. A failure prints
 * nothing, because the user is typing a command line at that moment.
 *
 * @param args `--`, the words before the current word, and the current word
 * @param commands the commands of the groups that `args` name
 */
export async function printCompletions(
  args: readonly string[],
  groups: readonly HelpGroup[],
  commands: readonly CompletableCommand[],
  host: Host,
  secrets: SecretOutput,
): Promise<number> {
  try {
    const words = args[0] === '--' ? args.slice(1) : args
    // PowerShell cannot pass an empty argument to every program: its script passes two quotes instead.
    const current = words.at(-1)?.replace(/^""$/, '') ?? ''
    const completion = completeWords(groups, commands, words.slice(0, -1), current)
    const { candidates, lookup } = completion
    const values =
      lookup === undefined ? [] : await (await import('./read-values.ts')).readValues(lookup, host, secrets)
    await host.out.write(formatCompletion({ ...completion, candidates: [...candidates, ...values] }))
  } catch {
    // The shell then offers nothing.
  }
  return 0
}
