import { usageError } from '../errors.ts'
import type { CallInputs } from './define-method.ts'

export const queueOf = async ({ settings }: Pick<CallInputs, 'settings'>) => ({
  repo: await settings.require('repo'),
  targetBranch: await settings.require('targetBranch'),
})

export const organizationOf = async ({ settings }: CallInputs) => ({
  repo: await settings.require('repo'),
  org: await settings.require('org'),
})

/** Throws a usage error if several of the options are given. */
export function exclude(options: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(options).filter(name => options[name] !== undefined && options[name] !== false)
  if (names.length > 1)
    throw usageError(`${names.join(' and ')} cannot be used together.`, 'Use only one of them.')
}
