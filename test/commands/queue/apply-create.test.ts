import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../../src/base/errors.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { bodiesOf, live, namesOf, where } from '../../support/queue-files.ts'

const file = 'settings: {mode: parallel, concurrency: 3, batch: true, requiredStatuses: [ci]}'

/** A service without a queue, until one is created; `answer` may answer to a change, by the number of updates so far. */
function serve(
  answer: (operation: string, update: number, seen: Seen) => Answer | undefined = () => undefined,
) {
  let queue: JsonObject | undefined
  let updates = 0
  return (seen: Seen): Answer => {
    const operation = seen.path.split('/').at(-1) ?? ''
    const { repo: _repo, targetBranch: _branch, ...settings } = JSON.parse(seen.body)
    const instead = answer(operation, operation === 'updateQueue' ? ++updates : updates, seen)
    if (operation === 'createQueue') queue = { ...live, ...settings }
    if (instead !== undefined) return instead
    if (operation === 'updateQueue') queue = { ...queue, ...settings }
    return queue === undefined
      ? { status: 404, body: 'Not Found' }
      : { body: operation === 'getQueue' ? JSON.stringify(queue) : 'OK' }
  }
}
const apply = (flags: string, answer: (seen: Seen) => Answer, more: Setting = {}) =>
  mergeq(`queue apply -f q.yaml --create ${where} ${flags}`, { files: { 'q.yaml': file }, answer, ...more })
const applyAgain = `mergeq queue apply -f q.yaml --yes --repo acme/web --target-branch main`
const resume = 'mergeq queue resume --repo acme/web --target-branch main'

describe('queue apply --create', () => {
  test('creates with mode and concurrency, sets the rest while the queue is paused, then resumes it', async () => {
    const { code, requests } = await apply('--yes', serve())
    expect(code).toBe(0)
    expect(namesOf(requests)).toEqual(['getQueue', 'createQueue', 'updateQueue', 'getQueue', 'updateQueue'])
    expect(bodiesOf(requests, 'createQueue')).toEqual([
      expect.objectContaining({ mode: 'parallel', concurrency: 3 }),
    ])
    const repo = { host: 'github.com', owner: 'acme', name: 'web' }
    expect(bodiesOf(requests, 'updateQueue')).toEqual([
      { repo, targetBranch: 'main', batch: true, requiredStatuses: ['ci'], state: 'PAUSED' },
      { repo, targetBranch: 'main', state: 'RUNNING' },
    ])
  })

  test.each([
    ['settings: {mode: parallel}', '', []],
    ['settings: {batch: true, state: paused}', '--include-state', ['PAUSED']],
    ['settings: {batch: true, state: draining}', '--include-state', ['PAUSED', 'DRAINING']],
    ['settings: {batch: true, state: paused}', '', ['PAUSED', 'RUNNING']],
    ['settings: {batch: true, requiredStatuses: null}', '', ['PAUSED', 'RUNNING']],
  ])('%s %s sets the states %j', async (text, flags, states) => {
    const { code, requests } = await apply(`--yes ${flags}`, serve(), { files: { 'q.yaml': text } })
    const bodies = bodiesOf(requests, 'updateQueue')
    expect({ code, states: bodies.map(({ state }) => state) }).toEqual({ code: 0, states })
    expect(bodies.every(body => !Object.hasOwn(body, 'deleteRequiredStatuses'))).toBe(true)
  })

  const failing = (update: number, failure: Answer) =>
    serve((operation, count) => (operation === 'updateQueue' && count >= update ? failure : undefined))
  const hidden = serve(operation => (operation === 'updateQueue' ? { body: 'OK' } : undefined))

  test.each<
    readonly [how: string, answer: (seen: Seen) => Answer, exit: number, state: string, finish: string]
  >([
    ['is refused its settings', failing(1, { status: 400 }), 20, 'is not known to be paused', applyAgain],
    ['is denied its settings', failing(1, { status: 403 }), 20, 'is not known to be paused', applyAgain],
    ['is not resumed', failing(2, { status: 400 }), 20, 'is paused', resume],
    ['does not show its settings', hidden, 20, 'is paused', `${applyAgain} && ${resume}`],
    [
      'may have its settings',
      failing(1, { status: 504 }),
      11,
      'is not known to be paused',
      `${applyAgain} && ${resume}`,
    ],
    ['may be resumed', failing(2, { status: 504 }), 11, 'is not known to be paused', resume],
  ])('a queue that %s', async (_, answer, exit, state, finish) => {
    const { code, out, err } = await apply('--yes --json --retries 0', answer)
    const { message, hint } = JSON.parse(err.trim().split('\n').at(-1) ?? '').error
    expect({ code, message }).toEqual({
      code: exit,
      message: expect.stringContaining(` The queue for main of acme/web was created and ${state}.`),
    })
    expect(hint.split('\n').at(-1)).toBe(`To finish, run: ${finish}`)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      exit,
      result: 'error',
      delivery: exit === 11 ? 'unknown' : 'confirmed',
    })
  })

  test('the command that finishes has the files, the settings and the state that were typed', async () => {
    const files = { 'q/a.yaml': 'targetBranch: a\nsettings: {batch: true, state: paused}' }
    const line = '--yes --retries 0 -R acme/web --include-state --set "batchingMinSize=2" --set batch=false'
    const { code, err } = await mergeq(`queue apply -f q --create ${line}`, {
      files,
      answer: failing(1, { status: 400 }),
    })
    expect(code).toBe(20)
    expect(err).toContain(
      'To finish, run: mergeq queue apply -f q --include-state --yes --set batchingMinSize=2 --set batch=false --repo acme/web\n',
    )
  })

  test('a signal after the creation keeps its exit code', async () => {
    const stop = new AbortController()
    const answer = serve((operation, count) => {
      if (operation !== 'updateQueue' || count !== 1) return undefined
      stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
      return { status: 503 }
    })
    const { code, err } = await apply('--yes', answer, { signal: stop.signal })
    expect(code).toBe(130)
    expect(err).toContain('The queue for main of acme/web was created and is not known to be paused.')
  })

  test('a creation that is refused is its own error, and nothing else is sent', async () => {
    const answer = serve(operation => (operation === 'createQueue' ? { status: 400, body: 'no' } : undefined))
    const { code, err, requests } = await apply('--yes', answer)
    expect({ code, names: namesOf(requests) }).toEqual({ code: 6, names: ['getQueue', 'createQueue'] })
    expect(err).not.toContain('To finish')
  })
})
