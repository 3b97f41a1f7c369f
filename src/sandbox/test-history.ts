import { type Repository, repositoryName } from '../domain/values/repository.ts'
import {
  type Area,
  areas,
  createRandom,
  createUuid,
  failureMessages,
  healthReasons,
  pick,
  type SeedParts,
  ticketUrlPrefixes,
} from './sample-data.ts'

const day = 86_400_000

const historyDays = 30

const testCount = 480

interface CommonFailure {
  readonly summary: string
  readonly count: number
  /** In milliseconds since 1970. */
  readonly lastFailedAt: number
}

/** A test that failed at least once in the history. Times are milliseconds since 1970. */
export interface SandboxTest {
  readonly id: string
  readonly name: string
  readonly variant: string
  readonly filePath: string
  readonly parent: string
  readonly className: string
  readonly owners: readonly string[]
  readonly isQuarantined: boolean
  readonly ticketUrl: string | undefined
  readonly health: 'healthy' | 'flaky' | 'broken'
  readonly healthReason: string
  readonly healthSince: number
  /** Times of the failures, the newest first. */
  readonly failures: readonly number[]
  readonly commonFailures: readonly CommonFailure[]
  /** From 0 to 1, the unit that public clients assume (docs/reference/service.md, "Test records"). */
  readonly failureRate24h: number
  readonly failureRate7d: number
  readonly pullRequestsImpacted7d: number
}

interface TestName {
  readonly area: Area
  readonly subject: string
  readonly behavior: string
  readonly variant: string
}

const testNames: readonly TestName[] = areas.flatMap(area =>
  area.subjects.flatMap(subject =>
    area.behaviors.flatMap(behavior => area.variants.map(variant => ({ area, subject, behavior, variant }))),
  ),
)

/**
 * Creates the failing tests of a repository with their failures in the 30 days before `now`, sorted by id.
 * The same arguments give the same tests. All their data is the sandbox's own invention.
 */
export const createFailingTests = (seed: number, repo: Repository, now: number): readonly SandboxTest[] =>
  testNames
    .map(name =>
      createTest([seed, repositoryName(repo), name.subject, name.behavior, name.variant], name, now),
    )
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .slice(0, testCount)

function createTest(
  seedParts: SeedParts,
  { area, subject, behavior, variant }: TestName,
  now: number,
): SandboxTest {
  const random = createRandom(...seedParts)
  const { failures, runsPerDay } = createFailures(random, now)
  const countFailures = (duration: number) => failures.filter(time => time >= now - duration).length
  const failureRate = (duration: number) => {
    const runs = (runsPerDay * duration) / day
    return Math.min(1, Math.round((countFailures(duration) / runs) * 10_000) / 10_000)
  }
  const [failureRate24h, failureRate7d] = [failureRate(day), failureRate(7 * day)]
  const health = failureRate24h > 0.25 ? 'broken' : failureRate7d > 0 ? 'flaky' : 'healthy'
  // The order of the calls of `random` determines the data: the fields below must keep their order.
  const hasTicket = health !== 'healthy' && random() < 0.3
  const fileName = `${subject.replaceAll(/\W+/g, '-').toLowerCase()}${area.suffix}`
  return {
    id: createUuid(...seedParts),
    name: `${subject} ${behavior}`,
    variant,
    filePath: `${area.directory}/${fileName}`,
    parent: subject,
    className: `${area.directory.replaceAll('/', '.')}.${subject.replaceAll(/\W+/g, '')}`,
    owners: random() < 0.1 ? [] : area.owners,
    isQuarantined: health !== 'healthy' && random() < 0.2,
    ticketUrl: hasTicket
      ? pick(random(), ticketUrlPrefixes) + String(100 + Math.floor(random() * 900))
      : undefined,
    health,
    healthReason: pick(random(), healthReasons[health]),
    healthSince: (failures.at(-1) ?? now) + Math.floor(random() * 3_600_000),
    failures,
    commonFailures: random() < 0.35 ? createCommonFailures(random, failures) : [],
    failureRate24h,
    failureRate7d,
    pullRequestsImpacted7d: Math.ceil(countFailures(7 * day) * (0.4 + 0.5 * random())),
  }
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

function createCommonFailures(random: () => number, failures: readonly number[]): readonly CommonFailure[] {
  const kinds = Math.min(1 + Math.floor(random() * 3), failures.length)
  const firstMessage = Math.floor(random() * failureMessages.length)
  return Array.from({ length: kinds }, (_, kind) => ({
    summary: failureMessages[(firstMessage + kind) % failureMessages.length] ?? failureMessages[0],
    count: Math.ceil(failures.length / (kind + 1) / kinds),
    lastFailedAt: failures[kind] ?? 0,
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
