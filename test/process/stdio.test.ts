import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  createReadStream,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { checkGeneralRules, type ExpectedResult } from '../support/command-checks.ts'
import { hostileText, testId } from '../support/hostile-texts.ts'
import { testWith } from '../support/programs.ts'
import {
  type Answer,
  type ReceivedRequest,
  type ServerReply,
  startRawServer,
  startTestServer,
  type TestServer,
} from '../support/service.ts'
import { openTestFolder, type RunOptions, type Signal } from '../support/test-folder.ts'
import { openTmuxScreen } from '../support/tmux-screen.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())
const serve = async (answer: (asked: ReceivedRequest, index: number) => ServerReply): Promise<TestServer> =>
  kept(await startTestServer({ answer }))

const on = (base: string, line: string) => [...line.split(' '), '--base-url', base]

async function run(words: readonly string[], promised: ExpectedResult, options: RunOptions = {}) {
  const ran = await home.run(words, options)
  checkGeneralRules(ran, promised)
  return ran
}

/** Failing tests as the service lists them; `next` is the token of the page after them. */
const page = (tests: readonly object[], next = ''): Answer => ({
  body: JSON.stringify({ tests, page: { total_rows: 1, next_page_token: next } }),
})
const someTests = (number: number, from = 0) =>
  Array.from({ length: number }, (_, index) => ({
    id: `id-${from + index}`,
    name: `test ${from + index} ${'x'.repeat(400)}`,
    status: { value: 'broken' },
    failure_rate_last_7d: 0.5,
  }))

/** 2,400 tests on three pages: over 1 MB in every format. */
const pages = 3
const largeList = ({ body }: ReceivedRequest): ServerReply => {
  const index = Number(JSON.parse(body).page_query.page_token || '0')
  return page(someTests(800, index * 800), index + 1 < pages ? String(index + 1) : '')
}
const list = (more = '') => `flaky list -q ${more}`.trim()

const record = { state: 'TESTING', isCurrentlySubmittedToQueue: true, prNumber: 7, prTitle: 'Fix cart' }
const queueDocument = { state: 'RUNNING', concurrency: 2, enqueuedPullRequests: [] }
const good = ({ path }: ReceivedRequest): ServerReply => {
  if (path.endsWith('/getQueue')) return { body: JSON.stringify(queueDocument) }
  if (path.endsWith('/getSubmittedPullRequest')) return { body: JSON.stringify(record) }
  return { body: 'OK' }
}
/** A first answer that is good, and then none of them. */
const thenMissing = (asked: ReceivedRequest, index: number): ServerReply =>
  index === 0 ? good(asked) : { status: 404 }

/** The same answer, so many milliseconds later. */
const slowly =
  (after: number, answer: (asked: ReceivedRequest, index: number) => ServerReply) =>
  (asked: ReceivedRequest, index: number): ServerReply => {
    const answered = answer(asked, index)
    return typeof answered === 'string' ? answered : { ...answered, delay: after }
  }

describe('readers of standard output', () => {
  test('every byte arrives through a slow pipe that does not block', async () => {
    const service = await serve(largeList)
    const fifo = home.path('fifo')
    execFileSync('mkfifo', [fifo])
    const reading = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK)
    const writing = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK)
    const running = home.start(on(service.baseUrl(), list('--json')), { stdout: writing })
    closeSync(writing)
    await service.waitForRequests(1)
    await pause(300)
    const read = openSync(fifo, constants.O_RDONLY)
    closeSync(reading)
    const out = await text(createReadStream('', { fd: read }))
    expect((await running.done).code).toBe(0)
    expect(JSON.parse(out).tests).toHaveLength(2400)
  })

  /** Runs with a reader that leaves; the last line of standard error is the code that mergeq ended with. */
  async function into(reader: string, words: readonly string[], options: RunOptions = {}) {
    const shell = `{ "$@"; echo "code $?" >&2; } | ${reader}`
    const ran = await home.run(words, { ...options, shell })
    const [, said = '', code] = /^([\s\S]*)code (\d+)\n$/.exec(ran.err) ?? expect.fail(ran.err)
    return { code: Number(code), out: ran.out, err: said }
  }

  test('a reader that closes the pipe after a line ends the command silently', async () => {
    const service = await serve(largeList)
    const { code, err, out } = await into('head -n 1', on(service.baseUrl(), list('--json')))
    expect({ code, err, lines: out.split('\n').length }).toEqual({ code: 0, err: '', lines: 2 })
  })

  test('--version into a reader that was never there ends quietly', async () => {
    const { code, err } = await into('{ exec <&-; sleep 0.3; }', ['--version'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  test('a failure keeps its code and its message after the reader closed the pipe', async () => {
    const service = await serve(() => ({ status: 404 }))
    const { code, err, out } = await into('true', on(service.baseUrl(), 'queue get'))
    checkGeneralRules({ code, out, err }, { code: 5, names: ['getQueue'] })
  })

  test('changes continue after the reader closed the pipe', async () => {
    const service = await serve(good)
    const { code, err } = await into('head -n 1', on(service.baseUrl(), 'pr submit 7 8 9 --json'))
    expect({ code, err, sent: service.requests.length }).toEqual({ code: 0, err: '', sent: 3 })
  })

  test('a list stops asking for pages once its reader has left', async () => {
    const service = await serve(({ body }) => {
      const index = Number(JSON.parse(body).page_query.page_token || '0')
      // A busy machine lets the reader leave late.
      const delay = index < 20 ? 0 : 10
      return { ...page(someTests(50, index * 50), index < 400 ? String(index + 1) : ''), delay }
    })
    const { code, err } = await into('head -n 1', on(service.baseUrl(), list('-o ndjson')))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(service.requests.length).toBeLessThan(200)
  })

  test.each(['>&-', '2>&-', '<&- >&- 2>&-', '2>/dev/full'])(
    'with streams that are closed or cannot be written (%s) it ends with the code it would have had',
    async redirection => {
      const service = await serve(thenMissing)
      const options = { shell: `"$@" ${redirection}` }
      for (const code of [0, 5]) {
        const due = { code, format: 'json', stderrUnread: true } as const
        await run(on(service.baseUrl(), 'queue get -v --json'), due, options)
      }
      // After a 404 the queues are read once.
      expect(service.requests.filter(({ path }) => path.endsWith('/getQueue'))).toHaveLength(2)
    },
  )

  test.each(['queue get --json', '--help'])('%s onto a full disk is reported, with 16', async line => {
    const service = await serve(good)
    const format = line.includes('--json') ? 'json' : 'tsv'
    const options = { shell: '"$@" >/dev/full' }
    const { err } = await run(on(service.baseUrl(), line), { code: 16, format }, options)
    expect(err).toMatch(/output could not be written/)
  })

  test('a change whose receipt cannot be written is sent once, and the code says 16', async () => {
    const service = await serve(good)
    const { code } = await home.run(on(service.baseUrl(), 'pr submit 7 --json'), { shell: '"$@" >/dev/full' })
    expect({ code, sent: service.requests.length }).toEqual({ code: 16, sent: 1 })
  })
})

/** A promise of the product is 1 s; a busy machine may take longer, and without it a request lasts 30 s. */
const soon = 8_000

describe('a terminal', () => {
  const silent = () => serve(() => 'silence')

  testWith('tmux')(
    'Ctrl-C during a read ends it at once, the line cleared and the cursor there',
    async () => {
      const service = await silent()
      const screen = kept(openTmuxScreen(home, on(service.baseUrl(), 'queue get')))
      await screen.waitForLine(new RegExp(`Waiting for ${service.host.replaceAll('.', '\\.')}`))
      const began = Date.now()
      screen.press('C-c')
      await screen.waitForLine(/^code 130$/)
      expect(Date.now() - began).toBeLessThan(soon)
      expect(screen.lines()).toEqual(['mergeq: stopped by SIGINT.', 'code 130'])
      expect(['cursor_flag', 'alternate_on'].map(screen.variable)).toEqual(['1', '0'])
      screen.close()
    },
  )

  testWith('tmux')('a repeat is reported in the line of the spinner, which leaves no text', async () => {
    const service = await serve(slowly(500, (asked, index) => (index === 0 ? { status: 503 } : good(asked))))
    const screen = kept(openTmuxScreen(home, on(service.baseUrl(), 'queue get --fields state')))
    await screen.waitForLine(/Waiting for 127/)
    await screen.waitForLine(/The service could not process the request \(503\); retrying in \d\.\ds\.$/)
    await screen.waitForLine(/Waiting for 127\S+, attempt 2 of 4, \ds of 30s$/)
    await screen.waitForLine(/^code 0$/)
    expect(screen.lines()).toEqual(['state', 'RUNNING', 'code 0'])
    screen.close()
  })

  testWith('tmux')('Ctrl-C at a hidden prompt ends it, and what is typed shows again', async () => {
    const service = await silent()
    const shell = '"$@"; echo "code $?"; stty -a | grep -ow -e "-\\?echo"'
    const env = { MERGEQ_TOKEN: undefined }
    const screen = kept(openTmuxScreen(home, on(service.baseUrl(), 'auth login'), { shell, env }))
    await screen.waitForLine(/API token/)
    screen.press('h', 'i', 'd', 'd', 'e', 'n')
    await pause(100)
    screen.press('C-c')
    await screen.waitForLine(/^code 130$/)
    await screen.waitForLine(/^echo$/)
    expect(screen.lines().join('\n')).not.toContain('hidden')
    expect(service.connectionCount()).toBe(0)
    screen.close()
  })

  testWith('script')(
    'standard output is a file, standard error a terminal: the file is the answer alone',
    async () => {
      const service = await serve(slowly(500, good))
      const file = home.path('answer.json')
      const options = { terminal: 80, shell: `"$@" > ${file}` }
      const { code, out } = await home.run(on(service.baseUrl(), 'queue get --json'), options)
      expect(code).toBe(0)
      expect(out).toMatch(/Waiting for 127/)
      expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(queueDocument)}\n`)
    },
  )

  testWith('tmux')('keeps its title, its screen and its cursor, and receives no query', async () => {
    const test = { id: testId, name: hostileText, most_common_failures: [{ summary: hostileText }] }
    const service = await serve(() => ({ body: JSON.stringify({ test }) }))
    const words = on(service.baseUrl(), `flaky get ${testId}`)
    const screen = kept(openTmuxScreen(home, words, { shell: '"$@" | tail -n 0; "$@"' }))
    const title = screen.variable('pane_title')
    await screen.waitForLine(/^code 0$/)
    const variables = ['alternate_on', 'cursor_flag', 'pane_title', 'mouse_any_flag', 'insert_flag']
    expect(variables.map(screen.variable)).toEqual(['0', '1', title, '0', '0'])
    expect(screen.lines().at(-1)).toBe('code 0')
    screen.close()
  })
})

describe('signals', () => {
  // conf, which reads it, must not handle signals.
  const settings = home.path('home/.config/mergeq')
  mkdirSync(settings, { recursive: true })
  writeFileSync(join(settings, 'config.json'), '{"profiles":{}}', { mode: 0o600 })

  /** Sends a signal to a run once `ready`, and judges how long it takes to end. */
  async function stopped(
    words: readonly string[],
    [signal, code]: readonly [Signal, number],
    ready: (running: ReturnType<typeof home.start>) => Promise<unknown>,
    promised: Partial<ExpectedResult> = {},
    options: RunOptions = {},
  ) {
    const running = home.start(words, options)
    await ready(running)
    const began = Date.now()
    running.kill(signal)
    const ran = await running.done
    expect(ran.ended - began, 'how long it took to end').toBeLessThan(soon)
    checkGeneralRules(ran, { code, ...promised })
    return ran
  }
  const sigterm = ['SIGTERM', 143] as const

  test.each<[Signal, number]>([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ])('%s during a read ends it at once, with %i', async (...end) => {
    const service = await serve(() => 'silence')
    const ready = () => service.waitForRequests(1)
    const { err, out } = await stopped(on(service.baseUrl(), 'queue get'), end, ready)
    expect(err).toContain(`mergeq: stopped by ${end[0]}.`)
    expect({ out, asked: service.requests.length }).toEqual({ out: '', asked: 1 })
  })

  const connected = async (service: { opened(): number }) => {
    while (service.opened() === 0) await pause(10)
    await pause(100)
  }

  test('a signal during the upload of a large body', async () => {
    const service = kept(await startRawServer('silence'))
    const targets = home.path('targets.txt')
    const names = Array.from({ length: 100_000 }, (_, index) => `//some/package/of/the/tree:${index}\n`)
    writeFileSync(targets, names.join(''))
    const words = on(
      service.base,
      `pr targets 7 --sha 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9 --from ${targets}`,
    )
    const { err } = await stopped(words, sigterm, () => connected(service))
    expect(err).toMatch(/The target upload of #7 was in progress and may have been applied/)
  })

  const unread = (service: TestServer) => async () => {
    await service.waitForRequests(1)
    await pause(300)
  }

  test('a signal while standard output is not read', async () => {
    const service = await serve(largeList)
    const words = on(service.baseUrl(), list('--json'))
    await stopped(words, sigterm, unread(service), { stderrUnread: true }, { unread: true })
  })

  test.each([
    'pr targets 7 --sha 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9 --from -',
    'auth login --with-token',
  ])('%s: a signal while standard input is read', async line => {
    const service = await serve(good)
    await stopped(on(service.baseUrl(), line), sigterm, () => pause(500), {}, { stdinOpen: true })
    expect(service.connectionCount()).toBe(0)
  })

  test('a second Ctrl-C while it is cleaning up ends it at once, with 130', async () => {
    const service = await serve(() => 'silence')
    for (const gap of [0, 20]) {
      const before = service.requests.length
      const running = home.start(on(service.baseUrl(), 'pr submit 7'))
      await service.waitForRequests(before + 1)
      const began = Date.now()
      running.kill('SIGINT')
      await pause(gap)
      running.kill('SIGINT')
      const { code, err, ended } = await running.done
      expect(code).toBe(130)
      expect(ended - began).toBeLessThan(soon)
      expect(err).not.toMatch(/^\s+at |undefined/m)
    }
  })
})
