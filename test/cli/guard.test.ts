import fc from 'fast-check'
import { describe, expect, test as plainTest } from 'vitest'
import { isQueued, parsePushes } from '../../src/commands/guard.ts'
import { toMergeqError } from '../../src/errors.ts'
import { record, serviceKnowing, where } from '../support/guard.ts'
import { type Answer, mergeq } from '../support/harness.ts'

const [one, two, none] = ['1'.repeat(40), '2'.repeat(40), '0'.repeat(40)]
const line = (branch: string, from = one) => `refs/heads/${branch} ${two} refs/heads/${branch} ${from}\n`
const guard = (input: string, answer = serviceKnowing(), flags = '') =>
  mergeq(`guard ${flags} -- origin https://github.com/acme/web.git`, { env: where, input, answer })

describe('the refs that git passes to its hook', () => {
  const test = plainTest
  test.each([
    ['nothing', '', []],
    ['a branch that moves', line('fix'), ['fix']],
    ['several, over a CRLF', line('fix').replace('\n', '\r\n') + line('a/b'), ['fix', 'a/b']],
    ['a branch by another name there', `HEAD ${two} refs/heads/fix ${one}\n`, ['fix']],
    ['a deletion', `(delete) ${none} refs/heads/fix ${one}\n`, ['fix']],
    ['a deletion of what is not there', `(delete) ${none} refs/heads/fix ${none}\n`, []],
    ['the deletion of a tag', `(delete) ${none} refs/tags/v1 ${one}\n`, []],
    ['a tag', `refs/tags/v1 ${two} refs/tags/v1 ${one}\n`, []],
    ['a branch that is new there', line('fix', none), []],
    ['a branch that stays', line('fix', two), []],
    ['commits of 64 digits', `refs/heads/x ${'a'.repeat(64)} refs/heads/x ${'b'.repeat(64)}\n`, ['x']],
  ])('%s', (_, text, branches) => {
    expect(parsePushes(text).map(({ branch }) => branch)).toEqual(branches)
  })

  test('any other input is a usage error', () => {
    expect(() => parsePushes('fix\n')).toThrow('pre-push hook')
    fc.assert(
      fc.property(fc.string(), text => {
        try {
          parsePushes(text)
        } catch (error) {
          expect(toMergeqError(error).kind).toBe('usage')
        }
      }),
    )
  })

  test.each([
    [{ state: 'NOT_READY', isCurrentlySubmittedToQueue: true }, true],
    [{ state: 'pending' }, true],
    [{ state: 'TESTING' }, true],
    [{ state: 'warming_up', isCurrentlySubmittedToQueue: true }, true],
    [{ state: 'FAILED', isCurrentlySubmittedToQueue: true }, true],
    [{ state: 'PENDING', isCurrentlySubmittedToQueue: false }, false],
    [{ state: 'merged' }, false],
    [{ state: 'FAILED' }, false],
    [{ state: 'CANCELLED', isCurrentlySubmittedToQueue: false }, false],
  ])('%j is in the queue: %s', (found, expected) => {
    expect(isQueued(found)).toBe(expected)
  })
})

describe('the guard', () => {
  const test = plainTest
  test('exit 21: stops the push, says what would be lost, and the ways on', async () => {
    const { code, out, err, requests } = await guard(line('fix'))
    expect({ code, out }).toEqual({ code: 21, out: '' })
    expect(err).toBe(
      [
        'mergeq: The push of fix was blocked: #7 has been TESTING for 4m, position 2 of 2 in the queue for main. Pushing would remove #7 from the queue and lose its position and its test run.',
        '  Wait until #7 has finished: mergeq pr wait 7',
        '  Cancel #7 first, then push: mergeq pr cancel 7',
        '  To push anyway: MERGEQ_GUARD=off git push (or git push --no-verify)',
        '',
      ].join('\n'),
    )
    expect(requests.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      [
        '/v1/getSubmittedPullRequest',
        {
          repo: { host: 'github.com', owner: 'acme', name: 'web' },
          targetBranch: 'main',
          pr: { branch: 'fix' },
        },
      ],
      ['/v1/getQueue', { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'main' }],
    ])
  })

  test('exit 21: stops the deletion of the head branch, and says how to go on', async () => {
    const deletion = `(delete) ${none} refs/heads/fix ${one}\n`
    const { code, out, err, requests } = await guard(deletion)
    expect({ code, out }).toEqual({ code: 21, out: '' })
    expect(err).toBe(
      [
        'mergeq: The deletion of fix was blocked: #7 has been TESTING for 4m, position 2 of 2 in the queue for main. Deleting the branch would remove #7 from the queue and lose its position and its test run.',
        '  Wait until #7 has finished: mergeq pr wait 7',
        '  Cancel #7 first, then push: mergeq pr cancel 7',
        '  To push anyway: MERGEQ_GUARD=off git push (or git push --no-verify)',
        '',
      ].join('\n'),
    )
    expect(JSON.parse(requests[0]?.body ?? '').pr).toEqual({ branch: 'fix' })
    const other = await guard(deletion.replace('fix', 'other'))
    expect({ code: other.code, err: other.err }).toEqual({ code: 0, err: '' })
  })

  test('a queue that cannot be read costs the place alone', async () => {
    const { code, err } = await guard(
      line('fix'),
      serviceKnowing({ ...record, state: 'PENDING' }, { status: 500 }),
    )
    expect(code).toBe(21)
    expect(err).toContain(
      '#7 has been PENDING for 4m, in the queue for main. Pushing would remove #7 from the queue and lose its position.',
    )
  })

  test.each([
    ['a branch without a pull request', line('other'), serviceKnowing(), 1],
    [
      'one that was merged',
      line('fix'),
      serviceKnowing({ ...record, state: 'merged', isCurrentlySubmittedToQueue: false }),
      1,
    ],
    [
      'tags, their deletion and new branches',
      `(delete) ${none} refs/tags/fix ${one}\n${line('fix', none)}`,
      serviceKnowing(),
      0,
    ],
    ['nothing', '', serviceKnowing(), 0],
  ])('allows the push silently: %s', async (_, input, answer, asked) => {
    const { code, out, err, requests } = await guard(input, answer)
    expect({ code, out, err, asked: requests.length }).toEqual({ code: 0, out: '', err: '', asked })
  })

  test('each of several branches is looked up', async () => {
    const { code, requests } = await guard(line('a') + line('b') + line('fix'))
    expect({ code, asked: requests.length }).toEqual({ code: 21, asked: 4 })
  })

  test('a branch that cannot be checked does not hide another that is queued', async () => {
    const known = serviceKnowing()
    const { code, err } = await guard(line('a') + line('fix'), seen =>
      seen.body.includes('"a"') ? { status: 500 } : known(seen),
    )
    expect(code).toBe(21)
    expect(err).toMatch(/^mergeq: The push of fix was blocked: #7 /)
  })

  test('a branch of the same name in a fork is another one, unless the head is the same', async () => {
    const fork = (prSha: string) =>
      mergeq('guard -- fork git@github.com:ada/web.git', {
        env: where,
        input: line('fix'),
        answer: serviceKnowing({ ...record, prSha }),
      })
    expect((await fork('3'.repeat(40))).code).toBe(0)
    expect((await fork(one)).code).toBe(21)
    // To the repository itself the head may only show late.
    expect((await guard(line('fix'), serviceKnowing({ ...record, prSha: '3'.repeat(40) }))).code).toBe(21)
  })

  test.each([
    ['a fault', () => ({ status: 500 }), 7],
    ['a refused token', () => ({ status: 401 }), 4],
    ['a web page', () => ({ status: 404, body: '<html>' }), 5],
    ['no document', () => ({ body: 'OK' }), 15],
  ])(
    'an error allows the push with a warning, unless --fail-closed is set: %s',
    async (_, answer: () => Answer, strict) => {
      const open = await guard(line('fix'), answer)
      expect({ code: open.code, out: open.out, asked: open.requests.length }).toEqual({
        code: 0,
        out: '',
        asked: 1,
      })
      expect(open.err).toMatch(/^mergeq: The queue could not be checked, so the push continues: .*\n$/)
      const closed = await guard(line('fix'), answer, '--fail-closed')
      expect(closed.code).toBe(strict)
      expect(closed.err).toMatch(/^mergeq: The push was blocked because .*\n[\s\S]*MERGEQ_GUARD=off git push/)
    },
  )

  test('nor does it stop for want of settings', async () => {
    for (const [env, message] of [
      [{ MERGEQ_TARGET_BRANCH: 'main' }, 'No repository was given'],
      [{ ...where, MERGEQ_TOKEN: '' }, 'token'],
    ] as const) {
      const { code, err } = await mergeq('guard -- origin x', {
        env,
        input: line('fix'),
        answer: serviceKnowing(),
      })
      expect(code).toBe(0)
      expect(err).toContain(message)
    }
  })

  test('MERGEQ_GUARD=off sends nothing; --dry-run shows the request', async () => {
    const off = await mergeq('guard', {
      env: { ...where, MERGEQ_GUARD: 'off' },
      input: line('fix'),
      answer: serviceKnowing(),
    })
    expect({ code: off.code, err: off.err, asked: off.requests.length }).toEqual({
      code: 0,
      err: '',
      asked: 0,
    })
    const dry = await guard(line('fix'), serviceKnowing(), '--dry-run')
    expect(dry.requests).toEqual([])
    expect(JSON.parse(dry.out)).toMatchObject({
      operation: 'getSubmittedPullRequest',
      body: { pr: { branch: 'fix' } },
    })
  })

  test('on Windows, the hook is installed in its directory', async () => {
    const changes: string[] = []
    const disk = new Map<string, string>()
    const { code, err } = await mergeq('guard --install', {
      platform: 'win32',
      disk,
      onChange: (change, path) => changes.push(`${change} ${path}`),
      spawn: (_, args) => ({
        code: 0,
        out: args.includes('--git-path') ? '.git/hooks/pre-push\n' : 'C:/repo/shop\n',
      }),
    })
    expect({ code, err, changes }).toEqual({
      code: 0,
      err: '',
      changes: [
        'createDirectory C:\\repo\\shop\\.git\\hooks',
        'replace C:\\repo\\shop\\.git\\hooks\\pre-push',
      ],
    })
    expect([...disk.values()].join()).toContain('mergeq guard -- "$@"')
  })

  test('typed by a person it says who runs it', async () => {
    const { code, err } = await mergeq('guard', { env: where, inputTerminal: true, answer: serviceKnowing() })
    expect(code).toBe(2)
    expect(err).toContain('mergeq guard --install')
    expect((await mergeq('guard --install --uninstall')).code).toBe(2)
  })
})
