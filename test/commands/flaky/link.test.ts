import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../../support/command-checks.ts'
import { asked, idOf } from '../../support/flaky-list.ts'
import { mergeq, type Seen, type Setting } from '../../support/harness.ts'

describe('flaky link', () => {
  const id = idOf(7)
  const link = (flags: string, answer: () => { status?: number; body?: string }, setting: Setting = {}) =>
    mergeq(`flaky link ${id} KAN-123 -R acme/web ${flags}`, { answer, ...setting })

  test('sends the link once and says so; its receipt', async () => {
    const { code, out, err, requests } = await link('', () => ({ body: 'OK' }), { terminal: true })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: `Linked ticket KAN-123 to test ${id} of acme/web.\n`,
      err: '',
    })
    expect(asked(requests)).toEqual([{ test_case_id: id, external_ticket_id: 'KAN-123' }])
    expect(JSON.parse((await link('--json', () => ({ body: '{}' }))).out)).toEqual({
      operation: 'flaky-tests/link-ticket-to-test-case',
      repo: 'github.com/acme/web',
      testId: id,
      ticket: 'KAN-123',
      ok: true,
      delivery: 'confirmed',
    })
  })

  test('takes the beginning of an ID, or a name with its variant, of one test that failed lately', async () => {
    const tests = ['2b4e8d1c-93f0', '2b4e8d1d-93f0'].map(start => ({
      id: `${start}-4c57-8a3b-1f2e3d4c5b6a`,
      name: 'facade',
      variant: start.slice(7, 8),
    }))
    const answer = ({ path }: Seen) =>
      path.endsWith('get-test-details')
        ? { status: 404 }
        : { body: path.endsWith('list-failing-tests') ? JSON.stringify({ tests, page: {} }) : '' }
    const start = (text: string) => mergeq(`flaky link ${text} KAN-1 -R acme/web --org acme`, { answer })
    for (const text of ['2b4e8d1C', '"Facade (c)"']) {
      const { code, requests } = await start(text)
      const sent = { test_case_id: tests[0]?.id }
      expect({ code, sent: asked(requests).at(-1) }).toMatchObject({ code: 0, sent })
    }
  })

  describe('of a test with a ticket', () => {
    const withTicket = (url: string | undefined, flags: string, setting: Setting = {}) =>
      mergeq(`flaky link ${id} KAN-123 -R acme/web --org acme ${flags}`, {
        answer: ({ path }) => ({
          body: path.endsWith('get-test-details')
            ? JSON.stringify({
                test: { id, name: 'a', ...(url === undefined ? {} : { ticket: { html_url: url } }) },
              })
            : '',
        }),
        ...setting,
      })
    const changes = ({ requests }: { readonly requests: readonly Seen[] }) =>
      requests.filter(({ path }) => path.endsWith('link-ticket-to-test-case')).length
    const terminal = { terminal: true, inputTerminal: true }
    const other = 'https://acme.atlassian.net/browse/KAN-1'

    test('asks before it links another one, and is refused where nobody can be asked', async () => {
      const refused = await withTicket(other, '')
      expect({ code: refused.code, sent: changes(refused) }).toEqual({ code: 2, sent: 0 })
      expect(refused.err).toContain(`Another ticket is linked to 1 test: ${id} has ${other}.`)
      expect(refused.err).toContain('--yes')
      for (const [typed, sent] of [
        ['n', 0],
        ['y', 1],
      ] as const) {
        const asked = await withTicket(other, '', { ...terminal, typed: [typed] })
        expect({ code: asked.code, sent: changes(asked) }).toEqual({ code: sent === 1 ? 0 : 2, sent })
        expect(asked.err).toContain('This replaces the ticket of 1 test:')
      }
    })

    test.each([
      ['no ticket', undefined, ''],
      ['the same ticket', 'https://acme.atlassian.net/browse/kan-123', ''],
      ['another one, with --yes', other, '--yes'],
    ])('does not ask: %s', async (_, url, flags) => {
      const { code, err, ...rest } = await withTicket(url, flags)
      expect({ code, err, sent: changes(rest) }).toEqual({ code: 0, err: '', sent: 1 })
    })

    test.each(['KAN 1', 'a;b', '$(id)', 'ftp://x/1', 'KAN-1\n'])('%j is no ticket', async ticket => {
      const { code, requests } = await mergeq(['flaky', 'link', id, ticket, '-R', 'acme/web'], {
        answer: () => ({}),
      })
      expect({ code, sent: requests.length }).toEqual({ code: 2, sent: 0 })
    })
  })

  describe('with - reads links from standard input', () => {
    const input = `${idOf(1)} KAN-1\r\n\n${idOf(2)}\tKAN_2\n${idOf(1)} KAN-1\n${idOf(3)} KAN-3\n`
    const read = (flags: string, status: (test: string) => number = () => 200, lines = input) =>
      mergeq(`flaky link - -R acme/web --org acme --yes ${flags}`, {
        input: lines,
        answer: ({ body }) => ({ status: status(JSON.parse(body).test_case_id) }),
      })

    test('and sends each once', async () => {
      const { code, requests } = await read('')
      expect({ code, sent: asked(requests) }).toEqual({
        code: 0,
        sent: [
          [1, 'KAN-1'],
          [2, 'KAN_2'],
          [3, 'KAN-3'],
        ].map(([n, ticket]) => ({ test_case_id: idOf(Number(n)), external_ticket_id: ticket })),
      })
    })

    test.each([
      [404, 5, 'not-applied'],
      [500, 11, 'unknown'],
    ])(
      'and stops at a failure (%i): what was sent has receipts, and the rest is named',
      async (status, exit, delivery) => {
        const { code, out, err, requests } = await read('', test => (test === idOf(2) ? status : 200))
        expect({ code, sent: requests.length }).toEqual({ code: exit, sent: 2 })
        expect(out.split('\n')).toEqual([
          `\ttrue\tconfirmed\tLinked ticket KAN-1 to test ${idOf(1)} of acme/web.`,
          expect.stringContaining(`\tfalse\t${delivery}\t`),
          '',
        ])
        expect(err).toContain(
          `Stopped early. Done: ${idOf(1)} KAN-1. Failed: ${idOf(2)} KAN_2. Not sent: ${idOf(3)} KAN-3.`,
        )
        expect(err).toContain(`(${idOf(2)} KAN_2).`)
      },
    )

    test.each([
      ['-', `${idOf(1)} KAN-1\n${idOf(2)}\n`, `'${idOf(2)}' is not a link.`],
      ['-', `${idOf(1)} KAN-1\nabc KAN-2\n`, "'abc' is not a test ID."],
      ['-', '', 'Standard input was empty'],
      ['- KAN-1', input, 'A ticket cannot be used with `-`'],
      [id, '', 'No ticket was given.'],
    ])(
      '`flaky link %s` with the input %j is a usage error that sends nothing',
      async (words, input, said) => {
        expectUsageError(
          await mergeq(`flaky link ${words} -R acme/web`, {
            input,
            answer: () => ({}),
          }),
          said,
        )
      },
    )
  })
})
