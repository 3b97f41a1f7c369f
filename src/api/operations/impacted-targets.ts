import { Failure, usage } from '../../errors.ts'
import { count, marked, size, table } from '../../output/view.ts'
import { endpoint } from '../operation.ts'
import { type Field, flag } from '../../cli/inputs.ts'
import { forPullRequest, pullRequests } from '../../cli/pull-request-arguments.ts'
import { onQueue } from './pull-requests.ts'
import { receipt } from '../decode.ts'
import { type Targets, targetList } from '../../cli/target-arguments.ts'
import { isPullRequest, oneOf } from '../../domain/values/parsers.ts'

/** The pull request: the first argument if it has that form; everything else is a target (CLI.md section 1). */
const onePullRequest: Field<number> = {
  ...pullRequests,
  words: [{ spell: '[pr]', summary: 'Pull request: 123, #123 or its address' }],
  async each(given, context) {
    const [first] = given.get('pr') ?? []
    if (first !== undefined && isPullRequest(first)) return [forPullRequest(given, first)]
    const one = forPullRequest(given, await context.need('pr'))
    return [first === undefined ? one : new Map(one).set('target', [first, ...(given.get('target') ?? [])])]
  },
}

const commit: Field<string | undefined> = {
  words: [
    { spell: '--sha <sha>', summary: 'Head commit of the pull request that the targets belong to' },
    { spell: '--no-sha', summary: 'Send no head commit' },
  ],
  setting: 'sha',
  at: 'body.pr.sha',
  async read(given, context) {
    if (given.get('--sha')?.[0] === 'HEAD')
      throw usage(
        '--sha: HEAD is no commit by itself.',
        'Leave --sha out in a checkout, where HEAD is taken; or name the commit.',
      )
    if (!given.has('--no-sha')) return context.need('sha')
    if (given.has('--sha')) throw usage('--sha and --no-sha contradict each other.')
    return undefined
  },
}

/** In the run of a pull request from a fork, which gets no token, its id opens this one operation (service-observed.md section 2.4). */
const forkedRun: Field<string | undefined> = {
  words: [
    {
      spell: '--forked-run <id>',
      summary: 'GitHub run id of a pull request from a fork, sent in place of the token',
    },
  ],
  setting: 'forkedRun',
  at: 'credential.x-forked-workflow-run-id',
  read: (_, context) => context.setting('forkedRun'),
}

export const targets = endpoint({
  command: 'pr targets',
  route: 'POST /setImpactedTargets',
  summary: 'Set the targets that a pull request impacts',
  // Nothing that can be read tells; the last upload for a commit wins (service-observed.md section 2.4).
  changes: { replay: 'unread', tells: 'mergeq pr get', judge: () => 'unclear' },
  fields: {
    ...onQueue,
    pr: onePullRequest,
    sha: commit,
    tooLarge: flag(
      '--too-large <all|fail>',
      'What to do with a list over 20 MiB: send "ALL" (the default), or fail',
      oneOf(['all', 'fail']),
      { choices: ['all', 'fail'] },
    ),
    forkedRun,
    // Read last: whatever else is wrong is said before a long input is read.
    targets: targetList,
  },
  reply: receipt,
  view: (_, { pr, sha, targets }) => ({
    ...table([], []),
    sentence: `#${pr} impacts ${describe(targets)}${sha === undefined ? '' : ` for ${sha.slice(0, 7)}`}.`,
  }),
  standIn(values, why) {
    const { targets, tooLarge } = values
    if (targets.list === 'ALL' || targets.list.bytes === 2) return undefined
    const { number, read } = targets
    const wasRead = `(${count(number, 'target')}, ${size(read)} read)`
    if (tooLarge === 'fail' && why === 'limit')
      throw new Failure(
        'refused',
        `setImpactedTargets: the list is over 20 MiB ${wasRead}; nothing was sent.`,
        { operation: 'setImpactedTargets', hint: 'Send every target instead with --all.' },
      )
    if (tooLarge === 'fail') return undefined
    const large = why === 'limit' ? 'the list is over 20 MiB' : 'the list is too large for the service (413)'
    return {
      values: { ...values, targets: { ...targets, list: 'ALL' } },
      warning: `${large} ${wasRead}: sending "ALL" instead.`,
    }
  },
  examples: [
    'mergeq pr targets 123 //cart:lib //web:app --sha 4f2a9c1',
    'git diff --name-only origin/main | mergeq pr targets 123 --from -',
    'mergeq pr targets 123 --all',
  ],
})

function describe({ list, number, dropped }: Targets): string {
  if (list === 'ALL') return 'every target'
  const repeats = dropped === 0 ? '' : `, ${marked(dropped)} duplicate${dropped === 1 ? '' : 's'} dropped`
  return `${count(number, 'target')} (${size(list.bytes)}${repeats})`
}
