import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { head, merge as other, recordedJob } from '../support/ci-jobs.ts'
import { type Part, type Runner, runJob, type Step, stepsOf } from '../support/ci-runner.ts'
import { type Block, blocksOf, linesOf } from '../support/code-blocks.ts'
import { checkout, environmentOf, inSandbox, place, sh } from '../support/documentation-runs.ts'

let sandbox: Sandbox
let folder = ''
/** Opens a sandbox in which a person at a desk has done something. */
async function begin({ scenario, before = [] }: Given = {}) {
  // Where somebody submitted before, the pull request has not merged yet.
  const speed = scenario === undefined && before.length > 0 ? 1 : 50
  const queues = ['acme/web', 'gitlab.acme.example/acme/platform/web'].flatMap(name =>
    ['main', 'release/2.4'].map(targetBranch => ({ repo: parseRepository(name), targetBranch })),
  )
  sandbox = await startSandbox({ speed, now: Date.now, queues, scenario: scenario ?? 'happy' })
  folder = mkdtempSync(join(place, 'recipe-'))
  for (const line of before) expect([0, 3]).toContain((await mergeq(line)).code)
}
afterEach(() => sandbox?.close())

/** The steps of a recipe on a page; GitLab's jobs stand at the top of the document, and Jenkins' steps are Groovy. */
function stepsIn({ language, text }: Block): readonly Step[] {
  if (language === 'groovy') return [...text.matchAll(/\bsh '(.*)'/g)].map(([, run = '']) => ({ run }))
  const document: Part & Readonly<Record<string, Part>> = parse(text)
  const isJob = document.steps === undefined && document.jobs === undefined
  return stepsOf(isJob ? { jobs: document } : document)
}

/** The steps of each recipe, by its page and heading, or by its file and job. */
const recipes = new Map<string, readonly Step[]>([
  ...['ci', 'github-action'].flatMap(page =>
    blocksOf(`docs/${page}.md`)
      .filter(({ language }) => /^(?:yaml|groovy)$/.test(language))
      .map(block => [`${page}: ${block.heading}`, stepsIn(block)] as const),
  ),
  ...['merge', 'queue', 'queue-settings'].flatMap(name => {
    const { env, jobs } = parse(readFileSync(`docs/recipes/${name}.yml`, 'utf8'))
    return Object.entries<Part>(jobs).map(([key, job]) => [`${name}: ${key}`, stepsOf(job, env)] as const)
  }),
])

interface Given extends Partial<Runner> {
  readonly scenario?: 'failure'
  /** What a person at a desk does before. */
  readonly before?: readonly string[]
  /** What is in the event besides. */
  readonly event?: object
  readonly token?: string
}

/** Runs a command line of mergeq as the person at a desk. */
const mergeq = (line: string) =>
  sh(['sh', '-c', `mergeq ${line} -R acme/web -b main`], folder, {
    ...environmentOf(sandbox, folder),
    MERGEQ_TOKEN: sandbox.token,
  })

/** Runs a recipe as a recorded job; those of the page on CI in a checkout. */
async function run(recipe: string, system: string, name: string, given: Given = {}) {
  const { env, event } = recordedJob(system, name)
  if (recipe.startsWith('ci:')) checkout(basename(folder))
  const happened = { ...event, ...given.event }
  writeFileSync(join(folder, 'event.json'), JSON.stringify(happened))
  const secret = given.token ?? env.MERGEQ_TOKEN ?? sandbox.token
  const pulled = { base: { ref: 'release/2.4' }, number: 123, head: { sha: head } }
  const result = await runJob(recipes.get(recipe) ?? expect.fail(recipe), folder, {
    env: {
      ...env,
      ...environmentOf(sandbox, folder),
      MERGEQ_PACKAGE: 'mergeq@0.1.0',
      MERGEQ_ORG: sandbox.org,
      ...(system === 'github' ? {} : { MERGEQ_TOKEN: secret }),
    },
    context: {
      github: { event: happened, repository: 'acme/web', token: 'gh' },
      secrets: { MERGEQ_TOKEN: secret },
      vars: { MERGEQ_PACKAGE: 'mergeq@0.1.0' },
      pipeline: { event: { github: { pull_request: pulled } } },
    },
    ...given,
  })
  const written = ['output-1', 'failing-tests.md', 'failing-tests.csv', 'annotate.md', 'result.md']
  const left = [result.log, ...written.map(result.read), result.summary, result.comments].join('')
  return { ...result, left }
}

const pull = 'pull request'
const labeled = 'pull_request_target'
const comment = 'comment on a pull request'
const oneTarget = /: 1 target \(/
const commented = (body: string) => ({
  comment: { body, user: { login: 'ada' } },
  issue: { number: 127, pull_request: {} },
})
const isOld = { number: 8, baseRefName: 'a-branch' }
const labels = (days: number) =>
  [9, days].map(age => ({
    event: 'labeled',
    label: { name: 'queue' },
    created_at: `${new Date(Date.now() - age * 86_400_000).toISOString().slice(0, 19)}Z`,
  }))
const report: Given = {
  scenario: 'failure',
  before: ['pr submit 126', 'pr wait 126 --interval 1s', 'pr submit 125'],
  gh: {
    list: [...[126, 125].map(number => ({ number, baseRefName: 'main' })), isOld],
    events: labels(1.5),
  },
}

/**
 * The recorded job that each recipe is run as, what it then prints, sets, writes and comments, and what it leaves where
 * the first step fails that runs a program of ours.
 */
const rows: readonly [string, string, string, leaves: RegExp, worst?: RegExp, given?: Given][] = [
  ['ci: Outputs and a summary', 'github', pull, /^record=\{"state":[\s\S]*\| --- \|[^\n]*\n\| #?123 \|/m],
  ['ci: Impacted targets, including forks', 'github', 'fork pull request', oneTarget],
  ['ci: Failing tests on the pull request', 'github', pull, /^::warning file=[\s\S]*^### \d+ failing tests/m],
  ['ci: GitLab', 'gitlab', 'push', /^### \d+ failing tests[\s\S]*^name,/m],
  ['ci: Buildkite', 'buildkite', pull, /^\| .*\n\| --- \|/m],
  ['ci: Jenkins', 'jenkins', 'pull request as it is', oneTarget],
  ['ci: CircleCI', 'circleci', 'a branch, or a pull request with the GitHub App', oneTarget],
  ['ci: Azure Pipelines', 'azure', pull, oneTarget],
  ['github-action: Submit and wait', 'github', pull, /^#123 merged/m],
  ['github-action: Use the JSON and the exit code', 'github', pull, /in the merge queue: not-found/],
  ['github-action: Several commands, on a schedule', 'github', 'schedule', /failing tests/],
  ['merge: merge', 'github', labeled, /\| 125 \| merged \|[\s\S]*\[Log\]\(/, /The job failed, and has no/],
  [
    'merge: cancel',
    'github',
    labeled,
    /was taken out of the merge queue\.\n$/,
    /may still be in the merge queue/,
    { before: ['pr submit 125'] },
  ],
  ['queue: submit', 'github', labeled, /\| 125 \| true \| confirmed \|/, /The job failed, and has no result/],
  [
    'queue: report',
    'github',
    'schedule',
    /within a day.*#8 has not finished[\s\S]*#126 .*failed[\s\S]*\| again \| after-change \|/,
    /^(?!.*has not finished)/s,
    report,
  ],
]

describe('the recipes', { timeout: 90_000 }, () => {
  test('all are run', () => {
    const elsewhere = (name: string) =>
      // That below 'Many repositories' calls merge.yml.
      name.endsWith('Many repositories') || name.startsWith('queue-settings') || name === 'queue: cancel'
    expect([...recipes.keys()].filter(name => !elsewhere(name))).toEqual(rows.map(([recipe]) => recipe))
    expect(recipes.get('queue: cancel')).toEqual(recipes.get('merge: cancel'))
  })

  test.each(rows)('%s, on %s: %s', async (recipe, system, job, leaves, _, given) => {
    await begin(given)
    const { state, left } = await run(recipe, system, job, given)
    expect({ state, left }).toEqual({ state: 'success', left: expect.stringMatching(leaves) })
  })

  test.each(rows)('%s, on %s: %s, where our program fails', async (recipe, system, job, _, worst, given) => {
    await begin(given)
    const ours = /mergeq (?:pr|flaky|queue)|targets\.mjs|mergeq\//
    const failing = recipes.get(recipe)?.findIndex(({ run = '', uses = '' }) => ours.test(run + uses))
    const { state, codes, left } = await run(recipe, system, job, { ...given, failing })
    expect({ state, code: codes[failing ?? 0] }).toEqual({ state: 'failure', code: 1 })
    expect(left).toMatch(worst ?? /^/)
  })

  const moved = { gh: { view: { headRefOid: other, baseRefName: 'main' } } }
  const afterPush = /The head of \\?#12[35] moved: .* Nothing was sent\./
  test.each<[recipe: string, job: string, given: Given, leaves: RegExp, asks?: RegExp]>([
    ['ci: Outputs and a summary', pull, moved, /Someone pushed after the label was added\. Nothing was sub/],
    ['github-action: Submit and wait', pull, moved, afterPush],
    ['queue: submit', labeled, moved, afterPush, /DELETE repos\/acme\/web\/issues\/125\/labels\/queue\n$/],
    [
      'merge: merge',
      labeled,
      { scenario: 'failure', event: { pull_request: { number: 126, head: { sha: head } } } },
      /\| 126 \| failed \|[\s\S]*\| again \| after-change \|/,
      /DELETE repos\/acme\/web\/issues\/126\/labels\/merge\n$/,
    ],
    [
      'merge: merge',
      comment,
      { event: commented('/merge'), gh: { permission: { permission: 'read' } } },
      /Nothing was submitted: @ada has no write access/,
    ],
    [
      'merge: merge',
      comment,
      { event: commented(`/merge ${other}`) },
      /Nothing was submitted: .* not the commit in the comment/,
    ],
    ['merge: merge', labeled, { before: ['pr submit 125'], cancelled: 2 }, /^125\ttrue/m],
  ])('%s, on %s, given %j', async (recipe, job, given, leaves, asks = /^/) => {
    await begin(given)
    const { state, left, asked } = await run(recipe, 'github', job, given)
    expect(left).toMatch(leaves)
    expect(asked).toMatch(asks)
    expect(state).toBe(given.cancelled === undefined ? 'failure' : 'cancelled')
  })

  test('the lines for other systems', async () => {
    await begin()
    const own = checkout('elsewhere')
    const env = { ...environmentOf(sandbox, own), ...inSandbox(sandbox), MERGEQ_PR: '7', MERGEQ_SHA: head }
    const blocks = blocksOf('docs/ci.md').filter(({ language }) => language === 'sh')
    for (const line of blocks.flatMap(linesOf))
      expect({ line, ...(await sh(['sh', '-c', line], own, env)) }).toMatchObject({ line, code: 0 })
  })

  test('queue-settings: checks without a token, tells what a merge changes, applies it, and keeps what undoes it', async () => {
    await begin({ before: ['queue export -f queue.yaml'] })
    const concurrency = async () => JSON.parse((await mergeq('queue get --json')).out).concurrency
    const before = await concurrency()
    mkdirSync(join(folder, 'queues'))
    const text = readFileSync(join(folder, 'queue.yaml'), 'utf8')
    writeFileSync(join(folder, 'queues/main.yaml'), text.replace(/concurrency: \d+/, 'concurrency: 7'))
    const job = (name: string, given: Given = {}) => run(`queue-settings: ${name}`, 'github', pull, given)
    for (const name of ['check', 'diff', 'apply', 'drift'])
      expect(await job(name, { failing: 2 })).toMatchObject({ state: 'failure', comments: '' })
    expect(await job('check', { token: '' })).toMatchObject({ state: 'success' })
    const { state, comments } = await job('diff')
    expect(state).toBe('success')
    expect(comments).toMatch(
      /^A merge changes these settings:\n\n\|.*\n\|.*\n\|.* concurrency \| \d+ \| 7 \|\n$/,
    )
    expect(await job('apply')).toMatchObject({ state: 'success' })
    expect(await concurrency()).toBe(7)
    // The other queues have no file.
    expect((await job('drift')).codes.at(-1)).toBe(20)
    expect((await job('diff')).comments).toContain('A merge changes no setting.\n\n| ')
    expect((await mergeq('queue apply -f before.json --yes')).code).toBe(0)
    expect(await concurrency()).toBe(before)
  })
})
