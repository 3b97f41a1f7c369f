import { defaultMaxPages, defaultPageSize } from '../../domain/limits.ts'
import { integer, repository, text } from '../../domain/values/types.ts'
import { param, requiredParam } from '../operation.ts'

/** The queue that a request is about: a branch of a repository (docs/reference/service.md, "Common fields"). */
export const queueParams = {
  repo: requiredParam(repository, 'Repository', {
    location: 'body.repo',
    setting: 'repo',
    encode: ({ host, owner, name }) => ({ host, owner, name }),
  }),
  targetBranch: requiredParam(text('branch'), 'Branch that the queue merges into', {
    location: 'body.targetBranch',
    setting: 'targetBranch',
  }),
}

/**
 * The params of every list: how many records, and how they are requested.
 *
 * @param noun the records, in the plural: `tests`
 * @param pageSizePaths the paths of the body that the page size sets
 */
export const pageParams = (noun: string, pageSizePaths: readonly string[]) => ({
  limit: param(integer(1, Number.MAX_SAFE_INTEGER), `Maximum number of ${noun}`),
  pageSize: param(integer(1, 100), `${noun.charAt(0).toUpperCase()}${noun.slice(1)} per page, 1 to 100`, {
    default: String(defaultPageSize),
    setsBodyPaths: pageSizePaths,
  }),
  maxPages: param(integer(1, Number.MAX_SAFE_INTEGER), 'Maximum number of pages to fetch', {
    default: String(defaultMaxPages),
  }),
})
