import { findCurrentPullRequest } from '../api/current-pull-request.ts'
import { encodeTargets } from '../api/encode-targets.ts'
import { setImpactedTargets } from '../api/operations/impacted-targets.ts'
import {
  cancelPullRequest,
  getSubmittedPullRequest,
  restartTestsOnPullRequest,
  submitPullRequest,
} from '../api/operations/pull-requests.ts'
import { getMergeQueueTestingDetails } from '../api/operations/testing-details.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import { parsePullRequest } from '../domain/values/pull-request.ts'
import { parseRepository, type Repository, repositoryName } from '../domain/values/repository.ts'
import { choiceParser, parsePriority, textParser } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import { sourceOf } from './client-options.ts'
import { type CallInputs, defineMethod } from './define-method.ts'
import { exclude, queueOf } from './method-inputs.ts'
import {
  numberOrTextReader,
  type OptionValues,
  readBoolean,
  readPullRequest,
  readTargetList,
  readTargets,
  textOrFalseReader,
  textReader,
} from './option-readers.ts'

/** The pull request of a call and its queue; an address also names the repository. */
async function pullRequestOf(
  reference: string | undefined,
  { client, settings, given }: CallInputs,
): Promise<{ readonly repo: Repository; readonly targetBranch: string; readonly pr: number }> {
  const text = reference ?? (await findCurrentPullRequest(settings, client))
  const { number: pr, repo } = parsePullRequest(text)
  if (repo === undefined) return { ...(await queueOf({ settings })), pr }
  if (given.repo !== undefined && fullName(given.repo) !== fullName(repo))
    throw usageError(
      `'${text}' and the option repo (${given.repo}) name different repositories.`,
      'Use only one of them.',
    )
  const queue = await queueOf({ settings: settings.withArgs(sourceOf({ ...given, repo })) })
  return { ...queue, pr }
}

const fullName = (repository: string): string => repositoryName(parseRepository(repository))

const pullRequestReaders = { pr: readPullRequest }

export const submit = defineMethod(
  'submitPullRequest',
  submitPullRequest,
  { ...pullRequestReaders, priority: numberOrTextReader(parsePriority), noBatch: readBoolean },
  async ({ pr, priority, noBatch }, inputs) => ({ ...(await pullRequestOf(pr, inputs)), priority, noBatch }),
)

export const cancel = defineMethod(
  'cancelPullRequest',
  cancelPullRequest,
  pullRequestReaders,
  ({ pr }, inputs) => pullRequestOf(pr, inputs),
)

export const restart = defineMethod(
  'restartTestsOnPullRequest',
  restartTestsOnPullRequest,
  pullRequestReaders,
  ({ pr }, inputs) => pullRequestOf(pr, inputs),
)

export const getSubmitted = defineMethod(
  'getSubmittedPullRequest',
  getSubmittedPullRequest,
  { ...pullRequestReaders, head: textReader(textParser('head branch')) },
  async ({ pr, head }, inputs) => {
    exclude({ head, pr })
    return head === undefined ? pullRequestOf(pr, inputs) : { ...(await queueOf(inputs)), head }
  },
)

const targetsReaders = {
  ...pullRequestReaders,
  targets: readTargets,
  target: readTargetList,
  all: readBoolean,
  none: readBoolean,
  sha: textOrFalseReader(textParser('head commit')),
  tooLarge: textReader(choiceParser(['all', 'fail'])),
  forkedRun: textReader(settingDefinitions.forkedRun.parse),
}

/** The targets of a call, which exactly one option must give. */
function targetsOf({ targets, target, all, none }: OptionValues<typeof targetsReaders>) {
  exclude({ targets, target, all, none })
  const names = targets ?? target ?? (all === true ? 'ALL' : none === true ? [] : undefined)
  if (names === undefined)
    throw usageError(
      'targets is required.',
      "Pass a list of names, an empty list if no target is impacted, or 'ALL'.",
    )
  return encodeTargets(names)
}

export const setTargets = defineMethod(
  'setImpactedTargets',
  setImpactedTargets,
  targetsReaders,
  async (options, inputs) => {
    const { pr, sha, tooLarge, forkedRun } = options
    const { settings } = inputs
    const targets = targetsOf(options)
    if (sha === 'HEAD')
      throw usageError('sha: HEAD is not supported.', 'Pass a commit. In a checkout, omit sha to use HEAD.')
    return {
      ...(await pullRequestOf(pr, inputs)),
      sha: sha === false ? undefined : (sha ?? (await settings.require('sha'))),
      tooLarge,
      forkedRun: forkedRun ?? (await settings.read('forkedRun')),
      targets,
    }
  },
  { target: 'targets', all: 'targets', none: 'targets' },
)

export const getTestRun = defineMethod(
  'getMergeQueueTestingDetails',
  getMergeQueueTestingDetails,
  { ...pullRequestReaders, run: textReader(textParser('test run')) },
  async ({ pr, run }, inputs) => {
    exclude({ run, pr })
    if (pr !== undefined) return { ...(await queueOf(inputs)), pr: parsePullRequest(pr).number }
    if (run !== undefined && /^(?:#|https?:\/\/\S+\/pull\/)?\d{1,10}$/.test(run))
      throw usageError(
        `'${run}' is a pull request, not a test run.`,
        'For a pull request, use the option pr.',
      )
    const testRun = run ?? (await inputs.settings.require('testRun'))
    // The name of a test branch ends in the id of its run.
    const id = textParser('test run')(testRun.slice(testRun.lastIndexOf('/') + 1))
    return { ...(await queueOf(inputs)), testRun: id }
  },
  { run: 'testRun' },
)
