import { get, getArray, isObject, type Json } from '../base/json.ts'

/**
 * Returns the event of a workflow run, a check suite or a check run with two members, whatever its kind: `run` is the
 * run or suite, and `pull_request` its pull request. The payload lists pull requests by the name of the head branch
 * only, those of other repositories too: they count if their base is in the repository of the job, and only one alone.
 * Of a run for a fork, the branch is that of another repository: it is left out.
 *
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
export function withRun(event: Json): Json {
  const run = ['workflow_run', 'check_suite', 'check_run.check_suite']
    .map(path => get(event, path))
    .find(isObject)
  if (!isObject(event) || run === undefined) return event
  const repository = get(event, 'repository.id')
  const own = getArray(run, 'pull_requests').filter(
    pull => repository !== undefined && get(pull, 'base.repo.id') === repository,
  )
  const [pullRequest] = own
  const headRepository = get(run, 'head_repository.full_name')
  const isFork = headRepository !== undefined && headRepository !== get(event, 'repository.full_name')
  return {
    ...event,
    run: isFork ? { ...run, head_branch: null } : run,
    ...(pullRequest !== undefined && own.length === 1 ? { pull_request: pullRequest } : {}),
  }
}
