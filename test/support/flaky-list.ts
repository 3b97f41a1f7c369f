import type { JsonObject } from '../../src/base/json.ts'
import type { Answer, Outcome, Seen } from './harness.ts'

export const ids = ({ out }: Pick<Outcome, 'out'>) =>
  out
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line).id)

/** Pages of tests, one after another; a number in the place of a page is the status that it is refused with. */
export const pages =
  (...all: readonly (readonly JsonObject[] | number)[]) =>
  ({ body }: Pick<Seen, 'body'>): Answer => {
    const index = Number(JSON.parse(body).page_query.page_token || 0)
    const page = all[index]
    if (typeof page === 'number') return { status: page, body: 'no' }
    const next_page_token = index + 1 < all.length ? String(index + 1) : ''
    return { body: JSON.stringify({ tests: page, page: { next_page_token } }) }
  }

/** The ID of a test, from its number. */
export const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** A failing test of the service; its ID, name and impact follow from its number. */
export const failing = (number: number, more: JsonObject = {}): JsonObject => ({
  id: idOf(number),
  name: `test ${number}`,
  html_url: `https://app.example/acme/${number}`,
  status: { value: 'flaky', reason: 'now and then', timestamp: '2026-01-05T11:00:00Z' },
  failure_rate_last_7d: 0.5,
  pull_requests_impacted_last_7d: number,
  codeowners: ['@acme/web'],
  quarantined: false,
  file_path: 'web/cart.test.ts',
  ...more,
})

export const screen = { terminal: true, env: { NO_COLOR: '1', MERGEQ_REPO: 'acme/web', MERGEQ_ORG: 'acme' } }
export const rows = (out: string) => out.trimEnd().split('\n')

/** Answers with pages of the size that is asked for; the key is that of the list. */
export const serving =
  (records: readonly object[], key = 'tests') =>
  ({ body }: Pick<Seen, 'body'>) => {
    const { page_query } = JSON.parse(body)
    const from = Number(page_query.page_token || 0)
    const next = from + page_query.page_size
    return {
      body: JSON.stringify({
        [key]: records.slice(from, next),
        page: { next_page_token: next < records.length ? String(next) : '' },
      }),
    }
  }

/** Tests of which later ones are worse. */
export const many = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({
    id: idOf(index),
    name: `test number ${index}`,
    pull_requests_impacted_last_7d: index,
    failure_rate_last_7d: 0.294,
  }))

export const asked = (requests: readonly Seen[]) =>
  requests.map(({ body }) => {
    const { repo: _repo, org_url_slug: _org, ...rest } = JSON.parse(body)
    return rest
  })
export const page = (token = '') => ({ page_size: 100, page_token: token })
