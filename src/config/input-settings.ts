import type { Repository } from '../domain/values/repository.ts'

/**
 * The inputs of operations that need not be typed, because a setting can give each of them
 * (docs/reference/cli.md, "Settings").
 */
export interface SettingValues {
  readonly repo: Repository
  readonly targetBranch: string
  readonly org: string
  readonly pr: string
  readonly sha: string
  readonly testRun: string
  readonly forkedRun: string
}

/** The name of an input that a setting can give. */
export type SettingName = keyof SettingValues
