import type { JsonObject } from '../base/json.ts'
import { type Repository, repositoryName } from '../values/repository.ts'
import {
  type Area,
  areas,
  createRandom,
  createUuid,
  failureMessages,
  healthReasons,
  pick,
  ticketUrlPrefixes,
} from './sample-data.ts'

const day = 86_400_000

const historyDays = 30

const testCount = 480

/** A test that failed at least once in the history. */
export interface SandboxTest {
  readonly id: string
  readonly health: 'healthy' | 'flaky' | 'broken'
  readonly isQuarantined: boolean
  /** Times of the failures in milliseconds since 1970, the newest first. */
  readonly failures: readonly number[]
  /** The test record of the API document (docs/reference/service.md, "Test records"). */
  record: JsonObject
}

/** What determines the data of tests. */
interface TestOptions {
  readonly seed: number
  readonly repo: Repository
  readonly now: number
  formatTime(time: number): string
}

/**
 * Creates the failing tests of a repository with their failures in the 30 days before `now`, sorted by id.
 * The same options give the same tests. All their data is the sandbox's own invention.
 */
export function createFailingTests(options: TestOptions): readonly SandboxTest[] {
  const tests: SandboxTest[] = []
  for (const area of areas)
    for (const subject of area.subjects)
      for (const behavior of area.behaviors)
        for (const variant of area.variants)
          tests.push(createTest({ area, subject, behavior, variant }, options))
  return tests.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, testCount)
}

interface TestName {
  readonly area: Area
  readonly subject: string
  readonly behavior: string
  readonly variant: string
}

function createTest(
  { area, subject, behavior, variant }: TestName,
  { seed, repo, now, formatTime }: TestOptions,
): SandboxTest {
  const seedParts = [seed, repositoryName(repo), subject, behavior, variant] as const
  const id = createUuid(...seedParts)
  const random = createRandom(...seedParts)
  const { failures, runsPerDay } = createFailures(random, now)
  const countFailures = (duration: number) => failures.filter(time => time >= now - duration).length
  // From 0 to 1, the unit that public clients assume.
  const failureRate = (duration: number) => {
    const runs = (runsPerDay * duration) / day
    return Math.min(1, Math.round((countFailures(duration) / runs) * 10_000) / 10_000)
  }
  const [failureRate24h, failureRate7d] = [failureRate(day), failureRate(7 * day)]
  const health = failureRate24h > 0.25 ? 'broken' : failureRate7d > 0 ? 'flaky' : 'healthy'
  // The order of the calls of `random` determines the data: they must keep their order.
  const hasTicket = health !== 'healthy' && random() < 0.3
  const owners = random() < 0.1 ? [] : area.owners
  const isQuarantined = health !== 'healthy' && random() < 0.2
  const ticketUrl = hasTicket
    ? pick(random(), ticketUrlPrefixes) + String(100 + Math.floor(random() * 900))
    : undefined
  const reason = pick(random(), healthReasons[health])
  const healthSince = (failures.at(-1) ?? now) + Math.floor(random() * 3_600_000)
  const commonFailures = random() < 0.35 ? createCommonFailures(random, failures, formatTime) : []
  const pullRequestsImpacted = Math.ceil(countFailures(7 * day) * (0.4 + 0.5 * random()))
  const record: JsonObject = {
    id,
    repository: { html_url: `https://${repositoryName(repo)}` },
    html_url: `https://app.sandbox.example/${repo.owner}/flaky-tests/test/${id}`,
    name: `${subject} ${behavior}`,
    variant,
    status: { reason, timestamp: formatTime(healthSince) },
    most_common_failures: commonFailures,
    failure_rate_last_7d: failureRate7d,
    failure_rate_last_24h: failureRate24h,
    codeowners: owners,
    pull_requests_impacted_last_7d: pullRequestsImpacted,
    quarantined: isQuarantined,
    file_path: `${area.directory}/${subject.replaceAll(/\W+/g, '-').toLowerCase()}${area.suffix}`,
    parent: subject,
    classname: `${area.directory.replaceAll('/', '.')}.${subject.replaceAll(/\W+/g, '')}`,
    ...(ticketUrl === undefined ? {} : { ticket: { html_url: ticketUrl } }),
  }
  return { id, health, isQuarantined, failures, record }
}

/** At least one failure: most tests fail rarely, a few in most recent runs, some not in the last days. */
function createFailures(
  random: () => number,
  now: number,
): { readonly failures: readonly number[]; readonly runsPerDay: number } {
  const runsPerDay = 20 + Math.floor(random() * 60)
  const isBroken = random() < 0.03
  const usualFailuresPerDay = 0.05 * 100 ** (random() * random())
  const quietDays = !isBroken && random() < 0.2 ? Math.floor(random() * historyDays) : 0
  const failures: number[] = []
  for (let daysAgo = quietDays; daysAgo < historyDays; daysAgo++) {
    const expected =
      isBroken && daysAgo < 3 ? runsPerDay * (0.4 + 0.5 * random()) : usualFailuresPerDay * 2 * random()
    const count = Math.floor(expected) + (random() < expected % 1 ? 1 : 0)
    for (let failure = 0; failure < count; failure++)
      failures.push(now - Math.ceil((daysAgo + random()) * day))
  }
  if (failures.length === 0) failures.push(now - Math.ceil((quietDays + random()) * day))
  return { failures: failures.sort((one, other) => other - one), runsPerDay }
}

function createCommonFailures(
  random: () => number,
  failures: readonly number[],
  formatTime: (time: number) => string,
): readonly JsonObject[] {
  const kinds = Math.min(1 + Math.floor(random() * 3), failures.length)
  const firstMessage = Math.floor(random() * failureMessages.length)
  return Array.from({ length: kinds }, (_, kind) => ({
    summary: failureMessages[(firstMessage + kind) % failureMessages.length],
    occurrence_count: Math.ceil(failures.length / (kind + 1) / kinds),
    last_occurrence: formatTime(failures[kind] ?? 0),
  }))
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
