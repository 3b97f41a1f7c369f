import type { Repository } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import { flag, type Input, settingInput } from './inputs.ts'

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
