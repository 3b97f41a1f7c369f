import { describe, expect, test } from 'vitest'
import { sources } from '../../src/config/sources.ts'
import { checkout } from '../support/checkout.ts'
import { mergeq, type Setting } from '../support/harness.ts'
import { clientOf, nodeHost } from '../support/library-client.ts'
import { mergeSettings, profiles, runningQueue } from '../support/settings-sources.ts'

const web = { origin: 'git@github.com:acme/web.git' }
const api = { origin: 'git@github.com:acme/api.git' }
const inCheckout = (remotes: Readonly<Record<string, string>>, facts: object = {}): Setting => ({
  spawn: checkout({ remotes, ...facts }),
  answer: runningQueue,
})
const stored = (values: Readonly<Record<string, string>>) => profiles({ default: values })
const jobOf = (repo: string): Setting => ({
  env: { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: repo, GITHUB_REF: 'refs/heads/main' },
})

const sentQueue = (requests: readonly { readonly body: string }[]): string | undefined => {
  const [sent] = requests.flatMap(({ body }) => (body === '' ? [] : JSON.parse(body)))
  return sent && `${sent.repo.host}/${sent.repo.owner}/${sent.repo.name} ${sent.targetBranch}`
}

/** Returns the queue that a command line is about, or its error; a change in a dry run sends nothing. */
async function queueOf(line: string, ...settings: readonly Setting[]) {
  const { code, err, requests } = await mergeq(line, settings.reduce(mergeSettings))
  return { code, err, queue: sentQueue(requests) }
}

const change = 'queue pause'
const check = 'queue check'
const read = 'queue get'

describe('a stored repository, where the checkout or the CI job has another one', () => {
  const both = stored({ repo: 'acme/web', 'target-branch': 'dev' })
  const places: readonly (readonly [string, Setting, string])[] = [
    ['checkout', inCheckout(api), 'git remote origin'],
    ['job', { ...jobOf('acme/api'), answer: runningQueue }, 'GITHUB_REPOSITORY'],
  ]

  test.each(places)('a change and a check are refused with both: %s', async (place, setting, origin) => {
    for (const line of [change, check, 'pr submit 7', 'flaky gate --max 0 --org acme']) {
      const { code, err, queue } = await queueOf(line, both, setting)
      expect({ code, queue }).toEqual({ code: 2, queue: undefined })
      expect(err).toContain(
        `The profile default names the repository github.com/acme/web, but this ${place} is one of github.com/acme/api (${origin}).`,
      )
      for (const way of ['-R github.com/acme/api', '-R github.com/acme/web', 'MERGEQ_REPO', '.mergeq.json'])
        expect(err).toContain(way)
    }
  })

  test.each(places)(
    'a read takes that of the %s, with its target branch, and says so once',
    async (place, setting) => {
      const { code, err, queue } = await queueOf(read, both, setting)
      expect({ code, queue }).toEqual({ code: 0, queue: 'github.com/acme/api main' })
      expect(err.match(new RegExp(`but this ${place} is one of github\\.com/acme/api`, 'g'))).toHaveLength(1)
      expect((await queueOf(`${read} -q`, both, setting)).err).toBe('')
    },
  )

  test.each(places)('an option and a variable decide: %s', async (_, setting) => {
    expect((await queueOf(`${change} -R acme/web`, both, setting)).queue).toBe('github.com/acme/web dev')
    const named = { env: { MERGEQ_REPO: 'acme/api', MERGEQ_TARGET_BRANCH: 'main' } }
    expect((await queueOf(change, both, setting, named)).queue).toBe('github.com/acme/api main')
  })

  test('nothing is said where a remote names it, in any case, where none can be read, and at home', async () => {
    const remotes = [
      { ...web, fork: 'git@github.com:me/web.git' },
      { origin: 'https://github.com/Acme/Web' },
      { origin: '/srv/git/web' },
    ]
    for (const each of remotes)
      expect(await queueOf(change, both, inCheckout(each))).toMatchObject({
        code: 0,
        err: '',
        queue: 'github.com/acme/web dev',
      })
    const atHome = inCheckout(api, { root: '/home/me' })
    expect(await queueOf(change, both, atHome)).toMatchObject({ code: 0, queue: 'github.com/acme/web dev' })
  })

  test('the settings of the machine are compared, too', async () => {
    const machine = { text: JSON.stringify({ profiles: { default: { repo: 'acme/web' } } }) }
    const { code, err } = await queueOf(change, { env: { HOME: '/home/me' }, machine }, inCheckout(api))
    expect(code).toBe(2)
    expect(err).toContain('names the repository github.com/acme/web, but this checkout')
  })
})

test('a target branch that is stored alone holds everywhere', async () => {
  const alone = stored({ 'target-branch': 'dev' })
  expect((await queueOf(change, alone, inCheckout(api))).queue).toBe('github.com/acme/api dev')
})

describe('remotes of different repositories', () => {
  const fork = { origin: 'git@github.com:me/web.git', upstream: 'git@github.com:acme/web.git' }
  const named = { env: { MERGEQ_TARGET_BRANCH: 'main' } }

  test('a change names both', async () => {
    for (const remotes of [fork, { one: fork.origin, two: fork.upstream }]) {
      const { code, err, queue } = await queueOf(change, named, inCheckout(remotes))
      expect({ code, queue }).toEqual({ code: 2, queue: undefined })
      expect(err).toContain('github.com/me/web')
      expect(err).toContain('github.com/acme/web')
    }
  })

  test.each([
    [fork, 'upstream'],
    [{ company: web.origin }, 'company'],
    [web, 'origin'],
    [{}, undefined],
  ])('a missing target branch names the remote that is read: %j', async (remotes, remote) => {
    const git = checkout({ remotes })
    const spawn: NonNullable<Setting['spawn']> = (program, args, options) =>
      args.includes('--symbolic-full-name') ? { code: 1, out: '' } : git(program, args, options)
    const { code, err } = await queueOf(read, { env: { MERGEQ_REPO: 'acme/web' } }, { spawn })
    expect({ code, remote: / set-head (\S+) -a$/m.exec(err)?.[1] }).toEqual({ code: 2, remote })
  })

  test.each([
    ['remote.upstream.gh-resolved base\n', 'github.com/acme/web main'],
    ['remote.origin.gh-resolved base\n', 'github.com/me/web main'],
    ['remote.origin.gh-resolved acme/web\n', 'github.com/acme/web main'],
  ])('gh repo set-default decides: %j', async (config, queue) => {
    for (const line of [change, read])
      expect(await queueOf(line, named, inCheckout(fork, { config }))).toMatchObject({
        code: 0,
        err: '',
        queue,
      })
  })

  // gh stores owner and name on the first remote where no remote has the repository, as in a clone of a fork.
  test.each([
    [
      { origin: fork.origin },
      'remote.origin.gh-resolved acme/web\n',
      /set-default names .*acme\/web, .*me\/web/,
    ],
    [fork, 'remote.upstream.gh-resolved other/web\n', /set-default names .*other\/web, .*me\/web.*acme\/web/],
    [
      fork,
      'remote.origin.gh-resolved base\nremote.upstream.gh-resolved base\n',
      /origin .*me\/web.* upstream .*acme\/web/,
    ],
  ])('what gh repo set-default does not decide names both: %j %j', async (remotes, config, problem) => {
    const { code, err, queue } = await queueOf(change, named, inCheckout(remotes, { config }))
    expect({ code, queue }).toEqual({ code: 2, queue: undefined })
    expect(err).toMatch(problem)
    expect((await queueOf(read, named, inCheckout(remotes, { config }))).code).toBe(0)
  })
})

describe('the project file in a CI job', () => {
  const path = '/repo/.mergeq.json'
  const projectFile = (document: object): Setting => ({ files: { [path]: JSON.stringify(document) } })
  /** A job of GitHub for pull request 7, into main. */
  const env = {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'acme/web',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_REF: 'refs/pull/7/merge',
    GITHUB_BASE_REF: 'main',
  }
  const inJob = (document: object, other: Setting = {}) =>
    mergeSettings({ ...projectFile(document), env, answer: runningQueue }, other)
  const otherBranch = { targetBranch: 'release/2.4' }
  const otherRepository = { repo: 'evil/web' }
  const submit = 'pr submit 7'
  const operation = 'api cancelPullRequest -F pr.number=7'

  const differentBase = `mergeq: ${path} names the target branch release/2.4, but the base of this job is main (GITHUB_BASE_REF).\n  Use -b main or -b release/2.4, or set MERGEQ_TARGET_BRANCH.\n`
  const differentRepository = `mergeq: ${path} names the repository github.com/evil/web, but this job is one of github.com/acme/web (GITHUB_REPOSITORY).\n  The file may come from a pull request. Use -R github.com/acme/web or -R github.com/evil/web, or set MERGEQ_REPO.\n`
  test.each([
    [submit, otherBranch, differentBase],
    ['pr cancel', otherBranch, differentBase],
    [change, otherBranch, differentBase],
    [operation, otherBranch, differentBase],
    [submit, otherRepository, differentRepository],
    [check, otherRepository, differentRepository],
    ['flaky gate --max 1 --org acme', otherRepository, differentRepository],
    ['queue diff --with-branch release', otherRepository, differentRepository],
    [operation, otherRepository, differentRepository],
  ])('another base or repository is refused with both: %s %j', async (line, document, problem) => {
    const { code, out, err, requests } = await mergeq(line, inJob(document))
    expect({ code, out, err, requests }).toEqual({ code: 2, out: '', err: problem, requests: [] })
  })

  const takesBase = `Using the target branch main of this job, not release/2.4 of ${path}.\n`
  const takesFile = `Using the repository github.com/evil/web of ${path}; this job is one of github.com/acme/web.\n`
  test.each([
    [read, otherBranch, 'github.com/acme/web main', takesBase],
    [check, otherBranch, 'github.com/acme/web main', takesBase],
    ['pr get', otherBranch, 'github.com/acme/web main', takesBase],
    ['pr get 7 8 9', otherBranch, 'github.com/acme/web main', takesBase],
    [read, otherRepository, 'github.com/evil/web main', takesFile],
    ['pr get 7 8', otherRepository, 'github.com/evil/web main', takesFile],
    ['api getQueue', otherRepository, 'github.com/evil/web main', takesFile],
  ])(
    'a read takes the base of the job and the repository of the file, and says so once: %s %j',
    async (line, document, queue, remark) => {
      const ran = await queueOf(line, inJob(document))
      expect({ queue: ran.queue, remarks: ran.err.split(remark).length - 1 }).toEqual({ queue, remarks: 1 })
    },
  )

  const push = {
    env: { GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/main', GITHUB_BASE_REF: '' },
  }
  const elsewhere = { env: { GITHUB_SERVER_URL: 'https://ghe.acme.example' } }
  test.each<readonly [string, object, Setting, queue: string]>([
    [`${submit} -b release/2.4`, otherBranch, {}, 'github.com/acme/web release/2.4'],
    [submit, otherBranch, { env: { MERGEQ_TARGET_BRANCH: 'next' } }, 'github.com/acme/web next'],
    [submit, otherBranch, push, 'github.com/acme/web release/2.4'],
    [
      `${submit} -R acme/web`,
      otherBranch,
      { env: { CI: '', GITHUB_ACTIONS: '' } },
      'github.com/acme/web release/2.4',
    ],
    [submit, { targetBranch: 'refs/heads/main' }, {}, 'github.com/acme/web main'],
    [`${submit} -R acme/web`, otherRepository, {}, 'github.com/acme/web main'],
    [submit, otherRepository, { env: { MERGEQ_REPO: 'acme/web' } }, 'github.com/acme/web main'],
    ['pr submit https://github.com/acme/web/pull/7', otherRepository, {}, 'github.com/acme/web main'],
    [submit, otherRepository, { env: { MERGEQ_PROJECT_FILE: 'off' } }, 'github.com/acme/web main'],
    [submit, { repo: 'ACME/Web' }, {}, 'github.com/acme/web main'],
    [submit, { repo: 'acme/web' }, elsewhere, 'ghe.acme.example/acme/web main'],
  ])('nothing differs, or something else decides: %s %j %j', async (line, document, other, queue) => {
    expect(await queueOf(line, inJob(document, other))).toMatchObject({ code: 0, queue })
  })

  test('a repository with a host is another one on another host', async () => {
    const setting = inJob({ repo: 'github.com/acme/web' }, elsewhere)
    expect(await queueOf(submit, setting)).toMatchObject({ code: 2, queue: undefined })
  })

  describe('a base that has no queue, as in a stack', () => {
    const stacked = mergeSettings(
      { answer: () => ({ status: 404, body: 'not found' }) },
      { env: { GITHUB_BASE_REF: 'part-1' } },
    )
    test.each<readonly [string, Setting]>([
      ['the project file', inJob({ targetBranch: 'main' }, stacked)],
      ['git', inJob({}, { ...stacked, spawn: checkout() })],
    ])('the error names the branch of %s', async (_, setting) => {
      for (const line of [read, 'pr get 7'])
        expect(await queueOf(line, setting)).toMatchObject({
          code: 5,
          err: expect.stringContaining(
            'acme/web has no queue for part-1.\n  The base of this job is part-1. Use -b main, or set MERGEQ_TARGET_BRANCH.\n',
          ),
        })
    })

    test.each<readonly [string, Setting, string]>([
      ['no other branch is known', inJob({}, stacked), read],
      ['the branch was typed', inJob({ targetBranch: 'main' }, stacked), `${read} -b part-1`],
    ])('not if %s', async (_, setting, line) => {
      expect((await queueOf(line, setting)).err).not.toContain('The base of this job')
    })
  })

  test('its output is ignored', async () => {
    const document = { output: 'json' }
    expect((await mergeq('config get retries', inJob(document))).out).toBe('3\n')
    expect((await mergeq('config get retries', projectFile(document))).out).toMatch(/^\{/)
  })

  test('the library refuses a change as the command line does, and says what a read takes', async () => {
    const document = { ...otherBranch, ...otherRepository }
    const files = {
      ...nodeHost.files,
      exists: async (name: string) => name === path,
      read: async (name: string) => (name === path ? JSON.stringify(document) : undefined),
    }
    const host = { ...nodeHost, cwd: '/repo', env: { HOME: '/nowhere', ...env }, files }
    // Without values of its own, the client looks for them.
    const unset = { repo: undefined, targetBranch: undefined } as object
    const notices: string[] = []
    const onNotice = (text: string) => void notices.push(text)
    const { client, requests } = await clientOf(runningQueue, { ...unset, onNotice }, host)
    await expect(client.cancelPullRequest({ pr: 7 })).rejects.toMatchObject({
      kind: 'usage',
      hint: expect.stringContaining("repo: 'github.com/acme/web' or repo: 'github.com/evil/web'"),
    })
    await expect(client.cancelPullRequest({ pr: 7, repo: 'acme/web' })).rejects.toMatchObject({
      kind: 'usage',
      hint: "Use targetBranch: 'main' or targetBranch: 'release/2.4', or set MERGEQ_TARGET_BRANCH.",
    })
    expect(requests).toEqual([])
    await client.getQueue()
    expect(sentQueue(requests)).toBe('github.com/evil/web main')
    expect(notices).toHaveLength(2)
  })
})

test('the table has every source once, and each exception belongs to a source that gives something', () => {
  expect(sources.map(({ name }) => name)).toEqual([
    'option',
    'environment',
    'project file',
    'profile',
    'CI job',
    'git',
    'default',
  ])
  for (const { repo, except } of sources) expect(repo === undefined ? except : []).toEqual([])
})
