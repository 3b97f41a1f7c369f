import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { runAndCheck } from '../support/command-checks.ts'
import { type Service, serveScript } from '../support/harness.ts'
import { aTest, closeLater, expectPlainText, formats, terminalText } from '../support/untrusted-text.ts'

describe('any text', () => {
  let service: Service
  let body: string | Buffer = ''
  beforeAll(async () => {
    service = closeLater(await serveScript(() => ({ body: body as string })))
  })

  /** Every format of a queue whose titles are these. */
  async function hold(titles: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
    const setting = { env: { MERGEQ_BASE_URL: service.baseUrl, ...env } }
    const { out } = await runAndCheck('queue get --json', { code: 0, format: 'json' }, setting)
    expect(JSON.parse(out).enqueuedPullRequests.map(({ prTitle }: { prTitle: string }) => prTitle)).toEqual(
      titles,
    )
    for (const [flags, promised, terminal] of formats) {
      const { out: plain } = await runAndCheck(`queue get ${flags}`, promised, {
        ...setting,
        terminal,
        columns: 200,
      })
      expectPlainText(plain)
      const lines = plain.split(/\r?\n/).length - 1
      // A table on a terminal has a line above it that names the queue.
      expect(lines - (flags === '' ? 0 : flags === '-o markdown' || terminal ? 2 : 1)).toBe(
        titles.length + (flags === '-o table' ? 1 : 0),
      )
    }
  }

  const entries = (titles: readonly string[]) =>
    titles.map((prTitle, index) => ({ prNumber: index + 1, prTitle }))
  const units = fc.array(fc.nat(0xffff), { maxLength: 30 }).map(codes => String.fromCharCode(...codes))
  const nasty = fc
    .array(
      fc.constantFrom(
        ...Object.values(terminalText),
        '::error::',
        '##[x]',
        'x',
        ' ',
        '\n',
        '\t',
        '"',
        '\\',
        '=',
        '|',
      ),
      { maxLength: 8 },
    )
    .map(pieces => pieces.join(''))
  const title = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), units, nasty)

  test('any text as a title is plain without control characters, and JSON parses back to it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(title, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (titles, inCi) => {
          body = JSON.stringify({ state: 'RUNNING', enqueuedPullRequests: entries(titles) })
          await hold(titles, inCi ? { CI: 'true' } : {})
        },
      ),
      { numRuns: 60 },
    )
  })

  /** A JSON string of any bytes: what JSON must escape is escaped, and everything else is raw. */
  const rawJson = (bytes: Uint8Array): Buffer =>
    Buffer.concat([
      Buffer.from('"'),
      ...Array.from(bytes, byte =>
        byte < 0x20 || byte === 0x22 || byte === 0x5c
          ? Buffer.from(`\\u00${byte.toString(16).padStart(2, '0')}`)
          : Buffer.from([byte]),
      ),
      Buffer.from('"'),
    ])

  test('any bytes as a title are plain without control characters, and JSON parses back to what UTF-8 makes of them', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      title.map(text => new Uint8Array(Buffer.from(text))),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 6 }), async titles => {
        const pieces = titles.map((one, index) =>
          Buffer.concat([
            Buffer.from(`${index === 0 ? '' : ','}{"prNumber":7,"prTitle":`),
            rawJson(one),
            Buffer.from('}'),
          ]),
        )
        body = Buffer.concat([
          Buffer.from('{"state":"RUNNING","enqueuedPullRequests":['),
          ...pieces,
          Buffer.from(']}'),
        ])
        const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
        await hold(titles.map(one => decoder.decode(one)))
      }),
      { numRuns: 60 },
    )
  })
})

test('what a CI runner would act on parses back to the same on every page of a JSON list', async () => {
  const name = '::error::x ##[y]'
  const more = { '::group::': name }
  for (const terminal of [false, true]) {
    const { out } = await runAndCheck(
      'flaky list -q --json',
      { code: 0, format: 'json' },
      {
        env: { CI: 'true' },
        terminal,
        answer: (_, index) => ({
          body: JSON.stringify({
            tests: [aTest(name, index)],
            page: { next_page_token: index < 2 ? `p${index}` : '' },
            more,
          }),
        }),
      },
    )
    expect(out).not.toMatch(/::error|::group|##\[/)
    const { tests, more: found } = JSON.parse(out)
    expect(tests.map((one: { name: string }) => one.name)).toEqual([name, name, name])
    expect(found).toEqual(more)
  }
})
