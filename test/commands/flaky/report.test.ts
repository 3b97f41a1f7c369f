import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { failing, pages } from '../../support/flaky-list.ts'
import { mergeq, openStory, type Setting } from '../../support/harness.ts'

const inCi = { GITHUB_ACTIONS: 'true', CI: 'true' }

const report = (flags: string, answer: ReturnType<typeof pages>, setting: Setting = {}) =>
  mergeq(`flaky report -R acme/web --org acme --retries 0 ${flags}`, { answer, ...setting })

const rowsOf = (text: string) =>
  text
    .split('\n')
    .filter(line => line.startsWith('| '))
    .slice(2)

test('a report of the sandbox in every format', async () => {
  const story = await openStory({ dialect: 'hosted' })
  let golden = ''
  for (const line of [
    'flaky report --since 7d --limit 5 --owner @acme/web',
    'flaky report --format github --limit 3 --no-quarantined',
    'flaky report --name none*',
  ]) {
    const { code, out, err } = await story.mergeq(line)
    golden += `$ mergeq ${line}\n${out}${err.replaceAll(/^(?=.)/gm, '! ')}-> ${code}\n\n`
  }
  await expect(golden).toMatchFileSnapshot('../../golden/flaky-report.txt')
})

describe('Markdown', () => {
  test('the worst first, by impact and then by rate; owners, quarantine, status and links', async () => {
    const { code, out } = await report(
      '',
      pages([
        failing(1, { codeowners: [], html_url: null, status: { reason: 'since May' } }),
        failing(2, { failure_rate_last_7d: 0.1, variant: 'chromium', quarantined: true }),
        failing(3, {
          pull_requests_impacted_last_7d: 2,
          ticket: { html_url: 'https://tickets.example/WEB-7' },
        }),
      ]),
    )
    expect({ code, rows: rowsOf(out) }).toEqual({
      code: 0,
      rows: [
        '| [test 3](https://app.example/acme/3) | flaky | 50% | 2 | no | @\u200Cacme/web | [WEB-7](https://tickets.example/WEB-7) |',
        '| [test 2 (chromium)](https://app.example/acme/2) | flaky | 10% | 2 | yes | @\u200Cacme/web | - |',
        '| test 1 | since May | 50% | 1 | no | - | - |',
      ],
    })
  })

  test.each([
    ['a | b', 'a \\| b'],
    ['::error::x', ':\\:error:\\:x'],
    ['##vso[task.x]', '\\#\\#vso\\[task.x\\]'],
    ['a\n| b | c |', 'a \\| b \\| c \\|'],
  ])('the name %j stays text in its cell, in CI too', async (name, cell) => {
    const answer = pages([failing(1, { name, html_url: 'javascript:alert(1)' })])
    for (const env of [{}, inCi])
      expect(rowsOf((await report('', answer, { env })).out)).toEqual([
        `| ${cell} | flaky | 50% | 1 | no | @\u200Cacme/web | - |`,
      ])
  })

  test.each([
    ['https://x.example/a b(c)|d', 'https://x.example/a%20b%28c%29%7Cd'],
    ['https://x.example/::error::', 'https://x.example/%3A:error%3A:'],
    ['https://x.example/<script>', 'https://x.example/%3Cscript%3E'],
    ['https://x.example/?a=&lt;', 'https://x.example/?a=&lt%3B'],
  ])('the address %j cannot end its link', async (html_url, shown) => {
    const { out } = await report('', pages([failing(1, { html_url })]), { env: inCi })
    expect(rowsOf(out)[0]).toMatch(/^\| \[test 1\]\(/)
    expect(rowsOf(out)[0]).toContain(`](${shown}) |`)
  })
})

test('--by owner writes a section for each owner, limits each, and says how many more tests of it there are', async () => {
  const tests = [['@acme/web'], [], ['@acme/web', '@acme/api'], ['@acme/web']]
  const answer = pages(tests.map((codeowners, index) => failing(index, { codeowners })))
  const sections = async (flags: string) =>
    (await report(`--by owner ${flags}`, answer)).out.match(/#### .*|test \d|.*more test.*|To list.*/g)
  const [api, web] = ['#### @\u200Cacme/api', '#### @\u200Cacme/web']
  const none = ['#### No owner', 'test 1']
  expect(await sections('')).toEqual([web, 'test 3', 'test 2', 'test 0', api, 'test 2', ...none])
  expect(await sections('--limit 1')).toEqual([
    web,
    'test 3',
    '2 more tests are not shown.',
    api,
    'test 2',
    ...none,
    'To list all tests, run `mergeq flaky list --repo acme/web --org acme`.',
  ])
  expect((await report('--by owner --format github', answer)).code).toBe(2)
})

describe('CSV', () => {
  const cells = (out: string) => out.split('\r\n').map(line => line.split(',').slice(0, 2))

  test('has all tests in the order of the report, and with --limit the first', async () => {
    const { code, out } = await report('-o csv', pages(many(120)))
    expect(code).toBe(0)
    expect(cells(out).slice(0, 3)).toEqual([
      ['name', 'status'],
      ['test 119', 'flaky'],
      ['test 118', 'flaky'],
    ])
    expect(cells(out)).toHaveLength(122)
    expect(cells((await report('-o csv --limit 2', pages(many(120)))).out)).toHaveLength(4)
  })

  test('has a row for each owner of a test with --by owner, the owner before its test', async () => {
    const tests = [['@acme/web', '@acme/api'], [], ['@acme/api']]
    const answer = pages(tests.map((codeowners, index) => failing(index, { codeowners })))
    const { out } = await report('-o csv --by owner --limit 1', answer)
    expect(cells(out)).toEqual([
      ['owner', 'name'],
      [`"'@acme/api"`, 'test 2'],
      ['No owner', 'test 1'],
      [`"'@acme/web"`, 'test 0'],
      [''],
    ])
  })
})

test.each([
  ['', 'out'],
  ['--format github', 'out'],
  ['-o csv', 'err'],
] as const)('a report with --until says that its rates are of today: %s', async (flags, stream) => {
  const note = /rates and pull requests are those of today, not of this range/
  const answer = pages([failing(1)])
  expect((await report(`${flags} --since 9d --until 3d`, answer))[stream]).toMatch(note)
  const now = await report(`${flags} --since 6d`, answer)
  expect(`${now.out}${now.err}`).not.toMatch(note)
})

const many = (length: number) => Array.from({ length }, (_, index) => failing(index))

test('Markdown shows 100 tests, and says how many more there are', async () => {
  const { out } = await report('', pages(many(101)))
  expect(rowsOf(out)).toHaveLength(100)
  expect(out).toMatch(
    /\n1 more test is not shown\. To list all tests, run `mergeq flaky list --repo acme\/web --org acme`\.\n$/,
  )
})

describe('annotations', () => {
  const annotated = (test: JsonObject, setting: Setting = { env: inCi }) =>
    report('--format github', pages([test]), setting)

  test('a line for each test, also on a terminal inside a CI job, which makes other output harmless', async () => {
    const ticket = { html_url: 'https://tickets.example/WEB-7' }
    const setting = { env: inCi, terminal: true }
    const { code, out } = await annotated(
      failing(1, { ticket, quarantined: true, file_path: 'web/a,\u001B[31mb%.ts\n' }),
      setting,
    )
    expect({ code, out }).toEqual({
      code: 0,
      out: '::warning file=web/a%2Cb%25.ts,title=Failing test%3A test 1::flaky; failure rate over 7 days 50%25; pull requests impacted 1; quarantined; owned by @acme/web; https://app.example/acme/1; https://tickets.example/WEB-7\n',
    })
  })

  test.each([
    ['a name with a command', { name: '\n::error::pwned' }],
    ['a name that ends its properties', { name: 'x::y' }],
    ['a name with another property', { name: 'x,file=secret.ts' }],
    ['a name that was escaped before', { name: 'x%0A::error::y' }],
    ['a file that ends its properties', { file_path: 'a,title=b::c\r\n::error::d' }],
    ['an owner', { codeowners: ['##vso[task.setvariable]x', '##[error]y', '##teamcity[z]'] }],
    ['a status with a line', { status: { value: 'a\u2028::stop-commands::b' } }],
    ['a link with a command', { html_url: 'https://x.example/\n::set-output name=a::b' }],
  ])('%s makes no command of its own', async (_, more) => {
    const { out } = await annotated(failing(1, more))
    expect(out.match(/\n/g)).toHaveLength(1)
    expect(out).toMatch(/^::warning (file=[^:,]*,)?title=[^:,]*::/)
    expect(out).not.toMatch(/##(\[|vso\[|teamcity\[)/)
    expect(out.replace(/^::warning [^:]*::/, '')).not.toMatch(/::[\w-]+( [^\n]*?)?::/)
  })

  test('ten are shown, as GitHub does, and a notice says how many more there are', async () => {
    const { out } = await report('--format github', pages(many(12)))
    expect(out.match(/^::warning /gm)).toHaveLength(10)
    expect(out).toMatch(
      /::notice title=Failing tests::2 more tests are not shown\. To list all tests, run `mergeq flaky list --repo acme\/web --org acme`\.\n$/,
    )
  })
})

describe('what a report refuses', () => {
  const asJson = 'flaky list --json'
  test.each([
    ['--json', asJson],
    ['--format json', asJson],
    ['--format html', '--format'],
    ['--fields name', ''],
    ['-o tsv', '--output'],
    ['--format github -o csv', '--format'],
    ['--format github -o markdown', ''],
  ])('%s is a usage error that names %j, and nothing is sent', async (flags, name) => {
    expectUsageError(await report(flags, pages([])), name)
  })

  test('MERGEQ_OUTPUT is ignored', async () => {
    const { out } = await report('', pages([failing(1)]), { env: { MERGEQ_OUTPUT: 'json' } })
    expect(out).toMatch(/^### 1 failing test,/)
  })

  test.each([
    ['markdown', 500, 17],
    ['github', 401, 4],
  ])('%s says that it is incomplete if a page fails with %i: exit %i', async (format, status, exit) => {
    const { code, out, err } = await report(`--format ${format}`, pages([failing(1)], status))
    expect(code).toBe(exit)
    expect(out).toContain('test 1')
    expect(out).toMatch(/The list is incomplete/)
    expect(err).toMatch(/The list is incomplete/)
  })
})
