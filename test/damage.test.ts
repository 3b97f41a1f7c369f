import { createHash } from 'node:crypto'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  type Act,
  answers,
  applied,
  bombs,
  breaksOff,
  drips,
  type FaultOptions,
  goesOn,
  judgeWords,
  type Launched,
  launch,
  pull,
  type Reply,
  run,
  type Show,
  says,
  unapplied,
  withFaults,
} from './fault-server.ts'
import { testWith } from './programs.ts'

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const failing = 'flaky-tests/list-failing-tests'

/** The reads that answer with JSON, and a whole answer of each. */
const reads = [
  { line: 'pr get 7', operation: 'getSubmittedPullRequest', whole: pull(7) },
  {
    line: `pr testing ${id}`,
    operation: 'getMergeQueueTestingDetails',
    whole: { testBranch: 'trunk-merge/pr-7/x', status: 'in_progress', testedPullRequests: [{ prNumber: 7 }] },
  },
  { line: 'queue get', operation: 'getQueue', whole: { state: 'running', enqueuedPullRequests: [pull(7)] } },
  {
    line: 'flaky list',
    operation: failing,
    whole: { tests: [{ id, name: 'cart' }], page: { next_page_token: '' } },
  },
  {
    line: `flaky get ${id}`,
    operation: 'flaky-tests/get-test-details',
    whole: { test: { id, name: 'cart' } },
  },
] as const
const [get, , , list] = reads

const half = (text: string): string => text.slice(0, text.length / 2)

/** `pr get 7` against a server that does this with every reading. */
const against = <T>(
  show: Show | readonly Act[],
  work: (server: Parameters<Parameters<typeof withFaults<T>>[1]>[0]) => Promise<T>,
) => withFaults({ script: { [get.operation]: typeof show === 'function' ? unapplied(show) : show } }, work)

/** Reads what this answers, which must be taken for no answer. */
const readNone = (show: Show, wordless = false) =>
  against(show, async server => {
    const came = await run(server, get.line, { wordless })
    expect({ code: came.code, out: came.out }).toEqual({ code: 15, out: '' })
    return { ...came, log: server.log }
  })
const isNone = async (show: Show): Promise<void> => void (await readNone(show))
/** Judges the words of a failure whose other tests leave them out. */
const saysWhatToDo = (
  show: Show,
  { line, operation }: { readonly line: string; readonly operation: string } = get,
) =>
  withFaults({ script: { [operation]: unapplied(show) } }, async server => {
    const came = await run(server, `${line} --retries 0`, { wordless: true })
    judgeWords(came, server)
  })

const documentOf = (document: unknown): Show => answers(200, JSON.stringify(document))

describe('answers that are not whole', () => {
  describe.each(reads)('E1: JSON cut in half, always: $line', ({ line, operation, whole }) => {
    const text = half(JSON.stringify(whole))
    const cutAlways: FaultOptions = { script: { [operation]: unapplied(answers(200, text)) } }

    test('E1: repeated, then told with the bytes received', () =>
      withFaults(cutAlways, async server => {
        const { code, out, sentence, notes, sleeps } = await run(server, line)
        expect({ code, out, requests: server.log.length }).toEqual({ code: 15, out: '', requests: 4 })
        expect(sleeps).toEqual([250, 500, 1_000])
        expect(sentence).toMatch(/not complete JSON/)
        expect(sentence).toContain(`${text.length} bytes`)
        expect(notes.filter(note => note.includes('again in'))).toHaveLength(3)
      }))
  })

  test.each(reads)('E1: with --json, standard output is empty: $line', ({ line, operation, whole }) =>
    withFaults(
      { script: { [operation]: unapplied(answers(200, half(JSON.stringify(whole)))) } },
      async server => {
        const { code, out } = await run(server, `${line} --json --retries 0`, { wordless: true })
        expect({ code, out, requests: server.log.length }).toEqual({ code: 15, out: '', requests: 1 })
      },
    ),
  )

  test.each(reads)('E2: reset in mid body, once: $line', async ({ line, operation, whole }) => {
    const reply: Reply = { status: 200, body: JSON.stringify(whole) }
    const options = { documents: { [operation]: reply } }
    const good = await withFaults(options, server => run(server, line))
    await withFaults(
      { ...options, script: { [operation]: [unapplied(breaksOff(reply, 20))] } },
      async server => {
        const { code, out } = await run(server, line)
        expect({ code, out, requests: server.log.length }).toEqual({ code: 0, out: good.out, requests: 2 })
      },
    )
  })

  test('E2: a page that is reset in mid body does not print a row twice', async () => {
    const page = (name: string, token: string): Reply => ({
      status: 200,
      body: JSON.stringify({ tests: [{ id: name, name }], page: { next_page_token: token } }),
    })
    const first = page('one', 'more')
    const second = page('two', '')
    const show = ({ status, body = '' }: Reply) => unapplied(answers(status, body))
    const script = { [failing]: [show(first), unapplied(breaksOff(second, 20)), show(second)] }
    await withFaults({ script }, async server => {
      const { code, out } = await run(server, 'flaky list -o ndjson --fields name')
      expect({ code, out, requests: server.log.length }).toEqual({
        code: 0,
        out: '{"name":"one"}\n{"name":"two"}\n',
        requests: 3,
      })
    })
  })

  test('E10: a content-length shorter than the body', async () => {
    const text = JSON.stringify(get.whole)
    const show = says(
      `HTTP/1.1 200 OK\r\ncontent-length: ${(text.length / 2) | 0}\r\nconnection: close\r\n\r\n${text}`,
    )
    const { log } = await readNone(show)
    expect(log.length).toBeLessThanOrEqual(4)
  })

  test('E10: a content-length shorter than the body, on a kept connection', () =>
    isNone(says(`HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n${JSON.stringify(get.whole)}`)))

  test('E10: a content-length longer than the body is no success', () =>
    against(says('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"state":"pending"}'), async server => {
      const { code, out } = await run(server, `${get.line} --json --retries 0`)
      expect({ success: code === 0, out }).toEqual({ success: false, out: '' })
    }))

  test('E10: a chunked body without its last chunk is no success', () =>
    against(
      says('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n13\r\n{"state":"pending"}\r\n'),
      async server => {
        const { code, out } = await run(server, `${get.line} --json --retries 0`)
        expect({ success: code === 0, out }).toEqual({ success: false, out: '' })
      },
    ))

  test('E10: any split of the body over chunks gives the same answer', async () => {
    const title = 'Zoë 🛒 カート'
    const bytes = Buffer.from(JSON.stringify(pull(7, { prTitle: title })))
    for (const size of [1, 3, 7, 64, bytes.length]) {
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length; at += size) {
        const piece = bytes.subarray(at, at + size)
        chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
      }
      const show = says(
        Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n'),
          ...chunks,
          Buffer.from('0\r\n\r\n'),
        ]),
      )
      await against(show, async server => {
        const { code, documents } = await run(server, `${get.line} --json`)
        expect({ code, title: documents[0]?.prTitle }).toEqual({ code: 0, title })
      })
    }
  })
})

describe('answers that are not JSON', () => {
  const broken = Buffer.from(
    '{"state":"pending","prNumber":7,"prTitle":"caf\xE9 \xC3","prAuthor":"\xFF"}',
    'latin1',
  )

  test('E3: a name that is not UTF-8 is shown with U+FFFD, and warned of once', () =>
    against(answers(200, broken), async server => {
      const { code, out, notes } = await run(server, get.line)
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('caf\uFFFD \uFFFD') })
      expect(notes.filter(note => /UTF-8/.test(note))).toHaveLength(1)
    }))

  test('E3: --json is valid UTF-8', () =>
    against(answers(200, broken), async server => {
      const { code, bytes, documents, err } = await launch(server, `${get.line} --json`)
      expect({ code, title: documents[0]?.prTitle }).toEqual({ code: 0, title: 'caf\uFFFD \uFFFD' })
      expect(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toContain('caf')
      expect(err.match(/UTF-8/g)).toHaveLength(1)
    }))

  test('E3: over several pages the warning stays one', () => {
    const page = (token: string) =>
      unapplied(
        answers(
          200,
          Buffer.from(
            `{"tests":[{"id":"${token}","name":"caf\xE9"}],"page":{"next_page_token":"${token}"}}`,
            'latin1',
          ),
        ),
      )
    return withFaults({ script: { [failing]: [page('a'), page('b'), page('')] } }, async server => {
      const { code, notes } = await run(server, list.line)
      expect({ code, requests: server.log.length }).toEqual({ code: 0, requests: 3 })
      expect(notes.filter(note => /UTF-8/.test(note))).toHaveLength(1)
    })
  })

  test('E3: a U+FFFD that the service sent is no reason to warn', () =>
    against(documentOf(pull(7, { prTitle: 'caf\uFFFD' })), async server => {
      const { code, notes } = await run(server, get.line)
      expect({ code, notes }).toEqual({ code: 0, notes: [] })
    }))

  test.each(reads)(
    'E4: a BOM before the JSON and white space after it: $line',
    ({ line, operation, whole }) =>
      withFaults(
        { script: { [operation]: unapplied(answers(200, `\uFEFF${JSON.stringify(whole)}\r\n\t \n`)) } },
        async server => {
          const { code, documents } = await run(server, `${line} --json`)
          expect({ code, documents: documents.length, requests: server.log.length }).toEqual({
            code: 0,
            documents: 1,
            requests: 1,
          })
        },
      ),
  )

  test.each(['x', '{}', ',', '\0', 'null', '<!-- cached -->'])('E4: garbage after the JSON: %j', garbage =>
    isNone(answers(200, JSON.stringify(get.whole) + garbage)),
  )

  test.each([
    ['{"state":"pending","state":"merged","prNumber":7}', 'MERGED'],
    ['{"id":1,"state":"pending","big":9007199254740993,"state":"merged","id":2}', 'MERGED'],
  ])('E5: a key twice in one object: the last one wins: %s', (text, state) =>
    against(answers(200, text), async server => {
      const { code, documents } = await run(server, `${get.line} --json`)
      expect({ code, state: documents[0]?.state }).toEqual({ code: 0, state })
    }),
  )

  test.each(['NaN', 'Infinity', '-Infinity', 'undefined', "'x'", '0x7', '01', '.5', '[1,]'])(
    'E6: %s is not JSON',
    value => isNone(answers(200, `{"state":"pending","priorityValue":${value}}`)),
  )

  test.each(['null', '7', '"pending"', 'true', '[]'])('E6: %s is JSON, but no record', text =>
    isNone(answers(200, text)),
  )

  const nested = (depth: number) =>
    `{"state":"pending","deep":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  test('E6: 200 levels are read', () =>
    against(answers(200, nested(200)), async server => {
      const { code, out } = await run(server, `${get.line} --json`)
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('[[[[]]]]') })
    }))
  test.each([201, 10_000, 200_000])('E6: %i levels are no answer', depth =>
    isNone(answers(200, nested(depth))),
  )
})

describe('answers without measure', () => {
  const mebibytes = 1024 * 1024
  /** What a read of a hostile answer may cost. */
  const expectBounded = ({ code, out, memory, took }: Launched) => {
    expect({ code, out }).toEqual({ code: 15, out: '' })
    expect(memory, 'memory in MiB').toBeLessThan(400)
    expect(took, 'milliseconds').toBeLessThan(10_000)
  }

  testWith('time')('E7: 0.5 MB of gzip that becomes 512 MiB', () =>
    withFaults({ script: { [failing]: unapplied(bombs(512)) } }, async server => {
      const came = await launch(server, list.line, { measured: true, wordless: true })
      expectBounded(came)
      expect(came.sentence).toMatch(/64 MiB/)
    }),
  )

  testWith('time')('E8: a body without end', () =>
    withFaults({ script: { [failing]: unapplied(goesOn) } }, async server => {
      const came = await launch(server, list.line, { measured: true, wordless: true })
      expectBounded(came)
      expect(came.sentence).toMatch(/64 MiB/)
    }),
  )

  test('E8: the socket is closed once the answer is too large', async () => {
    let closed = 0
    const show: Show = exchange => {
      exchange.socket.once('close', () => closed++)
      goesOn(exchange)
    }
    await withFaults({ script: { [failing]: unapplied(show) } }, async server => {
      const { code } = await run(server, `${list.line} --retries 0`, { wordless: true })
      expect({ code, requests: server.log.length }).toEqual({ code: 15, requests: 1 })
      await expect.poll(() => closed).toBe(1)
    })
  })

  const hungry = [
    ['E7: a bomb', bombs(512)],
    ['E8: a body without end', goesOn],
  ] as const
  test.each(hungry)('%s: names the host and the next step', (_, show) => saysWhatToDo(show, list))

  test('E8: headers without end', async () => {
    const { sentence } = await readNone(says(`HTTP/1.1 200 OK\r\nx-filler: ${'x'.repeat(17_000)}\r\n\r\n{}`))
    expect(sentence).toMatch(/HTTP|header/)
  })

  test('E8: headers of 15 KiB are read', () =>
    against(
      says(
        `HTTP/1.1 200 OK\r\nx-filler: ${'x'.repeat(15_000)}\r\nconnection: close\r\n\r\n${JSON.stringify(get.whole)}`,
      ),
      async server => {
        expect(await run(server, get.line)).toMatchObject({ code: 0 })
      },
    ))

  const dripping: readonly (readonly [string, Show])[] = [
    ['of the body', drips(JSON.stringify(get.whole), 40)],
    [
      'of the head',
      ({ socket }) => {
        let at = 0
        const head = `HTTP/1.1 200 OK\r\nx-filler: ${'x'.repeat(500)}`
        const timer = setInterval(() => socket.write(head[at++] ?? 'x'), 40)
        socket.once('close', () => clearInterval(timer))
      },
    ],
  ]
  test.each(dripping)('E9: one byte at a time %s: the limit holds', (_, show) =>
    against(show, async server => {
      const began = performance.now()
      const { code, sentence } = await run(server, `${get.line} --timeout 400ms --retries 0`)
      const took = performance.now() - began
      expect({ code, requests: server.log.length }).toEqual({ code: 7, requests: 1 })
      expect(sentence).toMatch(/\b0\.4 s|\b400 ms/)
      expect(took).toBeGreaterThanOrEqual(395)
      expect(took).toBeLessThan(2_000)
    }),
  )

  const lists = [
    { name: '32 MiB of valid JSON', end: 'c' },
    // Digits, an e and digits are no number inside a UUID.
    { name: '32 MiB of valid JSON with ids like 1f2e10', end: 'e' },
  ]
  for (const { name, end } of lists)
    testWith('time')(`E15: ${name}`, async () => {
      const tests = Array.from({ length: 35_000 }, (_, index) => ({
        id: `${id.slice(0, -9)}${end}${index + 10_000_000}`,
        name: `test ${index} ${'x'.repeat(900)}`,
      }))
      const body = JSON.stringify({ tests, page: { total_rows: tests.length, next_page_token: '' } })
      expect(body.length).toBeGreaterThan(32 * mebibytes)
      await withFaults({ documents: { [failing]: { status: 200, body } } }, async server => {
        const { code, documents, memory } = await launch(server, `${list.line} --json`, { measured: true })
        expect({ code, documents: documents.length, requests: server.log.length }).toEqual({
          code: 0,
          documents: 1,
          requests: 1,
        })
        expect(documents[0]?.tests).toHaveLength(tests.length)
        expect(memory, 'memory in MiB').toBeLessThan(700)
      })
    })
})

describe('answers that are not HTTP, or not what they say', () => {
  test('E11: an SSH banner', () =>
    withFaults({ greets: 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n' }, async server => {
      const { code, out, sentence } = await run(server, `${get.line} --timeout 5s`)
      expect({ code, out }).toEqual({ code: 15, out: '' })
      expect(sentence).toMatch(/not (valid )?HTTP/)
      expect(sentence).toContain(get.operation)
    }))

  const ok = JSON.stringify(get.whole)
  const strange = [
    [
      'content-length and chunked together',
      `HTTP/1.1 200 OK\r\ncontent-length: ${ok.length}\r\ntransfer-encoding: chunked\r\n\r\n${ok.length.toString(16)}\r\n${ok}\r\n0\r\n\r\n`,
    ],
    [
      'two content-lengths that differ',
      `HTTP/1.1 200 OK\r\ncontent-length: ${ok.length}\r\ncontent-length: 5\r\n\r\n${ok}`,
    ],
  ] as const
  const unparsable = [
    ['HTTP/0.9', ok],
    ['a status of one digit', `HTTP/1.1 2 OK\r\n\r\n${ok}`],
    ['a header with a NUL', `HTTP/1.1 200 OK\r\nx-y: a\0b\r\n\r\n${ok}`],
    [
      'a chunk size that is none',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${ok}\r\n0\r\n\r\n`,
    ],
  ] as const
  const isNotHttp = async (_: string, text: string) => {
    const { sentence } = await readNone(says(text))
    expect(sentence).toMatch(/not (valid )?HTTP/)
  }
  test.each(strange)('E11: %s', isNotHttp)
  test.each(unparsable)('E11: %s', isNotHttp)

  const zipped = gzipSync(ok)
  const mislabelled = [
    ['says gzip and is not', answers(200, ok, { 'content-encoding': 'gzip' })],
    ['says gzip and is deflate', answers(200, deflateSync(ok), { 'content-encoding': 'gzip' })],
    ['says gzip twice and is so once', answers(200, zipped, { 'content-encoding': 'gzip, gzip' })],
    ['says something unknown', answers(200, ok, { 'content-encoding': 'x-rot13' })],
    ['gzip cut in half', answers(200, zipped.subarray(0, zipped.length / 2), { 'content-encoding': 'gzip' })],
    [
      'gzip with a wrong checksum',
      answers(200, Buffer.concat([zipped.subarray(0, -8), Buffer.alloc(8, 1)]), {
        'content-encoding': 'gzip',
      }),
    ],
  ] as const
  test.each(mislabelled)('E12: %s', async (_, show) => void (await readNone(show, true)))
  test.each(mislabelled)('E12: %s: names the host and the next step', (_, show) => saysWhatToDo(show))

  test('E12: gzip without its trailer fails or passes, but the same each time', async () => {
    const outcomes = new Set<string>()
    for (let time = 0; time < 5; time++)
      await against(answers(200, zipped.subarray(0, -8), { 'content-encoding': 'gzip' }), async server => {
        const { code, out } = await run(server, get.line, { wordless: true })
        expect([0, 15]).toContain(code)
        outcomes.add(`${code} ${out}`)
      })
    expect(outcomes.size).toBe(1)
  })

  test.each(['gzip', 'GZIP', 'x-gzip'])('E12: what says %s and is, is read', encoding =>
    against(answers(200, zipped, { 'content-encoding': encoding }), async server => {
      expect(await run(server, get.line)).toMatchObject({ code: 0 })
    }),
  )

  test('E13: 50 times 103 Early Hints, then 200', () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n'
    return against(
      says(`${hint.repeat(50)}HTTP/1.1 200 OK\r\ncontent-length: ${ok.length}\r\n\r\n${ok}`),
      async server => {
        const { code, notes } = await run(server, get.line)
        expect({ code, notes, requests: server.log.length }).toEqual({ code: 0, notes: [], requests: 1 })
      },
    )
  })

  const exposition = Buffer.from(
    '# HELP mq_depth_current Größe 🛒\u2028 \u200D\uFEFF\r\n# TYPE mq_depth_current gauge\r\n\r\n' +
      'mq_depth_current{repo="acme/web",branch="ﬁx/\\"ü\\"\\n"} 2\r\nmq_pr_restarts_1h_total{repo="\u{10FFFD}"} 0',
  )
  const untouched = [
    ['mergeq metrics', exposition],
    ['mergeq api getMergeQueueMetrics', exposition],
    ['mergeq metrics', Buffer.concat([exposition, Buffer.from('\n# HELP x caf\xE9 \xC3\0\n', 'latin1')])],
    [
      'mergeq api getMergeQueueMetrics',
      Buffer.concat([exposition, Buffer.from('\n# HELP x caf\xE9 \xC3\0\n', 'latin1')]),
    ],
  ] as const
  test.each(untouched)('E14: %s > file is byte for byte what came', (line, body) =>
    withFaults({ script: { getMergeQueueMetrics: applied(answers(200, body)) } }, async server => {
      const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
      const { code, bytes } = await launch(server, line.replace(/^mergeq /, ''), { intoFile: true })
      expect({ code, length: bytes.length, digest: digest(bytes) }).toEqual({
        code: 0,
        length: body.length,
        digest: digest(body),
      })
    }),
  )
})
