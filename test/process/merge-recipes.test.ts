import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { environmentOf, place, realPrograms, sh, type Variables } from '../support/documentation-runs.ts'
import { type GitHubJob, runJob } from '../support/github-job.ts'

const head = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
const other = '1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e'
function jobsOf(name: string): Readonly<Record<string, GitHubJob>> {
  const { env, jobs } = parse(readFileSync(`docs/recipes/${name}.yml`, 'utf8'))
  const own: Readonly<Record<string, GitHubJob>> = jobs
  return Object.fromEntries(
    Object.entries(own).map(([key, job]) => [key, { ...job, env: { ...env, ...job.env } }]),
  )
}
const merge = jobsOf('merge')
const queue = jobsOf('queue')
const settings = jobsOf('queue-settings')

describe('the recipes', { timeout: 90_000 }, () => {
  let sandbox: Sandbox
  let folder: string
  const open = async (scenario: 'happy' | 'failure', speed = 50) => {
    const queues = ['main', 'release/2.4'].map(targetBranch => ({
      repo: parseRepository('acme/web'),
      targetBranch,
    }))
    sandbox = await startSandbox({ speed, now: Date.now, queues, scenario })
  }
  beforeEach(() => {
    folder = mkdtempSync(join(place, 'merge-'))
  })
  afterEach(() => sandbox.close())

  const environment = (): Variables => ({
    ...environmentOf(sandbox, folder),
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'acme/web',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_EVENT_PATH: join(folder, 'event.json'),
    GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
  })
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value))

  interface Case {
    readonly event: object
    readonly now?: string
    readonly base?: string
    readonly permission?: string
    readonly token?: string
    readonly failing?: number
    readonly cancelled?: number
    readonly installs?: string
    /** Whether the built program itself runs. */
    readonly isReal?: boolean
  }
  /** Runs a job for an event, in a runner without a checkout. */
  async function run(job: GitHubJob | undefined, { event, now = head, base = 'release/2.4', ...more }: Case) {
    write('event.json', { repository: { full_name: 'acme/web', default_branch: 'main' }, ...event })
    write('gh-view.json', { headRefOid: now, baseRefName: base })
    write('gh-permission.json', { permission: more.permission ?? 'write' })
    const token = more.token ?? sandbox.token
    const name =
      'comment' in event ? 'issue_comment' : 'pull_request' in event ? 'pull_request_target' : 'schedule'
    return runJob(job ?? expect.fail('no such job'), folder, {
      env: {
        ...environment(),
        ...(more.isReal ? { PATH: `${realPrograms}:${environment().PATH}` } : {}),
        GITHUB_EVENT_NAME: name,
        ...('pull_request' in event ? { GITHUB_BASE_REF: base } : {}),
      },
      context: {
        github: { event, repository: 'acme/web', token: 'gh', server_url: 'https://github.com', run_id: '1' },
        secrets: { MERGEQ_TOKEN: token },
        vars: { MERGEQ_PACKAGE: more.installs ?? 'mergeq@0.1.0' },
      },
      ...('failing' in more ? { failing: more.failing } : {}),
      ...('cancelled' in more ? { cancelled: more.cancelled } : {}),
    })
  }
  const labeled = (number: number) => ({
    action: 'labeled',
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
  /** Runs a command line of mergeq as the person at a desk. */
  const mergeq = (line: string) =>
    sh(['sh', '-c', `mergeq ${line} -R acme/web -b release/2.4`], folder, {
      ...environmentOf(sandbox, folder),
      MERGEQ_TOKEN: sandbox.token,
    })
  const isQueued = async (pr = 125) => (await mergeq(`pr get ${pr}`)).code === 0

  describe('merge.yml', () => {
    test.each([
      ['a label', labeled(125), true],
      ['a comment', comment('/merge'), false],
      ['a comment with the head', comment(`/merge ${head.slice(0, 8)}\r\n`), false],
    ])('merges after %s, and tells it', async (_, event, isReal) => {
      await open('happy')
      const { state, comments, log } = await run(merge.merge, { event, isReal })
      expect({ state, comments }).toEqual({
        state: 'success',
        comments: expect.stringMatching(/\| 125 \| merged \|[\s\S]*\[Log\]\(https:/),
      })
      expect(log).not.toContain('DELETE')
    })

    test('tells why it failed and what to do, and removes the label', async () => {
      await open('failure')
      const { state, comments, log } = await run(merge.merge, { event: labeled(126) })
      expect({ state, log }).toEqual({
        state: 'failure',
        log: expect.stringMatching(/-X DELETE repos\/acme\/web\/issues\/126\/labels\/merge\n$/),
      })
      expect(comments).toMatch(/\| 126 \| failed \|[\s\S]*\| again \| after-change \|/)
    })

    test.each([
      [
        'a push after the label',
        labeled(125),
        { now: other },
        /The head of \\#125 moved: .* Nothing was sent\.[\s\S]*Look at the new commits/,
      ],
      [
        'a comment that names another commit',
        comment(`/merge ${other}`),
        {},
        /not the commit in the comment/,
      ],
      ['a comment with more words', comment('/merge please'), {}, /must be `\/merge`/],
      ['a comment with a second line', comment(`/merge\n${head}`), {}, /must be `\/merge`/],
      ['a comment of a reader', comment('/merge'), { permission: 'read' }, /@ada has no write access/],
    ])('submits nothing after %s, and says so', async (_, event, more, says) => {
      await open('happy')
      const { state, comments } = await run(merge.merge, { event, ...more })
      expect({ state, comments }).toEqual({ state: 'failure', comments: expect.stringMatching(says) })
      expect(comments).toMatch(/Nothing was (?:submitted|sent)/)
      expect(await isQueued()).toBe(false)
    })

    test.each([1, 2])('submits nothing where step %i fails, and tells it', async failing => {
      await open('happy')
      const { state, codes, comments } = await run(merge.merge, { event: labeled(125), failing })
      expect({ state, code: codes[failing] }).toEqual({ state: 'failure', code: 1 })
      expect(await isQueued()).toBe(false)
      expect(comments).toMatch(/The job failed, and has no result/)
    })

    test('takes it out of the queue if the job is cancelled', async () => {
      await open('happy', 1)
      await mergeq('pr submit 125')
      const { codes } = await run(merge.merge, { event: labeled(125), cancelled: 2 })
      expect(codes).toEqual([0, 0, 'cancelled', 'skipped', 0])
      expect(JSON.parse((await mergeq('pr get 125 --json')).out)).toMatchObject({ state: 'CANCELLED' })
      expect((await run(merge.merge, { event: labeled(125), cancelled: 0 })).codes.at(-1)).toBe(0)
    })

    test('a label that is removed takes it out of the queue', async () => {
      await open('happy', 1)
      const event = { ...labeled(125), action: 'unlabeled' }
      const before = await run(merge.cancel, { event })
      expect(before).toMatchObject({
        state: 'success',
        comments: expect.stringMatching(/is not in the merge queue\.\n$/),
      })
      await mergeq('pr submit 125')
      const after = await run(merge.cancel, { event })
      expect(after).toMatchObject({
        state: 'success',
        comments: expect.stringMatching(/was taken out of the merge queue\.\n$/),
      })
      expect(JSON.parse((await mergeq('pr get 125 --json')).out)).toMatchObject({ state: 'CANCELLED' })
    })

    test('the job that cancels ends with a failure where the cancellation fails', async () => {
      await open('happy')
      const event = { ...labeled(125), action: 'unlabeled' }
      const { state, comments } = await run(merge.cancel, { event, failing: 1 })
      expect({ state, comments }).toEqual({
        state: 'failure',
        comments: expect.stringMatching(/may still be in the merge queue/),
      })
    })
  })

  describe('queue.yml', () => {
    const event = { ...labeled(125), label: { name: 'queue' } }

    test('submits without a word', async () => {
      await open('happy')
      expect(await run(queue.submit, { event })).toMatchObject({ state: 'success', comments: '', log: '' })
      expect(await isQueued()).toBe(true)
    })

    test.each([
      ['a push after the label', { now: other }, /The head of #125 moved: .* Nothing was sent\./],
      ['a token that is rejected', { token: 'old' }, /rejected the token/],
      ['a failure of the first step', { failing: 0 }, /The job failed/],
      ['a failure of the second step', { failing: 1 }, /The job failed/],
      ['an installation of nothing', { installs: '' }, /The job failed/],
    ])('submits nothing after %s, says so, and removes the label', async (_, more, says) => {
      await open('happy')
      const { state, comments, log } = await run(queue.submit, { event, ...more })
      expect({ state, comments }).toEqual({ state: 'failure', comments: expect.stringMatching(says) })
      expect(log).toContain('DELETE repos/acme/web/issues/125/labels/queue')
      expect(await isQueued()).toBe(false)
    })

    const days = (count: number) =>
      new Date(Date.now() - count * 86_400_000).toISOString().replace(/\.\d+/, '')
    const label = (age: number) => [
      { event: 'labeled', label: { name: 'queue' }, created_at: days(9) },
      { event: 'labeled', label: { name: 'queue' }, created_at: days(age) },
      { event: 'labeled', label: { name: 'docs' }, created_at: days(0) },
    ]

    test('tells what failed, of every branch, and keeps what is queued or new', async () => {
      await open('failure')
      await mergeq('pr submit 126')
      await mergeq('pr wait 126 --interval 1s')
      await mergeq('pr submit 125')
      write('gh-list.json', [
        { number: 126, baseRefName: 'release/2.4' },
        { number: 125, baseRefName: 'release/2.4' },
        { number: 7, baseRefName: 'main' },
      ])
      write('gh-events.json', label(0.5))
      const { state, comments, log } = await run(queue.report, { event: { schedule: '*/10 * * * *' } })
      expect({ state, log }).toEqual({
        state: 'success',
        log: 'pr comment 126 --body-file comment.md\napi --silent -X DELETE repos/acme/web/issues/126/labels/queue\n',
      })
      expect(comments).toMatch(/#126 .*failed[\s\S]*\| again \| after-change \|/)
    })

    test('ends what did not get into the queue within a day, also where another branch has no queue', async () => {
      await open('happy')
      write('gh-list.json', [
        { number: 8, baseRefName: 'a-branch' },
        { number: 7, baseRefName: 'main' },
      ])
      write('gh-events.json', label(1.5))
      const { state, comments } = await run(queue.report, { event: { schedule: '*/10 * * * *' } })
      expect(state).toBe('success')
      expect(comments.match(/did not get into the queue within a day.*/g)).toEqual([
        expect.stringContaining('#8 has not finished (not found in the queue)'),
        expect.stringContaining('#7 has not finished (not found in the queue)'),
      ])
    })

    test.each([
      ['the token is rejected', { token: 'old' }],
      ['the step that asks fails', { failing: 2 }],
    ])('says nothing about pull requests where %s, and fails', async (_, more) => {
      await open('happy')
      write('gh-list.json', [{ number: 7, baseRefName: 'main' }])
      write('gh-events.json', label(1.5))
      const { state, comments, log } = await run(queue.report, { event: { schedule: '' }, ...more })
      expect({ state, comments, log }).toEqual({ state: 'failure', comments: '', log: '' })
    })

    test('the job that cancels is that of merge.yml', () =>
      expect(JSON.stringify(queue.cancel).replaceAll("'queue'", "'merge'")).toBe(
        JSON.stringify(merge.cancel),
      ))
  })

  describe('queue-settings.yml', () => {
    const event = labeled(125)
    /** Exports the settings of the sandbox, as a repository has them, with another concurrency. */
    async function openWith(concurrency: number) {
      await open('happy')
      await mergeq('queue export -f queue.yaml')
      mkdirSync(join(folder, 'queues'))
      const text = readFileSync(join(folder, 'queue.yaml'), 'utf8')
      const changed = text.replace(/concurrency: \d+/, `concurrency: ${concurrency}`)
      writeFileSync(join(folder, 'queues/release.yaml'), changed)
    }
    const concurrency = async () => JSON.parse((await mergeq('queue get --json')).out).concurrency

    test('tells what a merge changes, applies it, and finds no difference then', async () => {
      await openWith(7)
      const compared = await run(settings.diff, { event })
      expect(compared).toMatchObject({ state: 'success', codes: [0, 0, 0, 0] })
      expect(compared.comments).toMatch(
        /^A merge changes these settings:\n\n\|.*\n\|.*\n\|.* concurrency \| \d+ \| 7 \|\n$/,
      )
      expect(await run(settings.apply, { event: {} })).toMatchObject({ state: 'success' })
      expect(await concurrency()).toBe(7)
      // The other queue has no file.
      expect((await run(settings.drift, { event: { schedule: '' } })).codes.at(-1)).toBe(20)
      expect((await run(settings.diff, { event })).comments).toMatch(
        /A merge changes no setting\.\n\n\| [^\n]*\n\| [^\n]*\n$/,
      )
    })

    test('the check needs no token, and keeps a record of the undo', async () => {
      await openWith(7)
      expect(await run(settings.check, { event, token: '' })).toMatchObject({ state: 'success' })
      const before = await concurrency()
      await run(settings.apply, { event: {} })
      expect(await concurrency()).toBe(7)
      expect((await mergeq('queue apply -f before.json --yes')).code).toBe(0)
      expect(await concurrency()).toBe(before)
    })

    test.each([
      ['check', 2],
      ['diff', 2],
      ['apply', 2],
      ['drift', 2],
    ])('%s changes nothing and says nothing where step %i fails', async (job, failing) => {
      await openWith(7)
      const before = await concurrency()
      const { state, comments } = await run(settings[job], { event, failing })
      expect({ state, comments }).toEqual({ state: 'failure', comments: '' })
      expect(await concurrency()).toBe(before)
    })
  })
})
