import type { Advice } from '../api/service-client.ts'

/** The advice of the library: what to call next. After a refusal, the neutral hint stays. */
export const libraryAdvice: Advice = {
  afterRefusal: () => undefined,
  toInspect: resources =>
    resources.map(({ pr }) => (pr === undefined ? 'getQueue()' : `getSubmittedPullRequest({ pr: ${pr} })`)),
  toCancel: pullRequests => pullRequests.map(({ pr }) => `cancelPullRequest({ pr: ${pr} })`),
  toWait: pullRequests =>
    pullRequests.length === 0
      ? []
      : [`waitForPullRequests({ prs: [${pullRequests.map(({ pr }) => pr).join(', ')}] })`],
  toSubmit: ({ pr }) => `submitPullRequest({ pr: ${pr} })`,
}
