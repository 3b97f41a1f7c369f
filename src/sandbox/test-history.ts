import { type Repository, repositoryName } from '../domain/values/parsers.ts'
import { type Area, areas, reasons, summaries, tickets } from './sample-texts.ts'
import { pick, randomSequence, type SeedParts, uuid } from './seed.ts'

const day = 86_400_000

/** How far back the history goes, and how many tests it has. */
const daysBack = 30
const testCount = 480

/** A way in which a test failed (service-api.md section 2.5). */
export interface CommonFailure {
  readonly summary: string
  readonly count: number
  readonly lastAt: number
}

/** A test that failed at some time: what the service tells of it, and when each failure was. */
export interface SandboxTest {
  readonly id: string
  readonly name: string
  readonly variant: string
  readonly file: string
  readonly parent: string
  readonly classname: string
  readonly owners: readonly string[]
  readonly quarantined: boolean
  readonly ticket: string | undefined
  readonly value: 'healthy' | 'flaky' | 'broken'
  readonly reason: string
  readonly since: number
  /** Moments of failure, the newest first. */
  readonly failures: readonly number[]
  readonly common: readonly CommonFailure[]
  /** Fractions from 0 to 1: the unit that public clients assume (service-observed.md section 5). */
  readonly rate24h: number
  readonly rate7d: number
  readonly impacted7d: number
}

/** A test before anything is known of it but what it is called. */
interface Named {
  readonly area: Area
  readonly subject: string
  readonly deed: string
  readonly variant: string
}

const everyName: readonly Named[] = areas.flatMap(area =>
  area.subjects.flatMap(subject =>
    area.deeds.flatMap(deed => area.variants.map(variant => ({ area, subject, deed, variant }))),
  ),
)

/**
 * The failing tests of a repository over the 30 days before `now`, always the same for the same seed and repository.
 * Everything about them is the sandbox's own invention.
 */
export const createFailingTests = (seed: number, repo: Repository, now: number): readonly SandboxTest[] =>
  everyName
    .map(named =>
      flakyTest([seed, repositoryName(repo), named.subject, named.deed, named.variant], named, now),
    )
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .slice(0, testCount)

function flakyTest(source: SeedParts, { area, subject, deed, variant }: Named, now: number): SandboxTest {
  const roll = randomSequence(...source)
  const { failures, runsADay } = failing(roll, now)
  const within = (span: number) => failures.filter(at => at >= now - span).length
  const rate = (span: number) =>
    Math.min(1, Math.round((within(span) / ((runsADay * span) / day)) * 10_000) / 10_000)
  const [rate24h, rate7d] = [rate(day), rate(7 * day)]
  const value = rate24h > 0.25 ? 'broken' : rate7d > 0 ? 'flaky' : 'healthy'
  const isKnown = value !== 'healthy' && roll() < 0.3
  const file = `${area.folder}/${subject.replaceAll(/\W+/g, '-').toLowerCase()}${area.suffix}`
  return {
    id: uuid(...source),
    name: `${subject} ${deed}`,
    variant,
    file,
    parent: subject,
    classname: `${area.folder.replaceAll('/', '.')}.${subject.replaceAll(/\W+/g, '')}`,
    owners: roll() < 0.1 ? [] : area.owners,
    quarantined: value !== 'healthy' && roll() < 0.2,
    ticket: isKnown ? pick(roll(), tickets) + String(100 + Math.floor(roll() * 900)) : undefined,
    value,
    reason: pick(roll(), reasons[value]),
    since: (failures.at(-1) ?? now) + Math.floor(roll() * 3_600_000),
    failures,
    common: roll() < 0.35 ? commonFailures(roll, failures) : [],
    rate24h,
    rate7d,
    impacted7d: Math.ceil(within(7 * day) * (0.4 + 0.5 * roll())),
  }
}

/** When it failed: most tests now and then, a few in nearly every run, some not for weeks. */
function failing(
  roll: () => number,
  now: number,
): { readonly failures: readonly number[]; readonly runsADay: number } {
  const runsADay = 20 + Math.floor(roll() * 60)
  const isBroken = roll() < 0.03
  const usual = 0.05 * 100 ** (roll() * roll())
  const quietDays = !isBroken && roll() < 0.2 ? Math.floor(roll() * daysBack) : 0
  const failures: number[] = []
  for (let back = quietDays; back < daysBack; back++) {
    const expected = isBroken && back < 3 ? runsADay * (0.4 + 0.5 * roll()) : usual * 2 * roll()
    const count = Math.floor(expected) + (roll() < expected % 1 ? 1 : 0)
    for (let failure = 0; failure < count; failure++) failures.push(now - Math.ceil((back + roll()) * day))
  }
  if (failures.length === 0) failures.push(now - Math.ceil((quietDays + roll()) * day))
  return { failures: failures.sort((one, other) => other - one), runsADay }
}

function commonFailures(roll: () => number, failures: readonly number[]): readonly CommonFailure[] {
  const kinds = Math.min(1 + Math.floor(roll() * 3), failures.length)
  const first = Math.floor(roll() * summaries.length)
  return Array.from({ length: kinds }, (_, kind) => ({
    summary: summaries[(first + kind) % summaries.length] ?? summaries[0],
    count: Math.ceil(failures.length / (kind + 1) / kinds),
    lastAt: failures[kind] ?? 0,
  }))
}

/** The tests that failed in a range (start inclusive, end exclusive), the latest failure first. */
export const testsFailedBetween = (
  tests: readonly SandboxTest[],
  start: number,
  end: number,
): readonly SandboxTest[] =>
  tests
    .flatMap(test => {
      const last = test.failures.find(at => at >= start && at < end)
      return last === undefined ? [] : [{ test, last }]
    })
    .sort((one, other) => other.last - one.last || (one.test.id < other.test.id ? -1 : 1))
    .map(({ test }) => test)
