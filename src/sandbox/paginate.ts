import type { JsonObject } from '../json.ts'
import { hex } from './seed.ts'
import { statusError } from './status-error.ts'

/** One page of a list and the page object that goes with it (service-api.md section 2.6). */
export interface TestPage<T> {
  readonly rows: readonly T[]
  readonly page: JsonObject
}

/**
 * Cuts a page out of a list. A token is good for the request it was given for, which `about` names; any other is
 * refused with 400 (the sandbox's own). An empty token means none, in requests and in answers.
 */
export function pageAt<T>(rows: readonly T[], size: number, token: string, about: string): TestPage<T> {
  const total = Math.ceil(rows.length / size)
  const tokenOf = (index: number) =>
    index < 0 || index >= total ? '' : `${index.toString(36)}-${hex(20, 'page', about, size, index)}`
  const index = token === '' ? 0 : Number.parseInt(token, 36)
  if (token !== '' && token !== tokenOf(index))
    throw statusError(400, 'page_token belongs to no page of this request.')
  return {
    rows: rows.slice(index * size, (index + 1) * size),
    page: {
      total_rows: rows.length,
      total_pages: total,
      next_page_token: tokenOf(index + 1),
      prev_page_token: tokenOf(index - 1),
      last_page_token: tokenOf(total - 1),
      page_index: index,
    },
  }
}
