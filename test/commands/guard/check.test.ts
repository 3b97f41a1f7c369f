import { describe, expect, test } from 'vitest'
import { answerGit, type Git, prints } from '../../support/checkout.ts'
import { serviceKnowing, where } from '../../support/guard.ts'
import { mergeq, noon, type Setting } from '../../support/harness.ts'
import { stored } from '../../support/settings-sources.ts'

/** A checkout of the repository in which git says this. */
const checkout =
  (heads: string): NonNullable<Setting['spawn']> =>
  (_, args) =>
    args.includes('remote')
      ? { code: 0, out: 'origin\thttps://github.com/ACME/web.git (fetch)\n' }
      : { code: 0, out: heads }

test('`guard check` asks about the current branch, without a push', async () => {
  const setting = { env: where, inputTerminal: true, answer: serviceKnowing() }
  const run = (current: string) => mergeq('guard check', { ...setting, spawn: checkout(`${current}\n`) })
  const { code, err } = await run('fix')
  expect({ code, err }).toEqual({
    code: 21,
    err: expect.stringMatching(/^mergeq: #7 has been testing for 4m, (?![\s\S]*MERGEQ_GUARD)/),
  })
  expect(await run('other')).toMatchObject({
    code: 0,
    err: 'A push of other removes no pull request from the queue. If one was just submitted: it can take up to 90s to appear.\n',
  })
})

test('a branch that was pushed without -u is known by its commit at each remote', async () => {
  const [fork, origin, head] = ['a', 'b', 'c'].map(digit => digit.repeat(40))
  const git: Git = {
    'symbolic-ref': prints('fix-cart\n'),
    'for-each-ref --format=%(objectname) refs/remotes/*/fix-cart': prints(`${fork}\n${origin}\n`),
    'rev-parse HEAD': prints(`${head}\n`),
    'ls-remote': prints(`${origin}\trefs/pull/7/head\n`),
    'remote -v': prints('origin\thttps://github.com/ACME/web.git (fetch)\n'),
  }
  const spawn: Setting['spawn'] = (_, args) => answerGit(git, args)
  const { code, err } = await mergeq('guard check', { env: where, answer: serviceKnowing(), spawn })
  expect({ code, err }).toEqual({ code: 21, err: expect.stringMatching(/^mergeq: #7 is testing/) })
})

test('git that takes the time of the check is named, and not the service, which was not asked', async () => {
  const clock = { now: noon }
  const spawn: Setting['spawn'] = (_, args, options) => {
    if (!args.includes('ls-remote')) return checkout('other\n')(_, args, options)
    clock.now += 3_000
    return { code: 1, out: '', timedOut: true }
  }
  const { err, requests } = await mergeq('guard check', {
    env: where,
    answer: serviceKnowing(),
    spawn,
    clock,
  })
  expect(err).toContain('git used all the time that a check may take; the queue was not read.')
  expect(requests).toEqual([])
})

describe('`guard check` that cannot tell ends with 0 and says so, and with --fail-closed with 21', () => {
  const noToken = { MERGEQ_TOKEN: '' }
  test.each<[string, Setting, string]>([
    ['a service that does not answer', { answer: () => ({ status: 500 }) }, '(500)'],
    ['a token that is refused', { answer: () => ({ status: 401 }) }, 'token'],
    ['a web page', { answer: () => ({ status: 404, body: '<html>' }) }, ''],
    ['no token', { env: { ...where, ...noToken } }, 'No API token was found.'],
    ['no repository', { env: { MERGEQ_TARGET_BRANCH: 'main' } }, 'No repository was given.'],
    ['no target branch', { env: { MERGEQ_REPO: 'acme/web' } }, 'No target branch was given.'],
    ['neither repository nor token', { env: noToken }, 'No repository was given.'],
    ['no checkout', { spawn: () => ({ code: 128, out: '' }) }, 'no branch is checked out here.'],
    [
      'a remote that cannot be asked',
      { env: { ...where, MERGEQ_REPO: 'acme/api' }, spawn: checkout('other\n') },
      'only the name of the branch other was checked, because no remote of the checkout belongs to github.com/acme/api.',
    ],
  ])('%s', async (_, setting, reason) => {
    const spawn: Setting['spawn'] = (_, args) =>
      args.includes('symbolic-ref') ? { code: 0, out: 'other\n' } : { code: 1, out: '' }
    const run = (flags: string) =>
      mergeq(`guard check ${flags}`, { env: where, answer: serviceKnowing(), spawn, ...setting })
    const { code, out, err } = await run('')
    expect({ code, out }).toEqual({ code: 0, out: '' })
    expect(err).toMatch(/^Not known: /)
    expect(err).toContain(reason)
    const closed = await run('--fail-closed')
    expect({ code: closed.code, out: closed.out }).toEqual({ code: 21, out: '' })
    expect(closed.err).toContain('mergeq: Not known: ')
  })

  test.each<[string, string, Setting]>([
    ['a wrong line', 'guard check --nope', {}],
    ['a wrong repository', 'guard check', { env: { ...where, MERGEQ_REPO: 'acme' } }],
    [
      'a broken settings file',
      'guard check',
      { ...stored('{'), env: { ...where, HOME: '/home/me', MERGEQ_BASE_URL: '' } },
    ],
  ])('but for %s: 2', async (_, line, setting) => {
    const spawn = checkout('other\n')
    expect((await mergeq(line, { env: where, answer: serviceKnowing(), spawn, ...setting })).code).toBe(2)
  })
})
