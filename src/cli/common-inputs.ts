import { defaultMaxErrors, defaultMaxPages, defaultPageSize } from '../domain/limits.ts'
import { integerParser } from '../domain/values/numbers.ts'
import type { Repository } from '../domain/values/repository.ts'
import { textParser } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import { flag, type Input, option, settingInput } from './inputs.ts'

export const queueInputs = { repo: settingInput('repo'), targetBranch: settingInput('targetBranch') }

export const organizationInputs = { repo: settingInput('repo'), org: settingInput('org') }

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
    if (!args.has('--all-repos')) return context.readExplicit('repo')
    if (args.has('--repo'))
      throw usageError('--all-repos and --repo cannot be used together.', 'Use only one of them.')
    return undefined
  },
}

/** The branch that --target-branch names; without it, all branches are shown. */
const typedBranch: Input<string | undefined> = {
  definitions: [],
  setting: 'targetBranch',
  read: async (args, context) => (args.has('--target-branch') ? context.require('targetBranch') : undefined),
}

/** The queues of a command that reads the metrics. */
export const metricsInputs = { repo: repositoryOrAll, branch: typedBranch }

const terminalLimit = 30

export const pageSizeInput = (noun: string) =>
  option({
    name: 'page-size',
    value: 'n',
    default: String(defaultPageSize),
    summary: `${noun} per page, 1 to 100`,
    parse: integerParser(1, 100),
  })

export const pageTokenInput = option({
  name: 'page-token',
  value: 'token',
  summary: 'Fetch only the page with this token',
  parse: textParser('page token'),
})

export const maxPagesInput = option({
  name: 'max-pages',
  value: 'n',
  default: String(defaultMaxPages),
  summary: 'Maximum number of pages to fetch',
  parse: integerParser(1, Number.MAX_SAFE_INTEGER),
})

/** By default 30 records on a terminal, otherwise all, which is undefined. */
export function limitInput(noun: string): Input<number | undefined> {
  const typed = option({
    name: 'limit',
    value: 'n',
    defaultText: `${terminalLimit} on a terminal, otherwise 0`,
    summary: `Maximum number of ${noun}; 0 lists all`,
    parse: integerParser(0, Number.MAX_SAFE_INTEGER),
  })
  return {
    ...typed,
    read(args, { isTerminal }) {
      const limit = typed.read(args) ?? (isTerminal ? terminalLimit : 0)
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
