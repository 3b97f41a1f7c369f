import { describe, expect, test } from 'vitest'
import { isMergeqError } from '../../src/base/errors.ts'
import { openCiJob } from '../../src/config/ci-job.ts'
import { settingDefinitions } from '../../src/config/setting-definitions.ts'
import type { SourceContext } from '../../src/config/source-context.ts'
import type { CapturedResult, GitOptions, Host } from '../../src/host/host.ts'
import { head, merge, noHead, recordedJobs, run, type Variables, web } from '../support/ci-jobs.ts'

interface Started {
  readonly args: readonly string[]
  readonly options: GitOptions
}

/** A world of variables and files; what it starts is remembered, and answered by `git`. */
function worldOf(
  env: Variables,
  files: Readonly<Record<string, string>> = {},
  git: (args: readonly string[]) => CapturedResult = () => ({ code: 127, out: '' }),
) {
  const started: Started[] = []
  const host = {
    env,
    cwd: '/repo',
    runtime: { platform: 'linux', nullDevice: '/dev/null' },
    files: {
      read: async (path: string) => {
        if (path === '/a/fifo') throw new Error('it is not a regular file')
        return files[path]
      },
    },
    git: async (args: readonly string[], options: GitOptions) => {
      started.push({ args, options })
      return git(args)
    },
  } as unknown as Host
  return { host, started }
}

const jobOf = (system: string, name: string) => {
  const recording = recordedJobs[system]
  const { env: own, event } = recording?.jobs[name] ?? expect.fail(`no recording of ${system}: ${name}`)
  const secrets = { MERGEQ_TOKEN: 'secret-one', TRUNK_API_TOKEN: 'secret-two' }
  const env: Variables = { ...recording?.common, ...own, ...secrets }
  return { env, files: { [env.GITHUB_EVENT_PATH ?? '']: JSON.stringify(event) } }
}

const names = ['repo', 'targetBranch', 'pr', 'sha', 'testRun', 'forkedRun'] as const

const tokenless = {
  changes: false,
  notify: async () => undefined,
  give: (_: string, value: string) => `-b ${value}`,
  hasToken: async () => false,
  hintOf: () => '',
}

const jobIn = (host: Host, context: Partial<SourceContext> = {}) =>
  openCiJob({ ...tokenless, ...context, host } as SourceContext)

/** Every setting that the job gives, by its name; a refusal as its sentence after `! `. */
async function settingsOf(host: Host): Promise<Record<string, string>> {
  const source = jobIn(host)
  const settings: Record<string, string> = {}
  for (const name of names) {
    try {
      const value = (await source.find(name))?.value
      if (value !== undefined) settings[name] = value
    } catch (error) {
      if (!isMergeqError(error)) throw error
      settings[name] = `! ${error.message}`
    }
  }
  return settings
}

const jobs = Object.entries(recordedJobs).flatMap(([system, recording]) =>
  Object.entries(recording.jobs).map(([name, { settings }]) => [system, name, settings] as const),
)
test.each(jobs)('A recorded job gives its settings: %s, %s', async (system, name, settings) => {
  const { env, files } = jobOf(system, name)
  const { host, started } = worldOf(env, files)
  expect(await settingsOf(host)).toEqual(settings)
  for (const { options } of started) expect(JSON.stringify(options.env)).not.toContain('secret-')
})

describe('A change takes the target branch of a job only where the job says which', () => {
  const said: unknown[] = []
  const targetOf = async (system: string, name: string, changes: boolean) => {
    const { env, files } = jobOf(system, name)
    const notify = async (text: string) => void said.push(text)
    const source = jobIn(worldOf(env, files).host, { changes, notify })
    try {
      return (await source.find('targetBranch'))?.value
    } catch (error) {
      if (!isMergeqError(error)) throw error
      return `${error.kind}: ${error.message}\n${error.details.hint}`
    }
  }
  const refused = (problem: string, choices: string) =>
    `usage: ${problem}: which queue to change is not known.\nUse ${choices}, or set MERGEQ_TARGET_BRANCH.`
  const builds = (branch: string) => `This job builds ${branch}, not the default branch main`
  const buildsNone = 'This job builds no branch that can be the target branch'
  const release = [builds('release/2.4'), '-b release/2.4 or -b main'] as const
  const none = [buildsNone, '-b main'] as const
  const refusedJobs: readonly (readonly [system: string, name: string, problem: string, choices: string])[] =
    [
      ['github', 'push', ...release],
      ['github', 'tag', ...none],
      ['github', 'workflow_dispatch', builds('fix-cart'), '-b fix-cart or -b main'],
      ['github', 'test branch', ...none],
      ['github', 'temporary branch', ...none],
      ['github', 'workflow_run of a test branch', ...none],
      ['github', 'check_suite of a fork', ...none],
      ['github', 'workflow_run of two pull requests', ...none],
      ['github', 'workflow_run of a fork', ...none],
      ['gitlab', 'push', ...release],
      ['gitlab', 'tag', ...none],
      ['gitlab', 'test branch', ...none],
      ['buildkite', 'push', ...release],
      ['buildkite', 'tag', ...none],
    ]
  test.each(refusedJobs)(
    '%s, %s: refused; a read takes the default branch, and says so',
    async (system, name, problem, choices) => {
      expect(await targetOf(system, name, true)).toBe(refused(problem, choices))
      expect(said.splice(0)).toEqual([])
      expect(await targetOf(system, name, false)).toBe('main')
      expect(said.splice(0)).toEqual([`${problem}: using main. To choose, set MERGEQ_TARGET_BRANCH.`])
    },
  )

  const others = jobs.filter(([system, name]) =>
    refusedJobs.every(row => row[0] !== system || row[1] !== name),
  )
  test.each(others)('%s, %s: taken without a word', async (system, name, { targetBranch }) => {
    for (const changes of [true, false]) expect(await targetOf(system, name, changes)).toBe(targetBranch)
    expect(said).toEqual([])
  })

  test('the base of a job is that of its pull request or merge group; of a push there is none', async () => {
    const baseOf = async (system: string, name: string) => {
      const { env, files } = jobOf(system, name)
      return (await jobIn(worldOf(env, files).host).findBase())?.value
    }
    expect(await baseOf('github', 'merge_group')).toBe('release/2.4')
    expect(await baseOf('jenkins', 'GitLab plugin')).toBe('main')
    expect(await baseOf('jenkins', 'push with the GitLab plugin')).toBeUndefined()
    expect(await baseOf('github', 'push')).toBeUndefined()
  })
})

describe('A commit that may merge the pull request is looked at before it is taken for its head', () => {
  const answering = (parents: number) => (args: readonly string[]) => ({
    code: args.includes('cat-file') ? 0 : 1,
    out: `tree 0\n${'parent 1\n'.repeat(parents)}author a\n\nparent of all\n`,
  })
  test.each([
    ['jenkins', 'pull request', 0, head],
    ['jenkins', 'pull request', 1, head],
    ['jenkins', 'merged pull request', 2, noHead('Jenkins')],
  ] as const)('%s: %s of %i parents', async (system, name, parents, sha) => {
    const { env, files } = jobOf(system, name)
    const { host, started } = worldOf(env, files, answering(parents))
    expect((await settingsOf(host)).sha).toBe(sha)
    expect(started).toHaveLength(parents < 2 ? 1 : 2)
  })

  test.each([
    ['a parent of it', head, head],
    ['another commit', '1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e', noHead('Jenkins')],
  ])('Jenkins has fetched the head as a branch: %s', async (_, fetched, sha) => {
    const git = (args: readonly string[]) => ({
      code: 0,
      out:
        args.at(-1) === 'refs/remotes/origin/PR-123' ? `${fetched}\n` : `parent ${head}\nparent ${merge}\n\n`,
    })
    const { host } = worldOf(jobOf('jenkins', 'merged pull request').env, {}, git)
    expect((await settingsOf(host)).sha).toBe(sha)
  })

  test.each([
    ['azure', 'pull request', 'SYSTEM_PULLREQUEST_SOURCECOMMITID'],
    ['gitlab', 'merged result', 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'],
    ['buildkite', 'merged pull request', 'BUILDKITE_PULL_REQUEST_HEAD_COMMIT'],
  ])('%s, %s: without %s the merge commit is not used', async (system, name, gone) => {
    const { host } = worldOf({ ...jobOf(system, name).env, [gone]: '' }, {}, answering(2))
    expect((await settingsOf(host)).sha).toMatch(/^! .* does not provide the head commit/)
  })
})

describe('A broken or missing event file does not cause a crash', () => {
  const { env } = jobOf('github', 'pull request')
  const path = env.GITHUB_EVENT_PATH ?? ''
  test.each([
    ['missing', {}, path],
    ['a list', { [path]: '[]' }, path],
    ['of other shapes', { [path]: '{"pull_request":"x","repository":[],"issue":{"pull_request":1}}' }, path],
    ['with a number that is none', { [path]: '{"pull_request":{"number":1e99,"head":{"sha":7}}}' }, path],
    ['a FIFO', {}, '/a/fifo'],
  ])('%s', async (_, files, at) => {
    const { host } = worldOf({ ...env, GITHUB_EVENT_PATH: at }, files as Record<string, string>)
    const settings = await settingsOf(host)
    expect(settings).toMatchObject({ ...web, targetBranch: 'release/2.4', pr: '123' })
    expect(settings.sha).not.toBe(merge)
  })

  test('pull_request_target without it: neither a number nor a commit', async () => {
    const { host } = worldOf(jobOf('github', 'pull_request_target').env)
    expect(await settingsOf(host)).toEqual({ ...web, targetBranch: 'main', sha: noHead('GitHub Actions') })
  })
})

describe('Values are only values', () => {
  test('a repository that is none is refused by its parser, under its variable', async () => {
    const { host } = worldOf({ ...jobOf('github', 'push').env, GITHUB_REPOSITORY: '$(touch /tmp/x)/web' })
    const found = await jobIn(host).find('repo')
    expect(found?.origin).toBe('GITHUB_REPOSITORY')
    expect(() => settingDefinitions.repo.parse(found?.value ?? '')).toThrow('is not a repository')
  })

  test('invalid numbers, commits and URLs are omitted', async () => {
    const { host } = worldOf({
      ...jobOf('buildkite', 'pull request').env,
      BUILDKITE_REPO: 'ext::sh -c touch% /tmp/x',
      BUILDKITE_PULL_REQUEST: '1; rm',
      BUILDKITE_COMMIT: '$(id)',
    })
    expect(await settingsOf(host)).toEqual({ targetBranch: 'release/2.4' })
  })

  test('a number that belongs to another repository than the job is refused', async () => {
    const { env } = jobOf('circleci', 'pull request')
    const ofFork = { ...env, CIRCLE_REPOSITORY_URL: 'git@github.com:me/web.git' }
    expect(await settingsOf(worldOf(ofFork).host)).toMatchObject({
      repo: 'github.com/me/web',
      pr: '! CIRCLE_PULL_REQUESTS names #123 of github.com/acme/web, but this job is one of github.com/me/web.',
    })
  })

  test('a test run is a UUID at the end of a test branch', async () => {
    const { env } = jobOf('gitlab', 'push')
    for (const [name, value] of [
      [`trunk-merge/pr-1/${run.toUpperCase()}`, run.toUpperCase()],
      [`trunk-merge/pr-1/${run}-bisection-a.1`, `${run}-bisection-a.1`],
      [`trunk-merge/pr-1/${run}/x`, undefined],
      [`trunk-merge/pr-1/${run}\n`, undefined],
      [`trunk-merge/${run}`, undefined],
      [`x/trunk-merge/pr-1/${run}`, undefined],
      [`trunk-temp/pr-1/${run}`, undefined],
    ] as const) {
      const { host } = worldOf({ ...env, CI_COMMIT_BRANCH: name })
      expect((await jobIn(host).find('testRun'))?.value, name).toBe(value)
    }
  })
})

test.each([
  ['github', 'pull request', 'pr', 'the event file of GitHub Actions'],
  ['buildkite', 'pull request', 'repo', 'BUILDKITE_REPO'],
] as const)('%s, %s: the origin of %s is %s', async (system, name, setting, origin) => {
  const { env, files } = jobOf(system, name)
  expect((await jobIn(worldOf(env, files).host).find(setting))?.origin).toBe(origin)
})

test.each<Variables>([
  {},
  { CI: 'true', TRAVIS: 'true', TRAVIS_PULL_REQUEST: '123' },
  { GITHUB_TOKEN: 'x', GITHUB_REPOSITORY: 'acme/web' },
])('without a job that is known nothing is found: %j', async env => {
  const { host, started } = worldOf(env)
  expect(await settingsOf(host)).toEqual({})
  expect(started).toEqual([])
})
