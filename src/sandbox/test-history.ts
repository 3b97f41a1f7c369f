import type { JsonObject } from '../base/json.ts'
import { type Repository, repositoryName } from '../values/repository.ts'
import { createRandom, createUuid, pick } from './sample-data.ts'

const day = 86_400_000

/** A part of an invented product. It has a test for each subject, behavior and variant. */
interface Area {
  readonly directory: string
  readonly suffix: string
  readonly owners: readonly string[]
  readonly variants: readonly string[]
  readonly subjects: readonly string[]
  readonly behaviors: readonly string[]
}

const areas: readonly Area[] = [
  {
    directory: 'web/cart',
    suffix: '.test.ts',
    owners: ['@acme/web'],
    variants: ['', 'chromium', 'firefox', 'webkit'],
    subjects: ['Cart', 'Cart totals', 'Coupon field', 'Mini cart', 'Shipping estimate'],
    behaviors: [
      'adds an item while another is being removed',
      'keeps its items after a reload',
      'rounds tax to the nearest cent',
      'shows the free shipping bar',
      'survives a slow network',
      'merges with the cart of the signed-in customer',
      'disables the button while it is saving',
    ],
  },
  {
    directory: 'web/checkout',
    suffix: '.spec.ts',
    owners: ['@acme/web', '@acme/payments'],
    variants: ['chromium', 'firefox', 'webkit'],
    subjects: ['Checkout', 'Address form', 'Card form', 'Order summary', 'Receipt page'],
    behaviors: [
      'submits once on a double click',
      'recovers from a declined card',
      'focuses the first invalid field',
      'waits for the payment provider',
      'shows the order number',
      'goes back without losing what was typed',
    ],
  },
  {
    directory: 'mobile/src/androidTest/com/acme',
    suffix: 'Test.kt',
    owners: ['@acme/mobile'],
    variants: ['api-30', 'api-34', 'tablet'],
    subjects: ['LoginScreen', 'PushMessages', 'OfflineSync', 'Camera'],
    behaviors: [
      'rotatesWithoutLosingState',
      'opensFromNotification',
      'resumesUpload',
      'asksForPermissionOnce',
      'animatesIn',
    ],
  },
]

const reasons = {
  healthy: ['No failure in the last 7 days'],
  flaky: ['Failed and passed on the same commit', 'Failed on pull requests that did not touch it'],
  broken: ['Failed in most runs of the last day', 'Fails on the main branch'],
}

const messages = [
  'Timeout: waited 5000 ms for the element to be visible',
  'AssertionError: expected 3 to be 2',
  'ECONNRESET: socket hang up',
  'Expected status 200, got 502',
]

/** A test that failed at least once in the history. */
export type SandboxTest = ReturnType<typeof createTest>

interface TestOptions {
  readonly seed: number
  readonly repo: Repository
  readonly now: number
  formatTime(time: number): string
}

/** In the 30 days before `now`. All their data is the sandbox's own invention. */
export const createFailingTests = (options: TestOptions): readonly SandboxTest[] =>
  areas
    .flatMap(area => area.subjects.map(subject => ({ area, subject })))
    .flatMap(suite => suite.area.behaviors.map(behavior => ({ ...suite, behavior })))
    .flatMap(test => test.area.variants.map(variant => createTest({ ...test, variant }, options)))
    .filter(({ failures }) => failures.length > 0)
    .sort((one, other) => (one.id < other.id ? -1 : 1))

interface TestName {
  readonly area: Area
  readonly subject: string
  readonly behavior: string
  readonly variant: string
}

function createTest(
  { area, subject, behavior, variant }: TestName,
  { seed, repo, now, formatTime }: TestOptions,
) {
  const seedParts = [seed, repositoryName(repo), subject, behavior, variant] as const
  const id = createUuid(...seedParts)
  const random = createRandom(...seedParts)
  const runsPerDay = 20 + Math.floor(random() * 60)
  const failures = createFailures(runsPerDay, random, now)
  const failuresIn = (days: number) => failures.filter(time => time >= now - days * day).length
  // From 0 to 1, the unit that public clients assume.
  const failureRate = (days: number) =>
    Math.min(1, Math.round((failuresIn(days) / (runsPerDay * days)) * 10_000) / 10_000)
  const health = failureRate(1) > 0.25 ? 'broken' : failureRate(7) > 0 ? 'flaky' : 'healthy'
  const isQuarantined = health !== 'healthy' && random() < 0.2
  const hasTicket = health !== 'healthy' && random() < 0.3
  const ticket = { html_url: `https://acme.example/browse/WEB-${100 + Math.floor(random() * 900)}` }
  const message = pick(random(), messages)
  // The test record of the API document (docs/reference/service.md, "Test records").
  const record: JsonObject = {
    id,
    repository: { html_url: `https://${repositoryName(repo)}` },
    html_url: `https://app.sandbox.example/${repo.owner}/flaky-tests/test/${id}`,
    name: `${subject} ${behavior}`,
    variant,
    status: { reason: pick(random(), reasons[health]), timestamp: formatTime(failures.at(-1) ?? now) },
    most_common_failures: failures.slice(0, 1).map(last => ({
      summary: message,
      occurrence_count: Math.ceil(failures.length / 2),
      last_occurrence: formatTime(last),
    })),
    failure_rate_last_7d: failureRate(7),
    failure_rate_last_24h: failureRate(1),
    codeowners: random() < 0.1 ? [] : area.owners,
    pull_requests_impacted_last_7d: Math.ceil(failuresIn(7) * (0.4 + 0.5 * random())),
    quarantined: isQuarantined,
    file_path: `${area.directory}/${subject.replaceAll(/\W+/g, '-').toLowerCase()}${area.suffix}`,
    parent: subject,
    classname: `${area.directory.replaceAll('/', '.')}.${subject.replaceAll(/\W+/g, '')}`,
    ticket: hasTicket ? ticket : undefined,
  }
  return { id, health, isQuarantined, failures, record }
}

/** Returns times, the newest first. Most tests fail rarely, a few in most runs of the last days, some not in the last days. */
function createFailures(runsPerDay: number, random: () => number, now: number): readonly number[] {
  const isBroken = random() < 0.03
  const perDay = isBroken ? runsPerDay * 0.6 : 0.1 * 50 ** (random() * random())
  const first = !isBroken && random() < 0.2 ? now - random() * 30 * day : now
  const last = now - (isBroken ? 3 : 30) * day
  const failures: number[] = []
  const next = (time: number) => Math.floor(time - (2 * random() * day) / perDay)
  for (let time = next(first); time >= last; time = next(time)) failures.push(time)
  return failures
}

/** From `start` up to but not including `end`, the latest failure in that range first. */
export const listTestsFailedBetween = (
  tests: readonly SandboxTest[],
  start: number,
  end: number,
): readonly SandboxTest[] =>
  tests
    .flatMap(test => {
      const lastFailure = test.failures.find(time => time >= start && time < end)
      return lastFailure === undefined ? [] : [{ test, lastFailure }]
    })
    .sort((one, other) => other.lastFailure - one.lastFailure || (one.test.id < other.test.id ? -1 : 1))
    .map(({ test }) => test)
