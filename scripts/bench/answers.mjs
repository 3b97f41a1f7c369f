// What the services of the benchmark answer: fixed good documents.

const pullRequest = Buffer.from(
  JSON.stringify({
    state: 'testing',
    stateChangedAt: '2026-01-05T11:57:00.000Z',
    priorityValue: 100,
    priorityName: 'medium',
    isCurrentlySubmittedToQueue: true,
    prNumber: 7,
    prTitle: 'Fix cart',
  }),
)

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

const made = new Map()

/** A page of the list, made once. */
function listOf(page) {
  const list = made.get(page) ?? Buffer.from(makeList(page))
  made.set(page, list)
  return list
}

/** The token of a page is its number, and the last one has no next. */
function makeList(page) {
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

const answers = new Map([
  ['/v1/getSubmittedPullRequest', () => pullRequest],
  [
    '/v1/flaky-tests/list-failing-tests',
    body => listOf(Number(JSON.parse(body).page_query?.page_token ?? 0)),
  ],
  ['/v1/setImpactedTargets', () => Buffer.from('{}')],
])

/** Answers a request of Node's http or https server. */
export function answer(request, response) {
  const pieces = []
  request.on('data', piece => pieces.push(piece))
  request.on('end', () => {
    const made = answers.get(request.url)?.(Buffer.concat(pieces))
    response.writeHead(made === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(made)
  })
}
