import { cancelPullRequest, configure } from './actions.ts'
import { replaceHeadCommit } from './head-commits.ts'
import type { Queue, ScheduledEvent } from './queue.ts'
import { isSubmitted } from './queue-queries.ts'
import type { Rule } from './rule.ts'

/** Applies the events of the scenario that are due. All rules about them are the sandbox's own. */
export const runScheduledEvents: Rule = queue => {
  const { scheduledEvents, now } = queue
  for (let event = scheduledEvents.takeDue(now); event !== undefined; event = scheduledEvents.takeDue(now))
    applyEvent(queue, event)
  return scheduledEvents.nextTime()
}

function applyEvent(queue: Queue, event: ScheduledEvent): void {
  if (event.type === 'configure') {
    configure(queue, event.settings)
    return
  }
  const pullRequest = queue.pullRequests.get(event.number)
  if (pullRequest === undefined) return
  if (event.type === 'push') {
    replaceHeadCommit(queue, pullRequest.number)
    pullRequest.mergeableAt = queue.now + queue.timings.notReady
    // Only pull requests that had left NOT_READY were seen to be cancelled
    // (docs/reference/service.md, "getSubmittedPullRequest").
    if (queue.notReady.has(pullRequest)) queue.readinessChecks.add(queue.now, pullRequest)
    else if (isSubmitted(pullRequest)) cancelPullRequest(queue, pullRequest, 'a commit was pushed')
  } else if (isSubmitted(pullRequest)) cancelPullRequest(queue, pullRequest, 'it was cancelled')
}
