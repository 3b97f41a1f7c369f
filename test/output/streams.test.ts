import { describe, expect, test } from 'vitest'
// Loaded before its tests: it is shown while a service takes its time.
import '../../src/output/spinner.ts'
import { MergeqError } from '../../src/base/errors.ts'
import { askingCommands, askingFiles, askingLines } from '../support/asking-commands.ts'
import { runAndCheck } from '../support/command-checks.ts'
import { type Answer, mergeq, queueEnv, type Seen } from '../support/harness.ts'
import { slowTest } from '../support/sample.ts'
import type { ServerReply } from '../support/service.ts'

const record = { state: 'TESTING', isCurrentlySubmittedToQueue: true, prNumber: 7, prTitle: 'Fix cart' }
const queueDocument = { state: 'RUNNING', concurrency: 2, enqueuedPullRequests: [] }
const good = ({ path }: Seen): Answer => ({
  body: JSON.stringify(path.endsWith('/getQueue') ? queueDocument : record),
})

test.each(['--version', 'version', '--help', 'pr --help', 'help exit-codes', 'help environment', ''])(
  "'mergeq %s' needs no settings, no home and no network",
  async line => {
    const broken = { '/repo/config.json': '{"profiles":' }
    const wrong = { MERGEQ_BASE_URL: 'no address', MERGEQ_OUTPUT: 'nonsense', MERGEQ_PROFILE: 'none' }
    for (const env of [{ MERGEQ_CONFIG_DIR: '/repo' }, { MERGEQ_TOKEN: '' }, wrong]) {
      const { out, err } = await runAndCheck(line, { code: 0 }, { env, files: broken })
      expect({ err, shown: out.length > 4 }).toEqual({ err: '', shown: true })
    }
  },
)

test('a list that is interrupted between pages is a whole document', async () => {
  const stop = new AbortController()
  const answer = (_: Seen, index: number): Answer | Promise<Answer> => {
    const page = { next_page_token: `more${index}` }
    if (index < 2) return { body: JSON.stringify({ tests: [{ id: `t${index}` }], page }) }
    stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
    return new Promise(() => undefined)
  }
  const due = { code: 130, format: 'json' } as const
  const { out } = await runAndCheck('flaky list --json', due, { answer, signal: stop.signal })
  expect(JSON.parse(out)).toMatchObject({
    tests: [{ id: 't0' }, { id: 't1' }],
    window: { complete: false },
  })
})

test('a list that is interrupted while a page is written is a whole document', async () => {
  const stop = new AbortController()
  const screen: string[] = []
  screen.push = () => {
    stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
    return 0
  }
  const tests = Array.from({ length: 200 }, (_, index) => ({ id: `t${index}` }))
  const answer = () => ({ body: JSON.stringify({ tests, page: { next_page_token: 'more' } }) })
  const due = { code: 130, format: 'json' } as const
  const { out } = await runAndCheck('flaky list --json', due, { answer, signal: stop.signal, screen })
  expect(JSON.parse(out)).toMatchObject({ window: { complete: false } })
})

// It turns in real time.
describe.concurrent('the spinner', () => {
  /** What it writes while a service answers after a while. */
  async function spun(line: string, env: Readonly<Record<string, string>> = {}, screen: string[] = []) {
    const { err } = await mergeq(line, {
      screen,
      redraws: true,
      terminal: true,
      env: { ...queueEnv, TERM: 'xterm', ...env },
      async answer(seen, index) {
        await new Promise(resolve => setTimeout(resolve, 350))
        if (!seen.path.includes('list-failing')) return good(seen)
        const page = { next_page_token: index < 3 ? `${index}` : '' }
        return { body: JSON.stringify({ tests: [{ id: `id-${index}`, name: 'cart' }], page }) }
      },
    })
    return err
  }

  test.each(['pr get 7 8 9', 'pr explain 7'])(
    'is one for the reads of %s, and says for what it waits',
    async line => {
      const err = await spun(line)
      expect(err).toMatch(/Waiting for 127/)
      expect(err).not.toMatch(/concurrent/)
    },
  )

  slowTest('shows the pages of a list so far', async () => {
    expect(await spun('flaky list --json')).toMatch(/3 pages|page 3/)
  })

  slowTest('says how long a missing submission is still waited for', async () => {
    const { err } = await mergeq('pr wait 7 -R acme/web -b main --grace 20s', {
      redraws: true,
      terminal: true,
      env: { TERM: 'xterm' },
      async answer() {
        await new Promise(resolve => setTimeout(resolve, 350))
        return { status: 404 }
      },
    })
    expect(err).toMatch(/#7 not found in the queue\D+\ds\D+1?\ds/)
  })

  test('is cleared before other output', async () => {
    const screen: string[] = []
    await spun('pr wait 7 --json --timeout 5s', {}, screen)
    const at = screen.findIndex(text => text.startsWith('{'))
    expect(screen[at - 1]).toMatch(/^\x1B\[0?K$/)
  })

  test('has no color with NO_COLOR and with --color never', async () => {
    for (const err of await Promise.all([
      spun('queue get', { NO_COLOR: '1' }),
      spun('queue get --color never'),
    ])) {
      expect(err).toMatch(/Waiting for 127/)
      expect(err).not.toMatch(/\x1B\[[\d;]*m/)
    }
  })

  test('is not there with -q and in a CI job', async () => {
    expect(await Promise.all([spun('queue get -q'), spun('queue get', { CI: 'true' })])).toEqual(['', ''])
  })
})

describe('-q with --json', () => {
  /** What warns besides: a clock that is off, bytes that are not UTF-8, a short token, and a variable that is ignored. */
  const headers = { date: 'Mon, 05 Jan 2026 02:00:00 GMT' }
  const body = Buffer.from('{"message":"caf\xe9"}', 'latin1')
  const services: readonly (readonly [does: string, ServerReply])[] = [
    ['refuses', { headers, status: 400, body }],
    ['fails', { headers, status: 500 }],
    ['is another one', { headers, body }],
  ]
  const rows = askingCommands.flatMap(command => services.map(service => [command, ...service] as const))

  test.each(rows)(
    '%s: nothing but error objects on standard error where the service %s',
    async (command, _, answer) => {
      const line = `${command} -q --json ${askingLines[command]}`
      const env = { ...queueEnv, MERGEQ_TOKEN: 'short', NODE_TLS_REJECT_UNAUTHORIZED: '0' }
      const { err } = await mergeq(line, { env, files: askingFiles, input: 'a-token', answer: () => answer })
      const lines = err.split('\n').slice(0, -1)
      expect(lines.map(text => Object.keys(JSON.parse(text)))).toEqual(lines.map(() => ['error']))
    },
  )
})
