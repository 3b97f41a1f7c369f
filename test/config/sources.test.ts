import { describe, expect, test } from 'vitest'
import { sources } from '../../src/config/sources.ts'
import { checkout } from '../support/checkout.ts'
import { mergeq, type Setting } from '../support/harness.ts'
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

/** Returns the queue that a command line is about, or its error; a change in a dry run sends nothing. */
async function queueOf(line: string, ...settings: readonly Setting[]) {
  const { code, err, requests } = await mergeq(line, settings.reduce(mergeSettings))
  const [sent] = requests.flatMap(({ body }) => (body === '' ? [] : JSON.parse(body)))
  return {
    code,
    err,
    queue: sent && `${sent.repo.host}/${sent.repo.owner}/${sent.repo.name} ${sent.targetBranch}`,
  }
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

test('the table has every source once, and each exception belongs to a source that gives something', () => {
  expect(sources.map(({ name }) => name)).toEqual([
    ...['option', 'environment', 'project file', 'profile', 'CI job', 'git', 'default'],
  ])
  for (const { repo, except } of sources) expect(repo === undefined ? except : []).toEqual([])
})
