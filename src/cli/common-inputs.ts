import { type Param, param } from '../api/operation.ts'
import { defaultMaxErrors } from '../domain/limits.ts'
import { integerParser } from '../domain/values/numbers.ts'
import type { Repository } from '../domain/values/repository.ts'
import { integer } from '../domain/values/types.ts'
import { usageError } from '../errors.ts'
import { flag, type Input, option, paramInput } from './inputs.ts'

export const yesInput = flag({ name: 'yes', short: 'y', summary: 'Skip the confirmation prompt' })

/**
 * The repository that an option or the environment names; without one, all of the organization
 * (docs/reference/cli.md, "CI jobs and git").
 */
const repositoryOrAll: Input<Repository | undefined> = {
  definitions: [
    {
      name: '--all-repos',
      summary: 'Include all repositories of the organization (the default without --repo)',
    },
  ],
  setting: 'repo',
  read(args, context) {
    if (!args.has('--all-repos')) return context.settings.readExplicit('repo')
    if (args.has('--repo'))
      throw usageError('--all-repos and --repo cannot be used together.', 'Use only one of them.')
    return undefined
  },
}

/** The branch that --target-branch names; without it, all branches are shown. */
const typedBranch: Input<string | undefined> = {
  definitions: [],
  setting: 'targetBranch',
  read: async (args, context) =>
    args.has('--target-branch') ? context.settings.require('targetBranch') : undefined,
}

/** The queues of a command that reads the metrics. */
export const metricsInputs = { repo: repositoryOrAll, branch: typedBranch }

const terminalLimit = 30

/** The limit of a list: by default 30 records on a terminal, otherwise all, which is undefined. */
export function limitInput({ summary }: Param<number | undefined>): Input<number | undefined> {
  const typed = paramInput(
    'limit',
    param(integer(0, Number.MAX_SAFE_INTEGER), `${summary}; 0 lists all`, {
      defaultText: `${terminalLimit} on a terminal, otherwise 0`,
    }),
  )
  return {
    ...typed,
    async read(args, context) {
      const limit = (await typed.read(args, context)) ?? (context.host.out.terminal ? terminalLimit : 0)
      return limit === 0 ? undefined : limit
    },
  }
}

/**
 * Returns the line below a list on a terminal that a limit cut.
 *
 * @param count the records that are shown, such as `30 flaky tests`
 */
export const cutListSentence = (count: string): string =>
  `Showing ${count}; there are more. To list all, add --limit 0.`

export const webInput = flag({ name: 'web', summary: 'Open the page in the browser instead of printing' })

/** `--max-errors` of a wait or a watch: how many polls in a row may fail, 1 to 1,000,000. */
export const maxErrorsOption = option({
  name: 'max-errors',
  value: 'n',
  default: String(defaultMaxErrors),
  summary: 'Give up after this many failed polls in a row',
  parse: integerParser(1, 1_000_000),
})
