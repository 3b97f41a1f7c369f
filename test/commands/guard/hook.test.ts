import { describe, expect, test } from 'vitest'
import { isQueuedRecord, parsePushes } from '../../../src/commands/guard/shared/push.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { record, serviceKnowing, where } from '../../support/guard.ts'
import { type Answer, mergeq, openStory, type Seen, type Setting } from '../../support/harness.ts'

const [one, two, none] = ['1'.repeat(40), '2'.repeat(40), '0'.repeat(40)]
const line = (branch: string, from = one) => `refs/heads/${branch} ${two} refs/heads/${branch} ${from}\n`
const deletion = `(delete) ${none} refs/heads/fix ${one}\n`
/** A checkout whose remote has these heads of pull requests; without them it cannot be asked. */
const checkout =
  (heads?: string): NonNullable<Setting['spawn']> =>
  (_, args) => {
    if (args.includes('remote')) return { code: 0, out: 'origin\thttps://github.com/ACME/web.git (fetch)\n' }
    return heads === undefined ? { code: 128, out: '', err: 'fatal: no route' } : { code: 0, out: heads }
  }
const own = 'https://github.com/acme/web.git'
const guard = (input: string, answer = serviceKnowing(), flags = '', spawn = checkout('')) =>
  mergeq(`guard hook ${flags} -- origin ${own}`, { env: where, input, answer, spawn })

describe('the refs that git passes to its hook', () => {
  test.each([
    ['nothing', '', []],
    ['a branch that moves', line('fix'), ['fix']],
    ['several, over a CRLF', line('fix').replace('\n', '\r\n') + line('a/b'), ['fix', 'a/b']],
    ['a branch by another name there', `HEAD ${two} refs/heads/fix ${one}\n`, ['fix']],
    ['a deletion', deletion, ['fix']],
    ['a deletion of what is not there', `(delete) ${none} refs/heads/fix ${none}\n`, []],
    ['the deletion of a tag', `(delete) ${none} refs/tags/v1 ${one}\n`, []],
    ['a tag', `refs/tags/v1 ${two} refs/tags/v1 ${one}\n`, []],
    ['a branch that is new there', line('fix', none), []],
    ['a branch that stays', line('fix', two), []],
    ['commits of 64 digits', `refs/heads/x ${'a'.repeat(64)} refs/heads/x ${'b'.repeat(64)}\n`, ['x']],
  ])('name the branches that move: %s', (_, text, branches) => {
    expect(parsePushes(text).map(({ branch }) => branch)).toEqual(branches)
  })

  test('are a usage error if they are anything else', () => {
    expect(() => parsePushes('fix\n')).toThrow(
      expect.objectContaining({ kind: 'usage', message: expect.stringContaining('pre-push hook') }),
    )
  })
})

test.each([
  [{ state: 'NOT_READY', isCurrentlySubmittedToQueue: true }, true],
  [{ state: 'pending' }, true],
  [{ state: 'warming_up', isCurrentlySubmittedToQueue: true }, true],
  [{ state: 'FAILED', isCurrentlySubmittedToQueue: true }, true],
  [{ state: 'PENDING', isCurrentlySubmittedToQueue: false }, false],
  [{ state: 'merged' }, false],
  [{ state: 'FAILED' }, false],
])('the guard takes %j for queued: %s', (found, expected) => {
  expect(isQueuedRecord(found)).toBe(expected)
})

describe('`guard hook`', () => {
  test('does not wait for what a 429 asks for', async () => {
    const input = line('fix') + line('other')
    const answer = (): Answer => ({ status: 429, headers: { 'retry-after': '2' } })
    const { code, sleeps, requests } = await guard(input, answer)
    expect({ code, sleeps }).toEqual({ code: 0, sleeps: [] })
    expect(requests.length).toBeGreaterThan(0)
  })

  test.each([
    ['push', 'Pushing', 'push and submit it again (it loses its position too)', line('fix')],
    ['deletion', 'Deleting the branch', 'delete the branch', deletion],
  ])(
    'stops the %s of a queued branch with 21, says what would be lost and how to go on',
    async (what, doing, next, input) => {
      const { code, out, err, requests } = await guard(input)
      expect({ code, out }).toEqual({ code: 21, out: '' })
      expect(err).toBe(
        [
          `mergeq: The ${what} of fix was blocked: #7 has been testing for 4m, position 2 of 2 in the queue for main. ${doing} would remove #7 from the queue and lose its position and its test run.`,
          '  Wait until #7 has finished: mergeq pr wait 7',
          `  Cancel #7 first, then ${next}: mergeq pr cancel 7`,
          '  To push anyway: MERGEQ_GUARD=off git push',
          '',
        ].join('\n'),
      )
      const queue = { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'main' }
      expect(requests.map(({ path, body }) => ({ path, body: JSON.parse(body) }))).toEqual([
        { path: '/v1/getQueue', body: queue },
        { path: '/v1/getSubmittedPullRequest', body: { ...queue, pr: { branch: 'fix' } } },
      ])
    },
  )

  test('reads at most 1 MiB of standard input, and says so', async () => {
    const { code, err } = await mergeq('guard hook -R acme/web', { input: new Uint8Array(1024 * 1024 + 1) })
    expect({ code, err }).toEqual({
      code: 0,
      err: 'mergeq: The queue could not be checked, so the push continues: Standard input is too long: at most 1.0 MiB are read.\n',
    })
  })

  test.each([
    ['has been pending for 4m, in the queue for main', 'PENDING', ' and lose its position'],
    ['has been in the queue for main for 4m (not ready yet)', 'NOT_READY', ''],
  ])('names no position in a queue that cannot be read: %s', async (words, state, loss) => {
    const { code, err } = await guard(line('fix'), serviceKnowing({ ...record, state }, { status: 500 }))
    expect(code).toBe(21)
    expect(err).toContain(`#7 ${words}. Pushing would remove #7 from the queue${loss}.\n`)
  })

  const merged = serviceKnowing({ ...record, state: 'merged', isCurrentlySubmittedToQueue: false })
  test.each([
    ['a branch without a pull request', line('other'), serviceKnowing(), 2],
    ['the deletion of another branch', deletion.replace('fix', 'other'), serviceKnowing(), 2],
    ['one that was merged', line('fix'), merged, 2],
    ['tags and new branches', `(delete) ${none} refs/tags/fix ${one}\n${line('fix', none)}`, merged, 0],
  ])('allows the push silently: %s', async (_, input, answer, asked) => {
    const { code, out, err, requests } = await guard(input, answer)
    expect({ code, out, err, asked: requests.length }).toEqual({ code: 0, out: '', err: '', asked })
  })

  describe('of a branch on which a queued pull request is stacked', () => {
    const above = { prNumber: 8, state: 'pending', prBaseBranch: 'cart' }
    const stack = { body: JSON.stringify({ enqueuedPullRequests: [{ prNumber: 5 }, above] }) }
    const answer = serviceKnowing(record, stack)

    test('stops the push with 21', async () => {
      const { code, err, requests } = await guard(line('cart'), answer)
      expect(code).toBe(21)
      expect(err).toContain(
        'mergeq: The push of cart was blocked: #8 is stacked on cart. It is pending, position 2 of 2 in the queue for main. Pushing would remove #8 from the queue and lose its position.\n  Wait until #8 has finished: mergeq pr wait 8\n',
      )
      expect(requests.filter(({ path }) => path.endsWith('/getQueue'))).toHaveLength(1)
    })

    test.each([
      ['the target branch', line('main'), { body: stack.body.replace('cart', 'main') }, own],
      ['another branch', line('other'), stack, own],
      ['a branch of a fork', line('cart'), stack, 'https://github.com/ada/web.git'],
    ])('allows the push of %s', async (_, input, queue, url) => {
      const answer = serviceKnowing(record, queue)
      const setting = { env: where, input, answer, spawn: checkout('') }
      expect(await mergeq(`guard hook -- origin ${url}`, setting)).toMatchObject({ code: 0, err: '' })
    })

    test('goes on with a warning if the queue cannot be read, unless --fail-closed', async () => {
      const broken = serviceKnowing(record, { status: 500 })
      const { code, err } = await guard(line('cart'), broken)
      expect(code).toBe(0)
      expect(err).toMatch(/^mergeq: The queue could not be checked, so the push continues: .*\n$/)
      expect((await guard(line('cart'), broken, '--fail-closed')).code).toBe(7)
    })
  })

  test('finds a queued pull request by the commit that the remote has', async () => {
    const answer = ({ path, body }: Seen): Answer =>
      path.endsWith('/getSubmittedPullRequest') && JSON.parse(body).pr.number === 7
        ? { body: JSON.stringify(record) }
        : { status: 404, body: 'Not Found' }
    const spawn = checkout(`${one}\trefs/pull/6/head\n${one}\trefs/pull/7/head\n`)
    const { code, err } = await guard(line('cart'), answer, '', spawn)
    expect({ code, err }).toEqual({ code: 21, err: expect.stringContaining('push of cart was blocked: #7 ') })
    expect(await guard(line('cart', '3'.repeat(40)), answer, '', spawn)).toMatchObject({ code: 0, err: '' })
  })

  test.each([
    [
      'git ls-remote https://github.com/ACME/web.git, without the settings of the checkout, failed: no route',
      checkout(),
    ],
    [
      'no remote of the checkout belongs to github.com/acme/web',
      () => ({ code: 0, out: 'origin\t/srv/web (fetch)\n' }),
    ],
  ])('allows the push and says that the commit was not looked up: %s', async (reason, spawn) => {
    const { code, err } = await guard(line('cart'), serviceKnowing(), '--fail-closed', spawn)
    expect({ code, err }).toEqual({
      code: 0,
      err: `mergeq: The push of cart was checked by the name of the branch only: ${reason}.\n`,
    })
  })

  test('looks up each of several branches, also after one that cannot be checked', async () => {
    const { code, requests } = await guard(line('a') + line('b') + line('fix'))
    expect({ code, asked: requests.length }).toEqual({ code: 21, asked: 4 })
    const known = serviceKnowing()
    const broken = await guard(line('a') + line('fix'), seen =>
      seen.body.includes('"a"') ? { status: 500 } : known(seen),
    )
    expect(broken.code).toBe(21)
    expect(broken.err).toMatch(/^mergeq: The push of fix was blocked: #7 /)
  })

  describe('of many branches', () => {
    const shaOf = (index: number) => index.toString(16).padStart(40, 'a')
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => line(`b${index}`, shaOf(index))).join('')
    /** The pull requests of the first branches, as git lists them. */
    const headsOf = (count: number) =>
      checkout(
        Array.from({ length: count }, (_, index) => `${shaOf(index)}\trefs/pull/${index}/head\n`).join(''),
      )
    const operationsOf = (requests: readonly Seen[]) => requests.map(({ path }) => path.replace('/v1/', ''))
    const times = (operation: string, count: number) => Array.from({ length: count }, () => operation)
    const several = ({ path, body }: Seen): Answer => {
      if (!path.endsWith('s')) return { status: 404, body: 'Not Found' }
      const prs: readonly { readonly number: number }[] = JSON.parse(body).prs
      return { body: JSON.stringify({ pullRequests: [], notFound: prs.map(({ number }) => number) }) }
    }

    test('reads the queue once, and 50 pull requests with a request', async () => {
      const { code, err, requests } = await guard(many(120), several, '', headsOf(120))
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(operationsOf(requests)).toEqual(['getQueue', ...times('getSubmittedPullRequests', 3)])
    })

    test('finds the one that is in the queue', async () => {
      const other = { ...record, prNumber: 77 }
      const listed = serviceKnowing(record, { body: JSON.stringify({ enqueuedPullRequests: [other] }) })
      const found = await guard(many(120), listed, '', headsOf(120))
      expect(found).toMatchObject({
        code: 21,
        err: expect.stringContaining('The push of b77 was blocked: #77 '),
      })
      const unready = (seen: Seen): Answer =>
        seen.path.endsWith('s') && seen.body.includes('"number":77}')
          ? { body: JSON.stringify({ pullRequests: [{ ...other, state: 'not_ready' }], notFound: [] }) }
          : several(seen)
      expect(await guard(many(120), unready, '', headsOf(120))).toMatchObject({
        code: 21,
        err: expect.stringContaining('The push of b77 was blocked: #77 '),
      })
    })

    test.each<[string, Setting['spawn'], readonly string[]]>([
      ['no commit names', headsOf(0), []],
      ['the service does not tell of several', headsOf(100), ['getSubmittedPullRequests']],
    ])(
      'asks for at most 20 alone where %s, and says how many it did not ask for',
      async (_, spawn, asked) => {
        const answer = (): Answer => ({ status: 404, body: 'Not Found' })
        const { code, err, requests } = await guard(many(100), answer, '', spawn)
        expect(code).toBe(0)
        expect(err).toBe(
          'mergeq: The queue could not be checked, so the push continues: 80 of 100 branches were not asked for.\n',
        )
        expect(operationsOf(requests)).toEqual([
          'getQueue',
          ...asked,
          ...times('getSubmittedPullRequest', 20),
        ])
        expect((await guard(many(100), answer, '--fail-closed', spawn)).code).toBe(7)
      },
    )
  })

  test('allows the push of an equally named branch to a fork, unless the head is the same', async () => {
    const fork = (prSha: string) =>
      mergeq('guard hook -- fork git@github.com:ada/web.git', {
        env: where,
        input: line('fix'),
        answer: serviceKnowing({ ...record, prSha }),
      })
    expect((await fork('3'.repeat(40))).code).toBe(0)
    expect((await fork(one)).code).toBe(21)
    // To the repository itself the head may only show late.
    expect((await guard(line('fix'), serviceKnowing({ ...record, prSha: '3'.repeat(40) }))).code).toBe(21)
  })

  test('looks further than the equally named branch of another fork', async () => {
    const records = [
      { ...record, prSha: '3'.repeat(40) },
      { ...record, prNumber: 9, prSha: one },
    ]
    const { code, err } = await mergeq('guard hook -- fork git@github.com:ada/web.git', {
      env: where,
      input: line('fix'),
      answer: ({ path, body }) =>
        path.endsWith('/getQueue')
          ? { status: 500 }
          : { body: JSON.stringify(records[JSON.parse(body).pr.number === 9 ? 1 : 0]) },
      spawn: checkout(`${one}\trefs/pull/9/head\n`),
    })
    expect({ code, err }).toEqual({ code: 21, err: expect.stringContaining('push of fix was blocked: #9 ') })
  })

  test.each([
    ['a fault', () => ({ status: 500 }), 7],
    ['a refused token', () => ({ status: 401 }), 4],
    ['a web page', () => ({ status: 404, body: '<html>' }), 5],
    ['no document', () => ({ body: 'OK' }), 15],
  ])('allows the push with a warning, unless --fail-closed: %s', async (_, answer: () => Answer, strict) => {
    const { code, out, err, requests } = await guard(line('fix'), answer)
    expect({ code, out, asked: requests.length }).toEqual({ code: 0, out: '', asked: 2 })
    expect(err).toMatch(/^mergeq: The queue could not be checked, so the push continues: .*\n$/)
    const closed = await guard(line('fix'), answer, '--fail-closed')
    expect(closed.code).toBe(strict)
    expect(closed.err).not.toMatch(/no-verify|GUARD=off/)
    expect(closed.err).toMatch(
      /^mergeq: The push was blocked because .*\n[\s\S]*Push again when the queue can be read/,
    )
  })

  test.each([
    [{ MERGEQ_TARGET_BRANCH: 'main' }, 'No repository was given'],
    [{ ...where, MERGEQ_TOKEN: '' }, 'token'],
  ])('allows the push with a warning for want of settings: %j', async (env, message) => {
    const answer = serviceKnowing()
    const { code, err } = await mergeq('guard hook -- origin x', { env, input: line('fix'), answer })
    expect(code).toBe(0)
    expect(err).toContain(message)
  })

  test('sends nothing with MERGEQ_GUARD=off', async () => {
    const { code, err, requests } = await mergeq('guard hook', {
      env: { ...where, MERGEQ_GUARD: 'off' },
      input: line('fix'),
      answer: serviceKnowing(),
    })
    expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
  })

  test('typed by a person says who runs it', async () => {
    const person = { env: where, inputTerminal: true, answer: serviceKnowing() }
    expectUsageError(await mergeq('guard hook', person), 'mergeq guard install')
  })

  test('finds the branch of a sandbox', async () => {
    const story = await openStory({ scenario: 'paused' })
    await story.mergeq('pr submit 7')
    story.clock.now += 5_000
    const stopped = await story.mergeq('guard hook -- origin x', { input: line('show-delivery-date') })
    expect({ code: stopped.code, err: stopped.err }).toMatchObject({
      code: 21,
      err: expect.stringContaining('#7 has been pending'),
    })
  })
})
