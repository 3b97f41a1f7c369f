import { changeSentence } from '../api/change-sentence.ts'
import { isChange, type Operation } from '../api/operation.ts'
import { findCurrentPullRequest } from '../api/reads/current-pull-request.ts'
import { usageError } from '../base/errors.ts'
import type { ParsedArgs } from '../config/settings.ts'
import { type PullRequest, pullRequestName } from '../values/pull-request.ts'
import { queueName } from '../values/repository.ts'
import type { Cli } from './command.ts'
import { canPrompt, confirm } from './confirm.ts'
import { argsForPullRequest, pullRequestOf } from './pull-request-inputs.ts'

/**
 * Finds the pull request of a command that names none. One that neither a variable nor the CI job names is a guess: a
 * change guesses only where nobody can have meant to name it on standard input, and asks before it changes the guess
 * unless its operation acts on one (docs/reference/cli.md, "Pull requests").
 */
export async function readCurrentPullRequest(
  cli: Cli,
  operation: Operation | undefined,
  args: ParsedArgs,
): Promise<PullRequest> {
  const { command, client, options } = cli
  const settings = cli.settings.withArgs(args)
  const mayChange = settings.changes && !options.dryRun
  if (mayChange && mayNameOnInput(cli, args) && !(await settings.isNamed('pr')))
    throw usageError(
      'No pull request was named, and standard input is not read without -.',
      'Name the pull request, or set MERGEQ_PR. To read pull requests from standard input, add -.',
    )
  const { reference, guess } = await findCurrentPullRequest(settings, client(), {
    advice: `Name the pull request as an argument of ${command}.`,
    give: pr => `run: ${settings.commandLine([...command.split(' '), pr])}`,
    whyOffline: options.dryRun ? '--dry-run does not ask the service by branch' : undefined,
  })
  const own = argsForPullRequest(args, reference)
  const found = await pullRequestOf(own, cli)
  if (guess === undefined) return found
  const guessed = { ...found, guess }
  if (mayChange) await confirmGuess(cli, operation, guessed)
  return guessed
}

/** Whether standard input may be a list of pull requests; an option that reads it leaves none for them. */
const mayNameOnInput = ({ host }: Cli, args: ParsedArgs): boolean =>
  host.input.isStream && ![...args].some(([name, values]) => name.startsWith('--') && values.includes('-'))

/** Asks whether to change a pull request that was guessed; throws a usage error where nobody can be asked. */
async function confirmGuess(cli: Cli, operation: Operation | undefined, guessed: PullRequest): Promise<void> {
  if (operation?.change?.actsOnGuess === true) {
    // The sentence about another change names it.
    if (cli.time !== undefined)
      await cli.logger.info(
        `No pull request was named: using ${pullRequestName(guessed)} for the queue for ${queueName(guessed)}.`,
      )
    return
  }
  if (cli.args.has('--yes')) return
  if (!canPrompt(cli)) {
    const line = cli.settings.commandLine([...cli.command.split(' '), guessed.pr], guessed)
    throw usageError(
      `No pull request was named; that of the checkout is ${pullRequestName(guessed)}.`,
      `If it is meant, run: ${line}`,
    )
  }
  const change =
    operation !== undefined && isChange(operation)
      ? changeSentence(operation, guessed, 'before')
      : `Change ${pullRequestName(guessed)}`
  await confirm({ question: `${change}?`, expectedInput: 'y' }, cli)
}
