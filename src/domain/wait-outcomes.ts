import type { ErrorKind } from '../errors.ts'

/**
 * The milestones that a wait can have as its goal (docs/reference/cli.md, "Waiting"). A later state also
 * reaches a milestone.
 */
export const milestones = ['merged', 'tests-passed', 'testing', 'left'] as const

export type Milestone = (typeof milestones)[number]

export type WaitOutcome =
  | 'merged'
  | 'reached'
  | 'left'
  | 'failed'
  | 'cancelled'
  | 'timed-out'
  | 'stale'
  | 'pending'
  | 'error'

/** The exit code kind of each outcome. An `error` has the kind of the error that caused it. */
export const kindOfOutcome: Readonly<Record<Exclude<WaitOutcome, 'error'>, ErrorKind>> = {
  merged: 'ok',
  reached: 'ok',
  left: 'ok',
  failed: 'failed',
  cancelled: 'cancelled',
  'timed-out': 'timed-out',
  stale: 'stale',
  pending: 'pending',
}
