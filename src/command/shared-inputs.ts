// The inputs that several commands have: options of lists, of confirmation, and the queue that options and settings name.

import type { Param } from '../api/params.ts'
import { exclusiveError } from '../api/resolve.ts'
import type { Config } from '../config/settings.ts'
import type { Queue, Repository } from '../values/repository.ts'
import { flag, type Input, paramInput } from './inputs.ts'

export const yesOption = flag('Skip the confirmation prompt', { short: 'y' })

/** The repository of a param, or all of the organization with `--all-repos`. */
export function repositoryOrAll(param: Param<Repository | undefined>): Input<Repository | undefined> {
  const repo = paramInput('repo', param)
  return {
    ...repo,
    definitions: [
      {
        name: '--all-repos',
        summary: 'Include all repositories of the organization (the default without --repo)',
      },
    ],
    read(args, context) {
      if (!args.has('--all-repos')) return repo.read(args, context)
      if (args.has('--repo')) throw exclusiveError(['--all-repos', '--repo'])
      return undefined
    },
  }
}

const terminalLimit = 30

/** The limit of a list: by default 30 records on a terminal, otherwise undefined for all. */
export function limitInput(param: Param<number | undefined>): Input<number | undefined> {
  const typed = paramInput('limit', {
    ...param,
    defaultText: `${terminalLimit} on a terminal, otherwise all`,
  })
  return {
    ...typed,
    read: async (args, context) =>
      (await typed.read(args, context)) ?? (context.host.out.terminal ? terminalLimit : undefined),
  }
}

/**
 * Returns the line below a list on a terminal that a limit cut.
 *
 * @param count the records that are shown, such as `30 flaky tests`
 */
export const cutListSentence = (count: string): string =>
  `Showing ${count}; there are more. To list more, add --limit 1000.`

export const webOption = flag('Open the page in the browser instead of printing', { short: 'w' })

/** Returns the queue that the settings name. */
export const queueOfSettings = async (settings: Config): Promise<Queue> => ({
  repo: await settings.require('repo'),
  targetBranch: await settings.require('targetBranch'),
})

/** The queue of a command, which options and settings name. */
export const queueInput: Input<Queue> = {
  definitions: [],
  setting: 'targetBranch',
  read: (_, { settings }) => queueOfSettings(settings),
}
