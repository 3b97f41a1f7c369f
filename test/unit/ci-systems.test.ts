import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { ciSource } from '../../src/config/discovery.ts'
import { type SettingKey, settingDefinitions } from '../../src/config/setting-definitions.ts'
import { isMergeqError } from '../../src/errors.ts'
import type { GitOptions, GitResult, Host } from '../../src/host/host.ts'

type Variables = Readonly<Record<string, string>>

/** The recorded jobs of one system: what all of them set, and what each sets besides. */
interface Recording {
  readonly source: string
  readonly common: Variables
  readonly jobs: Readonly<Record<string, { readonly env: Variables; readonly event?: unknown }>>
}

const folder = new URL('../fixtures/ci/', import.meta.url)
const read = (file: string): Recording => JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
const recordings = new Map(readdirSync(folder).map(file => [file.replace('.json', ''), read(file)] as const))

interface Started {
  readonly args: readonly string[]
  readonly options: GitOptions
}

/** A world of variables and files; what it starts is remembered, and answered by `git`. */
function worldOf(
  env: Variables,
  files: Readonly<Record<string, string>> = {},
  git: (args: readonly string[]) => GitResult = () => ({ code: 127, out: '' }),
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
  const recording = recordings.get(system)
  const job = recording?.jobs[name]
  if (recording === undefined || job === undefined) throw new Error(`no recording of ${system}: ${name}`)
  const env: Variables = {
    ...recording.common,
    ...job.env,
    MERGEQ_TOKEN: 'secret-one',
    TRUNK_API_TOKEN: 'secret-two',
  }
  const path = env.GITHUB_EVENT_PATH ?? ''
  return { env, files: job.event === undefined ? {} : { [path]: JSON.stringify(job.event) } }
}

const names = ['repo', 'targetBranch', 'pr', 'sha', 'testRun', 'forkedRun'] as const

const tokenless = async () => false

/** Every setting that the job gives, by its name; a refusal as its sentence after `! `. */
async function settingsOf(host: Host): Promise<Record<string, string>> {
  const source = ciSource(host, tokenless)
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

const head = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
const merge = '9d1c2b3a4f5e60718293a4b5c6d7e8f901234567'
const run = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
const branch = `trunk-merge/pr-123/${run}`
const noPull = (on: string) =>
  `! This job runs on ${on}, a test branch of the merge queue, not the branch of a pull request.`
const noHead = (title: string) =>
  `! ${title} does not provide the head commit of the pull request; the commit that it builds may be a merge commit.`

const web = { repo: 'github.com/acme/web' }
const pulled = { ...web, targetBranch: 'release/2.4', pr: '123', sha: head }
const tested = { ...web, targetBranch: 'main', pr: noPull(branch), sha: merge, testRun: run }
const platform = { repo: 'gitlab.acme.example/acme/platform/web' }

/** Written by hand from what each system documents: the job, and every setting that it gives. */
const expected: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  github: {
    'pull request': pulled,
    'fork pull request': { ...pulled, targetBranch: 'main', pr: '124', forkedRun: '20718293041' },
    pull_request_target: { ...pulled, targetBranch: 'main', pr: '125' },
    pull_request_review: { ...pulled, targetBranch: 'main', pr: '126' },
    'comment on a pull request': { ...web, pr: '127', sha: noHead('GitHub Actions') },
    'comment on an issue': { ...web, targetBranch: 'main', sha: '1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e' },
    push: { ...web, targetBranch: 'release/2.4', sha: head },
    tag: { ...web, sha: head },
    schedule: { ...web, targetBranch: 'main', sha: head },
    workflow_run: { ...web, targetBranch: 'main', sha: head },
    merge_group: {
      ...web,
      targetBranch: 'release/2.4',
      pr: noPull('gh-readonly-queue/release/2.4/pr-123-1b2c3d4e'),
      sha: merge,
    },
    'test branch': tested,
    'test branch of a bisection': {
      ...tested,
      pr: noPull(`${branch}-bisection-2`),
      testRun: `${run}-bisection-2`,
    },
    'temporary branch': {
      ...web,
      targetBranch: 'main',
      pr: noPull(`trunk-temp/pr-123/${run}`),
      sha: merge,
    },
    'draft of a test branch': { ...tested, sha: head },
    'enterprise server': { repo: 'github.acme.example:8443/acme/web', targetBranch: 'main', sha: head },
  },
  gitlab: {
    'pull request': { ...pulled, ...platform, pr: '12' },
    'merged result': { ...pulled, ...platform, pr: '12' },
    'merge train': { ...pulled, ...platform, pr: '12' },
    'fork pull request': { ...pulled, ...platform, pr: '12' },
    'external pull request': { repo: 'acme/web', targetBranch: 'main', pr: '123', sha: head },
    push: { ...platform, targetBranch: 'release/2.4', sha: head },
    'test branch': { ...tested, ...platform },
    tag: { ...platform, sha: head },
    'a host without a dot': { targetBranch: 'main', sha: head },
  },
  buildkite: {
    'pull request': pulled,
    'fork pull request': pulled,
    'merged pull request': pulled,
    push: { ...web, targetBranch: 'release/2.4', sha: head },
    'started by hand': { ...web, targetBranch: 'main' },
    tag: { ...web, sha: head },
    'test branch': tested,
  },
  circleci: {
    'pull request': { ...web, pr: '123', sha: head },
    'fork pull request': { ...web, pr: '124', sha: head },
    'several pull requests': { ...web, sha: head },
    push: { ...web, targetBranch: 'main', sha: head },
    tag: { ...web, sha: head },
    'test branch': { ...web, pr: noPull(branch), sha: merge, testRun: run },
  },
  jenkins: {
    'pull request': { ...pulled, sha: noHead('Jenkins') },
    'pull request as it is': pulled,
    'merged pull request': { ...pulled, sha: noHead('Jenkins') },
    'fork pull request': { ...pulled, targetBranch: 'main', pr: '124' },
    'pull request builder': { ...pulled, targetBranch: 'main' },
    'GitLab plugin': { ...platform, targetBranch: 'main', pr: '12', sha: head },
    push: { ...web, targetBranch: 'release/2.4', sha: head },
    'freestyle push': { ...web, targetBranch: 'main', sha: head },
    'test branch': { ...web, pr: noPull(branch), sha: merge, testRun: run },
  },
  azure: {
    'pull request': pulled,
    'fork pull request': pulled,
    'pull request in Azure Repos': { ...pulled, repo: 'dev.azure.com/acme/platform/web' },
    push: { ...web, targetBranch: 'release/2.4', sha: head },
    tag: { ...web, sha: head },
    'test branch': { ...web, pr: noPull(branch), sha: merge, testRun: run },
  },
  bitbucket: {
    'pull request': { ...pulled, repo: 'bitbucket.org/acme/web', pr: '12' },
    push: { repo: 'bitbucket.org/acme/web', targetBranch: 'main', sha: head },
    tag: { repo: 'bitbucket.org/acme/web', sha: head },
    'test branch': { repo: 'bitbucket.org/acme/web', pr: noPull(branch), sha: merge, testRun: run },
  },
}

describe('A recorded job gives its settings', () => {
  test('every recording has its line, and every line its recording', () => {
    const recorded = [...recordings].map(([system, { jobs }]) => [system, Object.keys(jobs).sort()])
    const lines = Object.entries(expected).map(([system, jobs]) => [system, Object.keys(jobs).sort()])
    expect(Object.fromEntries(lines)).toEqual(Object.fromEntries(recorded))
  })

  for (const [system, jobs] of Object.entries(expected))
    test.each(Object.entries(jobs))(`${system}: %s`, async (name, settings) => {
      const { env, files } = jobOf(system, name)
      const { host, started } = worldOf(env, files)
      expect(await settingsOf(host)).toEqual(settings)
      for (const { options } of started) expect(JSON.stringify(options.env)).not.toContain('secret-')
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
    expect(started).toHaveLength(1)
  })

  test('without the head commit, the merge commit is not used', async () => {
    for (const [system, gone] of [
      ['azure', 'SYSTEM_PULLREQUEST_SOURCECOMMITID'],
      ['gitlab', 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'],
      ['buildkite', 'BUILDKITE_PULL_REQUEST_HEAD_COMMIT'],
    ] as const) {
      const name = { azure: 'pull request', gitlab: 'merged result', buildkite: 'merged pull request' }[
        system
      ]
      const { env } = jobOf(system, name)
      const { host } = worldOf({ ...env, [gone]: '' }, {}, answering(2))
      expect((await settingsOf(host)).sha, system).toMatch(/^! .* does not provide the head commit/)
    }
  })
})

describe('A broken or missing event file does not cause a crash', () => {
  const { env } = jobOf('github', 'pull request')
  const path = env.GITHUB_EVENT_PATH ?? ''
  test.each([
    ['missing', {}, path],
    ['empty', { [path]: '' }, path],
    ['cut', { [path]: '{"pull_request":{"number":1' }, path],
    ['a list', { [path]: '[]' }, path],
    ['null', { [path]: 'null' }, path],
    ['of other shapes', { [path]: '{"pull_request":"x","repository":[],"issue":{"pull_request":1}}' }, path],
    ['with a number that is none', { [path]: '{"pull_request":{"number":1e99,"head":{"sha":7}}}' }, path],
    ['a FIFO', {}, '/a/fifo'],
    ['not named', {}, ''],
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
  test.each([
    'acme',
    'acme/web\n::set-env::',
    'acme/we b',
    '$(touch /tmp/x)/web',
    '../..',
    'acme/web"; rm -rf /',
  ])('a repository called %j is refused by its parser, under its variable', async repo => {
    const { host } = worldOf({ ...jobOf('github', 'push').env, GITHUB_REPOSITORY: repo })
    const found = await ciSource(host, tokenless).find('repo')
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

  test('a test run is a UUID at the end of a test branch', async () => {
    const { env } = jobOf('gitlab', 'push')
    for (const [name, value] of [
      [`trunk-merge/pr-1/${run}`, run],
      [`trunk-merge/pr-1/${run.toUpperCase()}`, run.toUpperCase()],
      [`trunk-merge/pr-1/${run}-bisection-a.1`, `${run}-bisection-a.1`],
      [`trunk-merge/pr-1/${run}/x`, undefined],
      [`trunk-merge/pr-1/${run}\n`, undefined],
      [`trunk-merge/${run}`, undefined],
      ['trunk-merge/pr-1/latest', undefined],
      [`x/trunk-merge/pr-1/${run}`, undefined],
      [`trunk-temp/pr-1/${run}`, undefined],
    ] as const) {
      const { host } = worldOf({ ...env, CI_COMMIT_BRANCH: name })
      expect((await ciSource(host, tokenless).find('testRun'))?.value, name).toBe(value)
    }
  })
})

describe('The origin of each value is reported', () => {
  test.each([
    ['github', 'pull request', 'repo', 'GITHUB_REPOSITORY'],
    ['github', 'pull request', 'targetBranch', 'GITHUB_BASE_REF'],
    ['github', 'pull request', 'pr', 'the event file of GitHub Actions'],
    ['github', 'pull request', 'sha', 'the event file of GitHub Actions'],
    ['github', 'test branch', 'testRun', 'GITHUB_REF'],
    ['github', 'push', 'sha', 'GITHUB_SHA'],
    ['buildkite', 'pull request', 'repo', 'BUILDKITE_REPO'],
    ['azure', 'pull request', 'pr', 'SYSTEM_PULLREQUEST_PULLREQUESTNUMBER'],
  ] as const)('%s, %s: %s from %s', async (system, name, setting, origin) => {
    const { env, files } = jobOf(system, name)
    expect((await ciSource(worldOf(env, files).host, tokenless).find(setting))?.origin).toBe(origin)
  })
})

describe('Asking costs little', () => {
  test.each([
    ['nothing set', {}],
    ['CI switched off', { CI: 'false' }],
    ['CI empty', { CI: '' }],
    ['a CI system that is not in the table', { CI: 'true', TRAVIS: 'true', TRAVIS_PULL_REQUEST: '123' }],
    ['variables of a CI system without a job', { GITHUB_TOKEN: 'x', GITHUB_REPOSITORY: 'acme/web' }],
  ])('without a job that is known nothing is found: %s', async (_, env) => {
    const { host, started } = worldOf(env as Variables)
    expect(await settingsOf(host)).toEqual({})
    expect(started).toEqual([])
  })

  test('other settings than the five are not looked for', async () => {
    const { env } = jobOf('github', 'pull request')
    const read = vi.fn()
    const host = { ...worldOf(env).host, files: { read } } as unknown as Host
    const others = (Object.keys(settingDefinitions) as SettingKey[]).filter(
      name => !names.some(one => one === name),
    )
    for (const name of others) expect(ciSource(host, tokenless).find(name)).toBeUndefined()
    expect(read).not.toHaveBeenCalled()
  })

  test('the event file is read once', async () => {
    const { env, files } = jobOf('github', 'pull request')
    const { host } = worldOf(env, files)
    const read = vi.fn(host.files.read)
    await settingsOf({ ...host, files: { ...host.files, read } })
    expect(read).toHaveBeenCalledTimes(1)
  })
})
