import type { JsonObject } from '../../src/base/json.ts'
import { flagName } from '../../src/command/inputs.ts'
import {
  type ExplainSources,
  type Explanation,
  explanationJson,
  explanationOf,
} from '../../src/explain/explain-pull-request.ts'
import { explanationProse } from '../../src/explain/lines.ts'
import { plainText } from '../../src/output/styled-text.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { joinCommandLine } from '../../src/values/suggested-command.ts'
import { noon } from './harness.ts'

/** Explains #7 of acme/web from what was read of it; what is left out is not known. */
export const explainSeven = (read: Partial<ExplainSources>): Explanation =>
  explanationOf({
    pr: 7,
    repo: parseRepository('acme/web'),
    targetBranch: 'main',
    commandLine: joinCommandLine,
    nameOf: flagName,
    record: undefined,
    queue: undefined,
    run: undefined,
    unread: [],
    now: noon,
    ...read,
  })

/** The lines that a person reads of an explanation. */
export const proseOf = (explanation: Explanation): readonly string[] =>
  explanationProse(explanation, noon).map(plainText)

/** What a person reads of an explanation, and what its JSON says of why the pull request is in its state. */
export function textOf(explanation: Explanation): string {
  const { reason, serviceReason, by, actor, again, mayBeMerged, submitAgain, verdict } =
    explanationJson(explanation)
  const { safe = null, needsChange = null } = submitAgain as JsonObject
  const codes = explanation.reasons.map(({ code }) => code)
  const said = { verdict, codes, reason, serviceReason, by, actor, again, mayBeMerged, safe, needsChange }
  return [...proseOf(explanation), JSON.stringify(said)].join('\n')
}

export const record = (state: string, more: JsonObject = {}): JsonObject => ({
  state,
  stateChangedAt: '2026-01-05T11:57:00Z',
  priorityValue: 100,
  isCurrentlySubmittedToQueue: !/^(MERGED|FAILED|CANCELLED)$/i.test(state),
  prNumber: 7,
  ...more,
})
export const entry = (prNumber: number, state: string, more: JsonObject = {}): JsonObject => ({
  prNumber,
  state,
  priorityValue: 100,
  stateChangedAt: '2026-01-05T11:50:00Z',
  ...more,
})
export const queue = (
  state: string,
  entries: readonly JsonObject[] = [],
  more: JsonObject = {},
): JsonObject => ({
  state,
  concurrency: 2,
  enqueuedPullRequests: entries,
  ...more,
})

export const uuid = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
