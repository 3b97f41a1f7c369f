import { describe, expect, test } from 'vitest'
import { against, expectBadResponse, failing, get, isBadResponse, reads } from '../support/bad-responses.ts'
import { pullRequest } from '../support/fake-queue.ts'
import { type FaultServerOptions, withFaultServer } from '../support/fault-server.ts'
import { runAndCheck } from '../support/fault-server-runs.ts'
import { type Reply, resetAfterBytes, respondWith, withoutEffect, writeRaw } from '../support/responders.ts'

const half = (text: string): string => text.slice(0, text.length / 2)

describe('incomplete responses', () => {
  describe.each(reads)('JSON cut in half, always: $line', ({ line, operation, whole }) => {
    const text = half(JSON.stringify(whole))
    const cutAlways: FaultServerOptions = { script: { [operation]: withoutEffect(respondWith(200, text)) } }

    test('repeated, then reported with the number of bytes received', () =>
      withFaultServer(cutAlways, async server => {
        const { code, out, sentence, earlierLines: notes, sleeps } = await runAndCheck(server, line)
        expect({ code, out, requests: server.log.length }).toEqual({ code: 15, out: '', requests: 4 })
        expect(sleeps).toEqual([250, 500, 1_000])
        expect(sentence).toMatch(/not complete JSON/)
        expect(sentence).toContain(`${text.length} bytes`)
        expect(notes.filter(note => note.includes('; retrying in '))).toHaveLength(3)
      }))
  })

  test.each(reads)('with --json, standard output is empty: $line', ({ line, operation, whole }) =>
    withFaultServer(
      { script: { [operation]: withoutEffect(respondWith(200, half(JSON.stringify(whole)))) } },
      async server => {
        const { code, out } = await runAndCheck(server, `${line} --json --retries 0`, {
          skipFailureText: true,
        })
        expect({ code, out, requests: server.log.length }).toEqual({ code: 15, out: '', requests: 1 })
      },
    ),
  )

  test.each(reads)('reset in mid body, once: $line', async ({ line, operation, whole }) => {
    const reply: Reply = { status: 200, body: JSON.stringify(whole) }
    const options = { documents: { [operation]: reply } }
    const good = await withFaultServer(options, server => runAndCheck(server, line))
    await withFaultServer(
      { ...options, script: { [operation]: [withoutEffect(resetAfterBytes(reply, 20))] } },
      async server => {
        const { code, out } = await runAndCheck(server, line)
        expect({ code, out, requests: server.log.length }).toEqual({ code: 0, out: good.out, requests: 2 })
      },
    )
  })

  test('a page that is reset in mid body does not print a row twice', async () => {
    const page = (name: string, token: string): Reply => ({
      status: 200,
      body: JSON.stringify({ tests: [{ id: name, name }], page: { next_page_token: token } }),
    })
    const first = page('one', 'more')
    const second = page('two', '')
    const show = ({ status, body = '' }: Reply) => withoutEffect(respondWith(status, body))
    const script = { [failing]: [show(first), withoutEffect(resetAfterBytes(second, 20)), show(second)] }
    await withFaultServer({ script }, async server => {
      const { code, out } = await runAndCheck(server, 'flaky list -o ndjson --fields name')
      expect({ code, out, requests: server.log.length }).toEqual({
        code: 0,
        out: '{"name":"one"}\n{"name":"two"}\n',
        requests: 3,
      })
    })
  })

  test('a content-length shorter than the body', async () => {
    const text = JSON.stringify(get.whole)
    const show = writeRaw(
      `HTTP/1.1 200 OK\r\ncontent-length: ${(text.length / 2) | 0}\r\nconnection: close\r\n\r\n${text}`,
    )
    const { log } = await expectBadResponse(show)
    expect(log.length).toBeLessThanOrEqual(4)
  })

  test('a content-length shorter than the body, on a kept connection', () =>
    isBadResponse(writeRaw(`HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n${JSON.stringify(get.whole)}`)))

  test('a content-length longer than the body is an error', () =>
    against(writeRaw('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"state":"pending"}'), async server => {
      const { code, out } = await runAndCheck(server, `${get.line} --json --retries 0`)
      expect({ success: code === 0, out }).toEqual({ success: false, out: '' })
    }))

  test('a chunked body without its last chunk is an error', () =>
    against(
      writeRaw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n13\r\n{"state":"pending"}\r\n'),
      async server => {
        const { code, out } = await runAndCheck(server, `${get.line} --json --retries 0`)
        expect({ success: code === 0, out }).toEqual({ success: false, out: '' })
      },
    ))

  test('any split of the body into chunks gives the same result', async () => {
    const title = 'Zoë 🛒 カート'
    const bytes = Buffer.from(JSON.stringify(pullRequest(7, { prTitle: title })))
    for (const size of [1, 3, 7, 64, bytes.length]) {
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length; at += size) {
        const piece = bytes.subarray(at, at + size)
        chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
      }
      const show = writeRaw(
        Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n'),
          ...chunks,
          Buffer.from('0\r\n\r\n'),
        ]),
      )
      await against(show, async server => {
        const { code, documents } = await runAndCheck(server, `${get.line} --json`)
        expect({ code, title: documents[0]?.prTitle }).toEqual({ code: 0, title })
      })
    }
  })
})
