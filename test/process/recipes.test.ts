import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { head, merge as other, recordedJobs } from '../support/ci-jobs.ts'
import { type Part, type Runner, runJob, type Step, stepsOf } from '../support/ci-runner.ts'
import { type Block, blocksOf, linesOf } from '../support/code-blocks.ts'
import { checkout, environmentOf, inSandbox, place, sh } from '../support/documentation-runs.ts'

let sandbox: Sandbox
async function open(scenario: 'happy' | 'failure' = 'happy', speed = 50) {
  const queues = ['main', 'release/2.4'].flatMap(targetBranch =>
    ['acme/web', 'gitlab.acme.example/acme/platform/web'].map(name => ({
      repo: parseRepository(name),
      targetBranch,
    })),
  )
  sandbox = await startSandbox({ speed, now: Date.now, queues, scenario })
}
afterEach(() => sandbox?.close())

describe('the recipes on pages', { timeout: 90_000 }, () => {
  /** The steps of a recipe; GitLab's jobs stand at the top of the document, and Jenkins' steps are Groovy. */
  function stepsIn({ language, text }: Block): readonly Step[] {
    if (language === 'groovy') return [...text.matchAll(/\bsh '(.*)'/g)].map(([, run = '']) => ({ run }))
    const document: Part & Readonly<Record<string, Part>> = parse(text)
    const isJob = document.steps === undefined && document.jobs === undefined
    return stepsOf(isJob ? { jobs: document } : document)
  }

  const [ci, withAction] = ['docs/ci.md', 'docs/github-action.md']
  const pull = 'pull request'
  type Rehearsal = readonly [recipe: string, system: string, job: string, leaves: RegExp, afterPush?: string]
  /**
   * The recorded job that each recipe is rehearsed as, what is in what it prints, sets and writes, and what it says
   * where the worst is not a program that fails, but a push.
   */
  const rehearsals: readonly Rehearsal[] = [
    [
      `${ci}: Outputs and a summary`,
      'github',
      pull,
      /^record=\{"state":[\s\S]*\| --- \|[^\n]*\n\| #?123 \|/m,
      'Someone pushed after the label was added. Nothing was submitted.',
    ],
    [`${ci}: Impacted targets, including forks`, 'github', 'fork pull request', /: 1 target \(/],
    [
      `${ci}: Failing tests on the pull request`,
      'github',
      pull,
      /^::warning file=[\s\S]*^### \d+ failing tests/m,
    ],
    [`${ci}: GitLab`, 'gitlab', 'push', /^### \d+ failing tests[\s\S]*^name,/m],
    [`${ci}: Buildkite`, 'buildkite', pull, /^\| .*\n\| --- \|/m],
    [`${ci}: Jenkins`, 'jenkins', 'pull request as it is', /: 1 target \(/],
    [`${ci}: CircleCI`, 'circleci', 'a branch, or a pull request with the GitHub App', /: 1 target \(/],
    [`${ci}: Azure Pipelines`, 'azure', pull, /: 1 target \(/],
    [
      `${withAction}: Submit and wait`,
      'github',
      pull,
      /^#123 merged/m,
      'The head of #123 moved: expected 4f2a9c1, found 9d1c2b3. Nothing was sent.',
    ],
    [`${withAction}: Use the JSON and the exit code`, 'github', pull, /in the merge queue: not-found/],
    [`${withAction}: Several commands, on a schedule`, 'github', 'schedule', /failing tests/],
  ]
  const recipes = new Map<string, readonly Step[]>(
    ['docs/ci.md', 'docs/github-action.md'].flatMap(page =>
      blocksOf(page)
        .filter(({ language }) => /^(?:yaml|groovy)$/.test(language))
        .map(block => [`${page}: ${block.heading}`, stepsIn(block)] as const),
    ),
  )

  // The one below 'Many repositories' calls merge.yml.
  test('every recipe is rehearsed', () =>
    expect([...recipes.keys()].filter(name => !name.endsWith('Many repositories'))).toEqual(
      rehearsals.map(([recipe]) => recipe),
    ))

  /** Runs a recipe as a recorded job, in a new checkout. */
  async function rehearse(recipe: string, system: string, name: string, runner: Partial<Runner> = {}) {
    await open()
    const { common, jobs } = recordedJobs[system] ?? expect.fail(`no jobs of ${system}`)
    const { env, event } = jobs[name] ?? expect.fail(`no job ${name}`)
    const folder = mkdtempSync(join(place, 'recipe-'))
    if (recipe.startsWith('docs/ci.md')) checkout(basename(folder))
    writeFileSync(join(folder, 'event.json'), JSON.stringify(event))
    const secret = env.MERGEQ_TOKEN ?? sandbox.token
    const pulled = { base: { ref: 'release/2.4' }, number: 123, head: { sha: head } }
    const result = await runJob(recipes.get(recipe) ?? expect.fail(recipe), folder, {
      env: {
        ...common,
        ...env,
        ...environmentOf(sandbox, folder),
        MERGEQ_PACKAGE: 'mergeq@0.1.0',
        MERGEQ_ORG: sandbox.org,
        ...(system === 'github' ? {} : { MERGEQ_TOKEN: secret }),
      },
      context: {
        github: { event, repository: 'acme/web', token: 'gh' },
        secrets: { MERGEQ_TOKEN: secret },
        pipeline: { event: { github: { pull_request: pulled } } },
      },
      ...runner,
    })
    const written = ['output-1', 'failing-tests.md', 'failing-tests.csv', 'annotate.md'].map(result.read)
    return { ...result, left: [result.log, ...written, result.summary].join('') }
  }

  test.each(rehearsals)('%s, on %s: %s', async (recipe, system, job, leaves) => {
    const { codes, left, log } = await rehearse(recipe, system, job)
    expect({ codes, log }).toEqual({ codes: codes.map(() => 0), log })
    expect(left).toMatch(leaves)
  })

  test.each(rehearsals)('%s, on %s: %s, fails at its worst', async (recipe, system, job, _, afterPush) => {
    const steps = recipes.get(recipe) ?? []
    const ours = /mergeq (?:pr|flaky|queue)|targets\.mjs|mergeq\//
    const failing = steps.findIndex(({ run = '', uses = '' }) => ours.test(run + uses))
    const worst = afterPush === undefined ? { failing } : { view: { headRefOid: other } }
    const { state, left } = await rehearse(recipe, system, job, worst)
    expect(state).toBe('failure')
    expect(left).toContain(afterPush ?? 'partial')
  })

  test('the lines for other systems', async () => {
    await open()
    const folder = checkout('elsewhere')
    const env = environmentOf(sandbox, folder)
    for (const line of blocksOf('docs/ci.md')
      .filter(({ language }) => language === 'sh')
      .flatMap(linesOf)) {
      const { code } = await sh(['sh', '-c', line], folder, {
        ...{ ...env, ...inSandbox(sandbox), MERGEQ_PR: '7', MERGEQ_SHA: head },
      })
      expect({ line, code }).toEqual({ line, code: 0 })
    }
  })
})

describe('the recipes in files', { timeout: 90_000 }, () => {
  const jobsOf = (name: string): Readonly<Record<string, readonly Step[]>> => {
    const { env, jobs } = parse(readFileSync(`docs/recipes/${name}.yml`, 'utf8'))
    return Object.fromEntries(
      Object.entries<Part>(jobs).map(([key, job]) => [`${name}: ${key}`, stepsOf(job, env)]),
    )
  }
  const jobs = { ...jobsOf('merge'), ...jobsOf('queue'), ...jobsOf('queue-settings') }

  let folder = ''
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value))
  /** Runs a command line of mergeq as the person at a desk. */
  const mergeq = (line: string) =>
    sh(['sh', '-c', `mergeq ${line} -R acme/web -b release/2.4`], folder, {
      ...environmentOf(sandbox, folder),
      MERGEQ_TOKEN: sandbox.token,
    })
  const stateOf = async (pr: number) => {
    const { code, out } = await mergeq(`pr get ${pr} --json`)
    return code === 0 ? JSON.parse(out).state : undefined
  }

  const labeled = (number: number, action = 'labeled') => ({
    action,
    label: { name: 'merge' },
    pull_request: {
      number,
      state: 'open',
      head: { sha: head, ref: 'fix', repo: { full_name: 'octocat/web' } },
      base: { ref: 'release/2.4', repo: { full_name: 'acme/web' } },
    },
  })
  const comment = (body: string) => ({
    action: 'created',
    comment: { body, user: { login: 'ada' } },
    issue: { number: 125, pull_request: { url: 'https://api.github.com/repos/acme/web/pulls/125' } },
  })
  const scheduled = { schedule: '*/10 * * * *' }

  interface Given extends Partial<Runner> {
    readonly scenario?: 'happy' | 'failure'
    /** What the person at the desk does before. */
    readonly before?: readonly string[]
    /** The open pull requests with the label, which they have for so many days. */
    readonly open?: readonly { readonly number: number; readonly baseRefName: string }[]
    readonly days?: number
    readonly now?: string
    readonly token?: string
  }
  /** Runs a job for an event, in a runner without a checkout. */
  async function run(job: string, event: object, { now = head, token, ...given }: Given = {}) {
    write('event.json', { repository: { full_name: 'acme/web', default_branch: 'main' }, ...event })
    const { days = 0, open = [] } = given
    write('gh-list.json', open)
    const ago = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString()
    const labels: readonly (readonly [string, number])[] = [
      ['queue', 9],
      ['queue', days],
      ['docs', 0],
    ]
    write(
      'gh-events.json',
      labels.map(([name, age]) => ({
        ...{ event: 'labeled', label: { name }, created_at: ago(age).replace(/\.\d+/, '') },
      })),
    )
    const own = environmentOf(sandbox, folder)
    const isPull = 'pull_request' in event
    return runJob(jobs[job] ?? expect.fail(job), folder, {
      env: {
        ...{ ...own, CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/web' },
        GITHUB_SERVER_URL: 'https://github.com',
        GITHUB_EVENT_NAME: isPull ? 'pull_request_target' : 'comment' in event ? 'issue_comment' : 'schedule',
        ...(isPull ? { GITHUB_BASE_REF: 'release/2.4' } : {}),
      },
      context: {
        github: { event, repository: 'acme/web', token: 'gh', server_url: 'https://github.com', run_id: '1' },
        secrets: { MERGEQ_TOKEN: token ?? sandbox.token },
        vars: { MERGEQ_PACKAGE: 'mergeq@0.1.0' },
      },
      view: { headRefOid: now, baseRefName: 'release/2.4' },
      ...given,
    })
  }
  async function begin({ scenario = 'happy', before = [] }: Given) {
    folder = mkdtempSync(join(place, 'recipe-'))
    await open(scenario, before.length === 0 || scenario === 'failure' ? 50 : 1)
    for (const line of before) expect([0, 3]).toContain((await mergeq(line)).code)
  }

  interface Row {
    readonly name: string
    readonly job: string
    readonly event: object
    readonly given?: Given
    readonly state: 'success' | 'failure' | 'cancelled'
    /** What it comments. */
    readonly says: RegExp
    readonly asks?: RegExp
    /** The state of #125 afterwards, if it is in the queue. */
    readonly leaves?: string | undefined
  }
  const removesLabel = (label: string) =>
    new RegExp(`-X DELETE repos/acme/web/issues/12\\d/labels/${label}\\n$`)
  const toMerge = { job: 'merge: merge', event: labeled(125) }
  const toCancel = { job: 'merge: cancel', event: labeled(125, 'unlabeled') }
  const toQueue = { job: 'queue: submit', event: labeled(125) }
  const refused = { state: 'failure', leaves: undefined } as const
  const unqueued = { ...refused, asks: removesLabel('queue') }
  const toReport = { job: 'queue: report', event: scheduled }
  const silent = { state: 'failure', says: /^$/, asks: /^$/ } as const
  const old = { number: 8, baseRefName: 'a-branch' }
  const rows: readonly Row[] = [
    {
      ...{ ...toMerge, name: 'a label', state: 'success', asks: /^(?!.*DELETE)/s },
      says: /\| 125 \| merged \|[\s\S]*\[Log\]\(https:/,
    },
    {
      ...{ ...toMerge, name: 'a test that fails', event: labeled(126), given: { scenario: 'failure' } },
      ...{ state: 'failure', asks: removesLabel('merge') },
      says: /\| 126 \| failed \|[\s\S]*\| again \| after-change \|/,
    },
    {
      ...{ ...toMerge, name: 'a push after the label', given: { now: other }, ...refused },
      says: /The head of \\#125 moved: .* Nothing was sent\.[\s\S]*Look at the new commits/,
    },
    {
      ...{ ...toMerge, name: 'a comment of a reader', event: comment('/merge'), ...refused },
      ...{ given: { permission: 'read' }, says: /Nothing was submitted: @ada has no write access/ },
    },
    {
      ...{ ...toMerge, name: 'a cancellation', given: { before: ['pr submit 125'], cancelled: 2 } },
      ...{ state: 'cancelled', says: /^$/, leaves: 'CANCELLED' },
    },
    {
      ...{ ...toCancel, name: 'a label that is removed', given: { before: ['pr submit 125'] } },
      ...{ state: 'success', says: /was taken out of the merge queue\.\n$/, leaves: 'CANCELLED' },
    },
    {
      ...{ ...toCancel, name: 'a cancellation that fails', given: { failing: 1 }, state: 'failure' },
      says: /may still be in the merge queue/,
    },
    { ...toQueue, name: 'a label', state: 'success', says: /^$/, asks: /^$/, leaves: expect.any(String) },
    {
      ...{ ...toQueue, name: 'a push after the label', given: { now: other }, ...unqueued },
      says: /The head of #125 moved: .* Nothing was sent\./,
    },
    {
      ...{
        ...toReport,
        name: 'a failure, and a day out of the queue, on a branch without one',
        state: 'success',
      },
      given: {
        ...{ scenario: 'failure', before: ['pr submit 126', 'pr wait 126 --interval 1s', 'pr submit 125'] },
        open: [...[126, 125].map(number => ({ number, baseRefName: 'release/2.4' })), old],
        days: 1.5,
      },
      says: /^(?!.*#125)#126 .*failed[\s\S]*\| again \| after-change \|[\s\S]*within a day.*#8 has not finished/,
      asks: /^pr comment 126 --body-file comment\.md\napi .* DELETE repos\/acme\/web\/issues\/126\/labels\/queue\n/,
    },
    {
      ...toReport,
      name: 'a label of today',
      state: 'success',
      says: /^$/,
      given: { open: [old], days: 0.5 },
    },
    {
      ...{ ...toReport, name: 'a question that fails, of which it says nothing', ...silent },
      given: { open: [old], days: 1.5, failing: 2 },
    },
  ]
  test.each(rows)('$job after $name', async ({ job, event, given = {}, state, says, asks, ...due }) => {
    await begin(given)
    const result = await run(job, event, given)
    expect({ state: result.state, comments: result.comments }).toEqual({
      state,
      comments: expect.stringMatching(says),
    })
    expect(result.asked).toMatch(asks ?? /^/)
    if ('leaves' in due) expect(await stateOf(125)).toEqual(due.leaves)
  })

  test('the job of queue.yml that cancels is that of merge.yml', () =>
    expect(jobs['queue: cancel']).toEqual(jobs['merge: cancel']))

  describe('queue-settings.yml', () => {
    /** Exports the settings of the sandbox, as a repository has them, with another concurrency. */
    async function openWith(concurrency: number) {
      await begin({ before: ['queue export -f queue.yaml'] })
      mkdirSync(join(folder, 'queues'))
      const text = readFileSync(join(folder, 'queue.yaml'), 'utf8')
      const changed = text.replace(/concurrency: \d+/, `concurrency: ${concurrency}`)
      writeFileSync(join(folder, 'queues/release.yaml'), changed)
      return readConcurrency()
    }
    const readConcurrency = async () => JSON.parse((await mergeq('queue get --json')).out).concurrency
    const job = (name: string, given: Given = {}) => run(`queue-settings: ${name}`, labeled(125), given)

    test('checks without a token, tells what a merge changes, applies it, and keeps what undoes it', async () => {
      const before = await openWith(7)
      expect(await job('check', { token: '' })).toMatchObject({ state: 'success' })
      const { state, comments } = await job('diff')
      expect(state).toBe('success')
      expect(comments).toMatch(
        /^A merge changes these settings:\n\n\|.*\n\|.*\n\|.* concurrency \| \d+ \| 7 \|\n$/,
      )
      expect(await job('apply')).toMatchObject({ state: 'success' })
      expect(await readConcurrency()).toBe(7)
      // The other queues have no file.
      expect((await job('drift')).codes.at(-1)).toBe(20)
      expect((await job('diff')).comments).toMatch(/A merge changes no setting\.\n\n\| [^\n]*\n\| [^\n]*\n$/)
      expect((await mergeq('queue apply -f before.json --yes')).code).toBe(0)
      expect(await readConcurrency()).toBe(before)
    })

    test.each(['check', 'diff', 'apply', 'drift'])(
      '%s changes and says nothing where it fails',
      async name => {
        const before = await openWith(7)
        const { state, comments } = await job(name, { failing: 2 })
        expect({ state, comments }).toEqual({ state: 'failure', comments: '' })
        expect(await readConcurrency()).toBe(before)
      },
    )
  })
})
