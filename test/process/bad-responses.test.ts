import { createHash } from 'node:crypto'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  against,
  expectBadResponse,
  failing,
  get,
  id,
  isBadResponse,
  list,
  reads,
} from '../support/bad-responses.ts'
import { pullRequest } from '../support/fake-queue.ts'
import { withFaultServer } from '../support/fault-server.ts'
import {
  checkFailureText,
  type ProcessOutcome,
  runAndCheck,
  runBuiltProgram,
} from '../support/fault-server-runs.ts'
import { testWith } from '../support/programs.ts'
import {
  type Responder,
  respondByteByByte,
  respondEndlessly,
  respondWith,
  respondWithGzipBomb,
  withEffect,
  withoutEffect,
  writeRaw,
} from '../support/responders.ts'

/** Judges the words of a failure whose other tests leave them out. */
const saysWhatToDo = (
  show: Responder,
  { line, operation }: { readonly line: string; readonly operation: string } = get,
) =>
  withFaultServer({ script: { [operation]: withoutEffect(show) } }, async server => {
    const came = await runAndCheck(server, `${line} --retries 0`, { skipFailureText: true })
    checkFailureText(came, server)
  })

const documentOf = (document: unknown): Responder => respondWith(200, JSON.stringify(document))

describe('answers that are not JSON', () => {
  const broken = Buffer.from(
    '{"state":"pending","prNumber":7,"prTitle":"caf\xE9 \xC3","prAuthor":"\xFF"}',
    'latin1',
  )

  test('a name that is not UTF-8 is shown with U+FFFD, and warned of once', () =>
    against(respondWith(200, broken), async server => {
      const { code, out, earlierLines: notes } = await runAndCheck(server, get.line)
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('caf\uFFFD \uFFFD') })
      expect(notes.filter(note => /UTF-8/.test(note))).toHaveLength(1)
    }))

  test('--json is valid UTF-8', () =>
    against(respondWith(200, broken), async server => {
      const { code, bytes, documents, err } = await runBuiltProgram(server, `${get.line} --json`)
      expect({ code, title: documents[0]?.prTitle }).toEqual({ code: 0, title: 'caf\uFFFD \uFFFD' })
      expect(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toContain('caf')
      expect(err.match(/UTF-8/g)).toHaveLength(1)
    }))

  test('several pages cause only one warning', () => {
    const page = (token: string) =>
      withoutEffect(
        respondWith(
          200,
          Buffer.from(
            `{"tests":[{"id":"${token}","name":"caf\xE9"}],"page":{"next_page_token":"${token}"}}`,
            'latin1',
          ),
        ),
      )
    return withFaultServer({ script: { [failing]: [page('a'), page('b'), page('')] } }, async server => {
      const { code, earlierLines: notes } = await runAndCheck(server, list.line)
      expect({ code, requests: server.log.length }).toEqual({ code: 0, requests: 3 })
      expect(notes.filter(note => /UTF-8/.test(note))).toHaveLength(1)
    })
  })

  test('a U+FFFD that the service sent causes no warning', () =>
    against(documentOf(pullRequest(7, { prTitle: 'caf\uFFFD' })), async server => {
      const { code, earlierLines: notes } = await runAndCheck(server, get.line)
      expect({ code, notes }).toEqual({ code: 0, notes: [] })
    }))

  test.each(reads)('a BOM before the JSON and white space after it: $line', ({ line, operation, whole }) =>
    withFaultServer(
      { script: { [operation]: withoutEffect(respondWith(200, `\uFEFF${JSON.stringify(whole)}\r\n\t \n`)) } },
      async server => {
        const { code, documents } = await runAndCheck(server, `${line} --json`)
        expect({ code, documents: documents.length, requests: server.log.length }).toEqual({
          code: 0,
          documents: 1,
          requests: 1,
        })
      },
    ),
  )

  test.each(['x', '{}', ',', '\0', 'null', '<!-- cached -->'])('garbage after the JSON: %j', garbage =>
    isBadResponse(respondWith(200, JSON.stringify(get.whole) + garbage)),
  )

  test.each([
    ['{"state":"pending","state":"merged","prNumber":7}', 'MERGED'],
    ['{"id":1,"state":"pending","big":9007199254740993,"state":"merged","id":2}', 'MERGED'],
  ])('a key twice in one object: the last one wins: %s', (text, state) =>
    against(respondWith(200, text), async server => {
      const { code, documents } = await runAndCheck(server, `${get.line} --json`)
      expect({ code, state: documents[0]?.state }).toEqual({ code: 0, state })
    }),
  )

  test.each(['NaN', 'Infinity', '-Infinity', 'undefined', "'x'", '0x7', '01', '.5', '[1,]'])(
    '%s is not JSON',
    value => isBadResponse(respondWith(200, `{"state":"pending","priorityValue":${value}}`)),
  )

  test.each(['null', '7', '"pending"', 'true', '[]'])('%s is JSON, but no record', text =>
    isBadResponse(respondWith(200, text)),
  )

  const nested = (depth: number) =>
    `{"state":"pending","deep":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  test('200 levels are read', () =>
    against(respondWith(200, nested(200)), async server => {
      const { code, out } = await runAndCheck(server, `${get.line} --json`)
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('[[[[]]]]') })
    }))
  test.each([201, 10_000, 200_000])('%i levels are an error', depth =>
    isBadResponse(respondWith(200, nested(depth))),
  )
})

describe('answers without measure', () => {
  const mebibytes = 1024 * 1024
  /** What a read of a hostile answer may cost. */
  const expectBounded = ({ code, out, memory, took }: ProcessOutcome) => {
    expect({ code, out }).toEqual({ code: 15, out: '' })
    expect(memory, 'memory in MiB').toBeLessThan(400)
    expect(took, 'milliseconds').toBeLessThan(10_000)
  }

  testWith('time')('0.5 MB of gzip that becomes 512 MiB', () =>
    withFaultServer({ script: { [failing]: withoutEffect(respondWithGzipBomb(512)) } }, async server => {
      const came = await runBuiltProgram(server, list.line, { measured: true, skipFailureText: true })
      expectBounded(came)
      expect(came.sentence).toMatch(/32 MiB/)
    }),
  )

  testWith('time')('a body without end', () =>
    withFaultServer({ script: { [failing]: withoutEffect(respondEndlessly) } }, async server => {
      const came = await runBuiltProgram(server, list.line, { measured: true, skipFailureText: true })
      expectBounded(came)
      expect(came.sentence).toMatch(/32 MiB/)
    }),
  )

  test('the socket is closed as soon as the response is too large', async () => {
    let closed = 0
    const show: Responder = exchange => {
      exchange.socket.once('close', () => closed++)
      respondEndlessly(exchange)
    }
    await withFaultServer({ script: { [failing]: withoutEffect(show) } }, async server => {
      const { code } = await runAndCheck(server, `${list.line} --retries 0`, { skipFailureText: true })
      expect({ code, requests: server.log.length }).toEqual({ code: 15, requests: 1 })
      await expect.poll(() => closed).toBe(1)
    })
  })

  const hungry = [
    ['a bomb', respondWithGzipBomb(512)],
    ['a body without end', respondEndlessly],
  ] as const
  test.each(hungry)('%s: names the host and the next step', (_, show) => saysWhatToDo(show, list))

  test('headers without end', async () => {
    const { sentence } = await expectBadResponse(
      writeRaw(`HTTP/1.1 200 OK\r\nx-filler: ${'x'.repeat(17_000)}\r\n\r\n{}`),
    )
    expect(sentence).toMatch(/HTTP|header/)
  })

  test('headers of 15 KiB are read', () =>
    against(
      writeRaw(
        `HTTP/1.1 200 OK\r\nx-filler: ${'x'.repeat(15_000)}\r\nconnection: close\r\n\r\n${JSON.stringify(get.whole)}`,
      ),
      async server => {
        expect(await runAndCheck(server, get.line)).toMatchObject({ code: 0 })
      },
    ))

  const dripping: readonly (readonly [string, Responder])[] = [
    ['of the body', respondByteByByte(JSON.stringify(get.whole), 40)],
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
  test.each(dripping)('one byte at a time %s: the limit applies', (_, show) =>
    against(show, async server => {
      const began = performance.now()
      const { code, sentence } = await runAndCheck(server, `${get.line} --timeout 400ms --retries 0`)
      const took = performance.now() - began
      expect({ code, requests: server.log.length }).toEqual({ code: 7, requests: 1 })
      expect(sentence).toMatch(/within 0\.4s/)
      expect(took).toBeGreaterThanOrEqual(395)
      expect(took).toBeLessThan(2_000)
    }),
  )

  const lists = [
    { name: '30 MiB of valid JSON', end: 'c' },
    // Digits, an e and digits are no number inside a UUID.
    { name: '30 MiB of valid JSON with ids like 1f2e10', end: 'e' },
  ]
  for (const { name, end } of lists)
    testWith('time')(`${name}`, async () => {
      const tests = Array.from({ length: 33_000 }, (_, index) => ({
        id: `${id.slice(0, -9)}${end}${index + 10_000_000}`,
        name: `test ${index} ${'x'.repeat(900)}`,
      }))
      const body = JSON.stringify({ tests, page: { total_rows: tests.length, next_page_token: '' } })
      expect(body.length).toBeGreaterThan(30 * mebibytes)
      await withFaultServer({ documents: { [failing]: { status: 200, body } } }, async server => {
        const { code, documents, memory } = await runBuiltProgram(server, `${list.line} --json`, {
          measured: true,
        })
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
  test('an SSH banner', () =>
    withFaultServer({ greeting: 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n' }, async server => {
      const { code, out, sentence } = await runAndCheck(server, `${get.line} --timeout 5s`)
      expect({ code, out }).toEqual({ code: 15, out: '' })
      expect(sentence).toMatch(/not (valid )?HTTP/)
      expect(sentence).not.toContain(get.operation)
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
    const { sentence } = await expectBadResponse(writeRaw(text))
    expect(sentence).toMatch(/not (valid )?HTTP/)
  }
  test.each(strange)('%s', isNotHttp)
  test.each(unparsable)('%s', isNotHttp)

  const zipped = gzipSync(ok)
  const mislabelled = [
    ['says gzip and is not', respondWith(200, ok, { 'content-encoding': 'gzip' })],
    ['says gzip and is deflate', respondWith(200, deflateSync(ok), { 'content-encoding': 'gzip' })],
    ['says gzip twice and is so once', respondWith(200, zipped, { 'content-encoding': 'gzip, gzip' })],
    ['says something unknown', respondWith(200, ok, { 'content-encoding': 'x-rot13' })],
    [
      'gzip cut in half',
      respondWith(200, zipped.subarray(0, zipped.length / 2), { 'content-encoding': 'gzip' }),
    ],
    [
      'gzip with a wrong checksum',
      respondWith(200, Buffer.concat([zipped.subarray(0, -8), Buffer.alloc(8, 1)]), {
        'content-encoding': 'gzip',
      }),
    ],
  ] as const
  test.each(mislabelled)('%s', async (_, show) => void (await expectBadResponse(show, true)))
  test.each(mislabelled)('%s: names the host and the next step', (_, show) => saysWhatToDo(show))

  test('gzip without its trailer fails or passes, but the same each time', async () => {
    const outcomes = new Set<string>()
    for (let time = 0; time < 5; time++)
      await against(
        respondWith(200, zipped.subarray(0, -8), { 'content-encoding': 'gzip' }),
        async server => {
          const { code, out } = await runAndCheck(server, get.line, { skipFailureText: true })
          expect([0, 15]).toContain(code)
          outcomes.add(`${code} ${out}`)
        },
      )
    expect(outcomes.size).toBe(1)
  })

  test.each(['gzip', 'GZIP', 'x-gzip'])('what says %s and is, is read', encoding =>
    against(respondWith(200, zipped, { 'content-encoding': encoding }), async server => {
      expect(await runAndCheck(server, get.line)).toMatchObject({ code: 0 })
    }),
  )

  test('50 times 103 Early Hints, then 200', () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n'
    return against(
      writeRaw(`${hint.repeat(50)}HTTP/1.1 200 OK\r\ncontent-length: ${ok.length}\r\n\r\n${ok}`),
      async server => {
        const { code, earlierLines: notes } = await runAndCheck(server, get.line)
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
  test.each(untouched)('%s > file is byte for byte what came', (line, body) =>
    withFaultServer(
      { script: { getMergeQueueMetrics: withEffect(respondWith(200, body)) } },
      async server => {
        const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
        const { code, bytes } = await runBuiltProgram(server, line.replace(/^mergeq /, ''), {
          intoFile: true,
        })
        expect({ code, length: bytes.length, digest: digest(bytes) }).toEqual({
          code: 0,
          length: body.length,
          digest: digest(body),
        })
      },
    ),
  )
})
