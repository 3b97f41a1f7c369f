// The responses of the benchmark services: fixed, valid documents.

/** The record of the pull request that a request is about: mergeq refuses that of another one. */
const pullRequest = body => ({
  state: 'testing',
  stateChangedAt: '2026-01-05T11:57:00.000Z',
  priorityValue: 100,
  priorityName: 'medium',
  isCurrentlySubmittedToQueue: true,
  prNumber: JSON.parse(body).pr.number,
  prTitle: 'Fix cart',
})

const pages = 1000
const testsOnPage = 100

const test = index => ({
  id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  repository: { html_url: 'https://github.com/acme/web' },
  html_url: `https://app.trunk.io/acme/flaky-tests/test/${index}`,
  name: `adds item ${index} to the cart`,
  variant: '',
  status: { reason: 'flaky', timestamp: '2026-01-05T11:57:00.000Z' },
  most_common_failures: [
    { summary: 'expected 2, got 1', occurrence_count: 3, last_occurrence: '2026-01-05T11:57:00.000Z' },
  ],
  failure_rate_last_7d: 0.125,
  failure_rate_last_24h: 0.25,
  codeowners: ['@acme/cart'],
  pull_requests_impacted_last_7d: 4,
  quarantined: false,
  file_path: 'test/cart.test.ts',
  parent: 'cart',
  classname: 'Cart',
})

const cachedPages = new Map()

/** The body of a page of failing tests; each page is created once. */
function pageBody(page) {
  const body = cachedPages.get(page) ?? Buffer.from(createPage(page))
  cachedPages.set(page, body)
  return body
}

/** A page of failing tests as JSON. The token of a page is its number; the last page has no next token. */
function createPage(page) {
  const tests = Array.from({ length: testsOnPage }, (_, index) => test(page * testsOnPage + index))
  return JSON.stringify({
    tests,
    page: {
      total_rows: pages * testsOnPage,
      total_pages: pages,
      next_page_token: page + 1 < pages ? String(page + 1) : '',
      page_index: page,
    },
  })
}

/** Creates the response body for each path. */
const responses = new Map([
  ['/v1/getSubmittedPullRequest', body => Buffer.from(JSON.stringify(pullRequest(body)))],
  [
    '/v1/flaky-tests/list-failing-tests',
    body => pageBody(Number(JSON.parse(body).page_query?.page_token ?? 0)),
  ],
  ['/v1/setImpactedTargets', () => Buffer.from('{}')],
])

/** Request listener for an HTTP or HTTPS server: 200 with a fixed document, 404 for every other path. */
export function handleRequest(request, response) {
  const chunks = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const body = responses.get(request.url)?.(Buffer.concat(chunks))
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(body)
  })
}
