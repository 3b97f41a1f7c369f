import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, openStory, type Script, type Setting } from '../../support/harness.ts'
import { type Course, documentsIn, runWithHistory } from '../../support/pr-wait.ts'

const down: Answer = { status: 503 }
type Fault = (second: number, isSubmission: boolean) => Answer | undefined

/** Runs `pr submit 7 --wait` while requests fail, and returns how it ends. */
async function submitAndWait(fault: Fault, course: Course | string, flags = '', setting: Setting = {}) {
  const { code, out, operations } = await runWithHistory(
    `pr submit 7 --wait --interval 10s --json ${flags}`,
    {
      pulls: { 7: course },
      fault: (second, operation) => fault(second, operation === 'submitPullRequest'),
      setting,
    },
  )
  const [{ outcome, submitted, elapsedSeconds } = {}] = documentsIn(out)
  const count = (name: string) => operations.filter(operation => operation === name).length
  return { code, outcome, submitted, elapsedSeconds, submissions: count('submitPullRequest') }
}

/** The service does not answer from a second on, until another one. */
const downFrom =
  (from: number, until = Number.POSITIVE_INFINITY): Fault =>
  second =>
    second > from && second < until ? down : undefined
/** Nor does it answer a submission, which it may have taken. */
const losing =
  (fault: Fault): Fault =>
  (second, isSubmission) =>
    isSubmission ? down : fault(second, isSubmission)
const limited: Fault = (second, isSubmission) => (isSubmission && second < 95 ? { status: 429 } : undefined)

describe('`pr submit --wait` in an outage', () => {
  const undated: Course = [[5, 'CANCELLED', { stateChangedAt: 'unknown' }]]
  test.each<[string, Fault, Course | string, string, number, string, boolean | null, number, number]>([
    ['that it begins in', downFrom(-1, 600), '605 TESTING, 620 MERGED', '', 0, 'merged', true, 620, 1],
    ['of submissions alone (429)', limited, '105 TESTING, 120 MERGED', '', 0, 'merged', true, 120, 11],
    ['without an end', downFrom(-1), '', '', 7, 'error', false, 1_800, 0],
    ['longer than --timeout', downFrom(-1), '', '--timeout 1m', 124, 'error', false, 60, 0],
    ['with --retries 0', downFrom(-1), '', '--retries 0', 7, 'error', false, 0, 0],
    ['after the submission', downFrom(10), 'TESTING', '', 124, 'timed-out', true, 1_820, 1],
    ['lost response: made', losing(downFrom(0, 300)), '5 TESTING, 400 MERGED', '', 0, 'merged', true, 406, 1],
    ['lost response: not made', losing(downFrom(0, 300)), '-9 FAILED', '', 7, 'error', false, 396, 1],
    ['lost response, no end', losing(downFrom(0)), '-9 FAILED', '', 11, 'error', null, 1_816, 1],
    [
      'lost response: cancelled',
      losing(downFrom(0, 8)),
      '2 CANCELLED',
      '--grace 5s',
      10,
      'cancelled',
      true,
      16,
      1,
    ],
    ['lost response: undated end', losing(downFrom(0, 60)), undated, '--grace 5s', 11, 'error', null, 81, 1],
    ['lost response and replay', losing(() => undefined), '-9 FAILED', '', 7, 'error', false, 12, 2],
  ])('%s', async (_, fault, course, flags, code, outcome, submitted, elapsedSeconds, submissions) => {
    const ended = { code, outcome, submitted, elapsedSeconds, submissions }
    expect(await submitAndWait(fault, course, flags)).toEqual(ended)
  })
})

const head = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
const other = 'b'.repeat(40)
const queued = (prSha: string, at = 0) => [at, 'TESTING', { prSha }] as const
const ended = (prSha: string) => [-60, 'FAILED', { prSha }] as const

/** The checkout of acme/web, whose remote knows the head of the pull request; undefined is no checkout. */
const checkout = (head: string | undefined): Setting => ({
  spawn(_, args) {
    if (head === undefined) return { code: 128, out: '', err: 'fatal: not a git repository' }
    if (args.includes('-v')) return { code: 0, out: 'origin\thttps://github.com/acme/web.git (fetch)\n' }
    return args.includes('refs/pull/7/head')
      ? { code: 0, out: `${head}\trefs/pull/7/head\n` }
      : { code: 1, out: '' }
  },
})

describe('--match-head is checked before anything is sent', () => {
  test.each<[string, Course, string | undefined, number, number]>([
    ['the head of a record that is submitted', [queued(head)], undefined, 0, 1],
    ['another head of a record that is submitted', [queued(other)], undefined, 14, 0],
    ['another head at the remote, which an old record does not have', [queued(head)], other, 14, 0],
    ['the head at the remote of what is not submitted', [ended(other)], head, 0, 1],
    ['another head at the remote of what is not submitted', [ended(head)], other, 14, 0],
    ['no head', [ended(head)], undefined, 2, 0],
    ['a record that has only a part of its head', [queued(head.slice(0, 7))], undefined, 2, 0],
  ])('%s', async (_, course, atRemote, exit, submissions) => {
    for (const flags of ['', ' --wait --timeout 1s']) {
      const line = `pr submit 7 --match-head ${head}${flags}`
      const { code, operations } = await runWithHistory(line, {
        pulls: { 7: course },
        setting: checkout(atRemote),
      })
      const sent = operations.filter(operation => operation === 'submitPullRequest')
      expect({ code, sent: sent.length }).toEqual({ code: exit || (flags && 124) || 0, sent: submissions })
    }
  })

  test('the remote knows a head that an old record does not have', async () => {
    const { code, operations } = await runWithHistory(`pr submit 7 --match-head ${head}`, {
      pulls: { 7: [queued(other)] },
      setting: checkout(head),
    })
    expect({ code, operations }).toEqual({ code: 0, operations: ['submitPullRequest'] })
  })

  test.each<[string, Course, Answer | undefined, number, RegExp, number?]>([
    [
      'is cancelled',
      [],
      undefined,
      1,
      /moved: expected 4f2a9c1, found bbbbbbb\. Its submission was cancelled\.$/,
    ],
    [
      'is not, if the service refuses',
      [],
      { status: 422 },
      1,
      /The head of #7 moved, but its submission may still be in the queue: /,
      11,
    ],
    ['of somebody else is not', [queued(head, -9)], undefined, 0, /expected 4f2a9c1, found bbbbbbb$/],
  ])(
    'a submission whose head moves during the wait %s',
    async (_, before, refusal, cancels, reason, exit = 14) => {
      const setting = checkout(head)
      const course = [...before, queued(head, 5), queued(other, 20)]
      const { code, out, operations } = await runWithHistory(
        `pr submit 7 --wait --match-head ${head} --json --interval 5s`,
        {
          pulls: { 7: course },
          fault: (_, operation) => (operation === 'cancelPullRequest' ? refusal : undefined),
          setting,
        },
      )
      const sent = operations.filter(operation => operation === 'cancelPullRequest')
      expect({ code, results: documentsIn(out), sent: sent.length }).toMatchObject({
        code: exit,
        results: [
          {
            outcome: exit === 14 ? 'stale' : 'error',
            submitted: true,
            reason: expect.stringMatching(reason),
          },
        ],
        sent: cancels,
      })
    },
  )
})

test.each([403, 404, 503])('a submission succeeds although its queue cannot be read (%i)', async status => {
  const answer: Script = ({ path }) => (path.endsWith('/submitPullRequest') ? { body: 'OK' } : { status })
  const { code, out, err } = await mergeq('pr submit 7 -R acme/web -b main', { answer, terminal: true })
  expect({ code, out }).toEqual({ code: 0, out: 'Submitted #7 to the queue for main of acme/web.\n' })
  expect(err).toContain('For the result, run:')
})

test('a pull request that is merged already is what --wait wants', async () => {
  const story = await openStory()
  await story.mergeq('pr submit 7 --wait --interval 1s')
  const { code, out } = await story.mergeq('pr submit 7 --wait --json')
  const [result] = documentsIn(out)
  expect({ code, result }).toMatchObject({
    code: 0,
    result: { outcome: 'merged', submitted: false, reason: '#7 is already merged' },
  })
  expect((await story.mergeq('pr submit 7')).code).toBe(6)
  // It merged between the reading and the submission.
  let reads = 0
  const late = await runWithHistory('pr submit 7 --wait --json', {
    pulls: { 7: 'MERGED' },
    fault(_, operation) {
      if (operation === 'submitPullRequest') return { status: 400 }
      return reads++ === 0 ? { status: 404 } : undefined
    },
  })
  expect({ code: late.code, results: documentsIn(late.out) }).toMatchObject({
    code: 0,
    results: [{ outcome: 'merged', submitted: false }],
  })
})

test.each([
  ['merged, as its record says', { state: 'MERGED' }, 'no', 'is already merged'],
  ['closed, as the refusal says', undefined, 'Pull request is closed', 'is closed'],
  [
    'closed, as its timeline says',
    { state: 'CANCELLED', timeline: [{ state: 'cancelled', reason: 'pr_closed' }] },
    'no',
    'is closed',
  ],
  ['refused for another reason', { state: 'FAILED' }, 'too many labels', 'was not submitted'],
])('a submission of one that is %s', async (_, record, words, says) => {
  const answer: Script = ({ path }) => {
    if (path.endsWith('/submitPullRequest')) return { status: 400, body: JSON.stringify({ error: words }) }
    return record === undefined
      ? { status: 404, body: 'Not Found' }
      : { body: JSON.stringify({ prNumber: 7, isCurrentlySubmittedToQueue: false, ...record }) }
  }
  for (const format of ['', '--json']) {
    const { code, err } = await mergeq(`pr submit 7 -R acme/web -b main ${format}`, { answer })
    expect({ code, err }).toEqual({ code: 6, err: expect.stringContaining(`#7 ${says}`) })
    expect(err).not.toContain('Fix the request')
    expect(err).toContain('Nothing was changed.')
  }
})

test('with --wait says what it changed of a pull request that was queued already, also on a pipe', async () => {
  const queued: Course = [
    [-60, 'PENDING', { priorityName: 'medium', priorityValue: 100, noBatch: false }],
    [60, 'MERGED'],
  ]
  const run = (flags: string) =>
    runWithHistory(`pr submit 7 --wait --interval 2s ${flags}`, { pulls: { 7: queued } })
  expect((await run('--priority high --no-batch')).err).toContain(
    '#7 was already queued for main of acme/web; priority medium -> high; now tested alone.\n',
  )
  expect((await run('')).err).toContain('#7 was already queued for main of acme/web.\n')
})

describe('a submission that the service refuses because the pull request is in the queue already (409)', () => {
  const queued: Course = [[-60, 'TESTING', { priorityName: 'medium', priorityValue: 100, noBatch: false }]]
  const refuse = (_: number, operation: string) =>
    operation === 'submitPullRequest' ? { status: 409, body: 'already queued' } : undefined
  const run = (flags: string, course = queued) =>
    runWithHistory(`pr submit 7 ${flags}`, { pulls: { 7: course }, fault: refuse })
  const receipt = { operation: 'submitPullRequest', repo: 'github.com/acme/web', targetBranch: 'main', pr: 7 }

  test.each(['', '--priority medium', '--priority 100', '--priority MEDIUM'])(
    'as it was sent: %s',
    async flags => {
      const json = await run(`${flags} --json`)
      expect({ code: json.code, receipts: documentsIn(json.out) }).toEqual({
        code: 0,
        receipts: [
          { ...receipt, ok: true, delivery: 'confirmed-by-read', submitted: false, wasQueued: true },
        ],
      })
      const row = await run(flags)
      expect(row.out).toBe('7\ttrue\tconfirmed-by-read\t#7 was already queued for main of acme/web.\n')
    },
  )

  test.each([
    ['--priority high', 'priority medium'],
    ['--no-batch', 'batching'],
  ])('with other values: %s', async (flags, values) => {
    const { code, out, err } = await run(`${flags} --json`)
    const message = `#7 is queued already with ${values}; the service refuses to change it.`
    expect({ code, receipts: documentsIn(out) }).toEqual({
      code: 6,
      receipts: [{ ...receipt, ok: false, delivery: 'not-applied', submitted: false, exit: 6, message }],
    })
    expect(err).toContain('mergeq pr get 7')
  })

  test('that it is not in the queue, or that nothing is read back, leaves 6', async () => {
    expect((await run('--json', [[-60, 'FAILED']])).code).toBe(6)
    const once = await run('--retries 0 --json')
    expect({ code: once.code, operations: once.operations }).toEqual({
      code: 6,
      operations: ['submitPullRequest'],
    })
  })

  test('--wait goes on', async () => {
    const course: Course = [...queued, [20, 'MERGED']]
    const { code, out } = await run('--wait --json --interval 5s', course)
    expect({ code, results: documentsIn(out) }).toMatchObject({
      code: 0,
      results: [{ outcome: 'merged', submitted: false }],
    })
  })
})

describe('a submission whose base is another branch', () => {
  const record = (base: string | undefined, doesBaseBranchMatch: boolean) => ({
    prNumber: 7,
    state: 'not_ready',
    stateChangedAt: '2026-01-05T12:00:00.000Z',
    isCurrentlySubmittedToQueue: true,
    prBaseBranch: base,
    readiness: { doesBaseBranchMatch },
  })
  const stacked = '#7 is stacked on feature-1: the pull requests below it are tested and merged with it.'

  test.each<[string, Setting, string | undefined, boolean, string | undefined]>([
    ['7', { terminal: true }, 'release/2.4', false, 'The base of #7 is release/2.4: -b release/2.4'],
    ['7 --wait --timeout 5s', {}, 'release/2.4', false, 'The base of #7 is release/2.4: -b release/2.4'],
    ['7', { terminal: true }, '$(id)', false, 'The base of #7 is $(id) '],
    ['7', { terminal: true }, 'feature-1', true, stacked],
    ['7 --wait --timeout 5s', {}, 'feature-1', true, stacked],
    ['7', { terminal: true }, 'main', true, undefined],
    ['7', { terminal: true }, undefined, false, undefined],
  ])('is told at once: pr submit %s with %j, %s (%s)', async (words, setting, base, matches, expected) => {
    const answer: Script = ({ path }) =>
      path.endsWith('/submitPullRequest') ? { body: 'OK' } : { body: JSON.stringify(record(base, matches)) }
    const { err } = await mergeq(`pr submit ${words} -R acme/web -b main`, { ...setting, answer })
    const told = err.replaceAll(/\u001b\[\d*m/g, '').replaceAll(/\s+/g, ' ')
    if (expected === undefined) expect(told).toMatch(/^For the result, run: /)
    else expect(told).toContain(expected)
  })

  test('is in the receipt where --match-head read the record', async () => {
    const head = '4f2a9c1e'.repeat(5)
    const send = async (base: string) => {
      const body = JSON.stringify({ ...record(base, true), prSha: head })
      const answer: Script = ({ path }) => (path.endsWith('/submitPullRequest') ? { body: 'OK' } : { body })
      const line = `pr submit 7 -R acme/web -b main --match-head ${head} --json`
      const { out, err } = await mergeq(line, { answer })
      return { stacked: JSON.parse(out).stacked, isTold: err.includes(stacked) }
    }
    expect(await send('feature-1')).toEqual({ stacked: true, isTold: true })
    expect(await send('main')).toEqual({ stacked: undefined, isTold: false })
  })
})

test.each<[string, Course, boolean | undefined]>([
  ['--wait', [queued(head, -60)], true],
  ['--wait', [ended(head)], false],
  [`--match-head ${head}`, [queued(head, -60)], true],
  // Nothing is read before.
  ['', [queued(head, -60)], undefined],
])('the JSON says whether it was queued where a record was read before: %s', async (flags, before, was) => {
  const pulls = { 7: [...before, [5, 'MERGED', { prSha: head }] as const] }
  const { out } = await runWithHistory(`pr submit 7 ${flags} --json`, { pulls })
  const [result] = documentsIn(out)
  expect([result?.submitted, result?.wasQueued]).toEqual([true, was])
})
