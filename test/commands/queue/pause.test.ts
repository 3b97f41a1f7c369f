import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { namesOf } from '../../support/queue-files.ts'

const running = '{"state":"running","enqueuedPullRequests":[]}'
/** Two queues that run; `answer` may answer in the place of one. */
const serve =
  (answer: (seen: Seen) => Answer | undefined = () => undefined) =>
  (seen: Seen): Answer => {
    const named = (repo: string) => `mq_depth_current{repo="${repo}",branch="main"} 1\n`
    if (seen.path.includes('Metrics')) return { body: named('acme/web') + named('acme/api') }
    return answer(seen) ?? { body: seen.path.endsWith('getQueue') ? running : 'OK' }
  }
const pause = (flags: string, setting: Setting = {}) =>
  mergeq(`queue pause --all ${flags}`, { answer: serve(), disk: new Map(), ...setting })
const changesIn = (requests: readonly Seen[]) =>
  namesOf(requests).filter(name => name === 'updateQueue').length

describe('queue pause --all', () => {
  test.each<readonly [flags: string, env: NonNullable<Setting['env']>, query: string]>([
    ['', {}, ''],
    ['-R acme/web', {}, '?repo=acme%2Fweb&repoHost=github.com'],
    ['', { MERGEQ_REPO: 'acme/web' }, '?repo=acme%2Fweb&repoHost=github.com'],
  ])('%s with %j asks for the queues%s, and never for that of the checkout', async (flags, env, query) => {
    const spawn = () => ({ code: 0, out: 'https://github.com/acme/own.git\n' })
    const { code, requests } = await pause(`--yes ${flags}`, { env, spawn })
    expect({ code, path: requests[0]?.path }).toEqual({ code: 0, path: `/v1/getMergeQueueMetrics${query}` })
    expect(namesOf(requests).slice(1).sort()).toEqual(['getQueue', 'getQueue', 'updateQueue', 'updateQueue'])
  })

  test.each<readonly [name: string, api: Answer, code: number, recorded: number]>([
    ['a change that was refused', { status: 403 }, 4, 1],
    ['a change that may have been made', { status: 504 }, 11, 2],
  ])('%s has a row with its error, and does not stop the others', async (_, api, exit, recorded) => {
    const answer = serve(({ path, body }) =>
      path.endsWith('updateQueue') && body.includes('"api"') ? api : undefined,
    )
    const disk = new Map<string, string>()
    const { code, out, err } = await pause('--record s.json --yes --retries 0', { disk, answer })
    expect({ code, file: JSON.parse(disk.get('s.json') ?? '').length }).toEqual({
      code: exit,
      file: recorded,
    })
    expect(out).toMatch(
      /^github.com\/acme\/web\tmain\tchanged\tRUNNING\tPAUSED\tThe queue for main of acme\/web is now paused\.\ngithub.com\/acme\/api\tmain\terror\t\t\t.+\n$/,
    )
    expect(err).toContain('2 queues: 1 changed, 1 error. Queues without metrics are not included.\n')
  })

  test('says once on a terminal what to do after queues failed in the same way', async () => {
    const answer = serve(() => ({ status: 503 }))
    const { err } = await pause('--yes --retries 0 --color never', { terminal: true, answer })
    expect(err.match(/Try again later/g)).toHaveLength(1)
  })

  test.each<readonly [flags: string, setting: Setting, code: number, message: string]>([
    ['', {}, 2, 'standard input is not a terminal.\n  To see first what would be sent, add --dry-run.'],
    ['--no-input', { inputTerminal: true }, 2, ': --no-input is set.'],
    ['', { inputTerminal: true, env: { CI: '1' } }, 2, ': this is a CI job.'],
    [
      '',
      { terminal: true, inputTerminal: true, typed: ['n'] },
      2,
      'This pauses 2 queues: main of acme/web, main of acme/api. Queues without',
    ],
    ['--yes', { answer: () => ({ body: 'up 1\n' }) }, 5, 'No queue has metrics.'],
  ])('%s with %j changes nothing', async (flags, setting, exit, message) => {
    const { code, err, requests } = await pause(flags, setting)
    expect({ code, changes: changesIn(requests) }).toEqual({ code: exit, changes: 0 })
    expect(err).toContain(message)
  })

  test.each([
    [
      'pause --all',
      'not included.\nWithout --record <file>, nothing keeps which queues are paused already.\nContinue?',
    ],
    ['pause --all --record s.json', 'not included. Continue?'],
    [
      'resume --all',
      'not included.\nTo resume only those that an earlier pause --record paused, use --from <file>.\n',
    ],
    [
      'resume --from r.json',
      'mergeq: this is a sandbox; nothing here is real.\nThis restores the states of 0 queues',
    ],
  ])('the prompt of %s', async (words, text) => {
    const { err } = await mergeq(`queue ${words}`, {
      answer: serve(),
      disk: new Map([['r.json', '[]']]),
      env: { MERGEQ_TOKEN: 'sandbox' },
      terminal: true,
      columns: 130,
      inputTerminal: true,
      typed: ['n'],
    })
    expect(err).toContain(text)
  })

  test.each([
    [
      '',
      'To resume all of them, run: mergeq queue resume --all --repo acme/web\n' +
        'To keep which queues were paused before, add --record <file> next time.',
    ],
    ['--record s.json', 'To restore the states from before, run: mergeq queue resume --from s.json'],
  ])('a terminal shows the way back: %s', async (flags, way) => {
    const { err } = await pause(`-R acme/web ${flags} --yes`, { terminal: true })
    expect(err).toMatch(new RegExp(`are not included\\.\n${way}\n$`))
    const { err: log } = await pause(`-R acme/web ${flags} --yes`)
    expect(log).not.toContain('resume')
  })

  test('a dry run on a terminal names the queues, and reads only them', async () => {
    const { code, err, requests } = await pause('--dry-run', { terminal: true, columns: 120 })
    expect({ code, err, names: namesOf(requests) }).toEqual({
      code: 0,
      err: 'This pauses 2 queues: main of acme/web, main of acme/api. Queues without metrics are not included.\n',
      names: ['getMergeQueueMetrics'],
    })
    expect((await pause('--dry-run')).requests).toEqual([])
  })

  test('a terminal shows an error once, in its row', async () => {
    const answer = serve(({ body }) => (body.includes('"api"') ? { status: 403 } : undefined))
    const { out, err } = await pause('--yes', { answer, terminal: true, columns: 200 })
    expect(out).toMatch(/^acme\/api +main .*denied access/m)
    expect(err).not.toContain('denied access')
  })
})
