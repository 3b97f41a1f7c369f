import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, openStory, type Setting } from '../../support/harness.ts'
import {
  bodiesOf,
  filesOf40Repositories,
  live,
  queueThat,
  rowOf,
  rows,
  serve40Repositories,
  where,
  withFile,
} from '../../support/queue-files.ts'

test('on a terminal the differences are in words, and long values wrap', async () => {
  const story = await openStory({ dialect: 'hosted' })
  const names = ['build', 'integration tests of the checkout (ubuntu-latest)', 'lint']
  const text = `settings: {batch: true, requiredStatuses: ${JSON.stringify(names)}}`
  const terminal = { terminal: true, columns: 80, env: { NO_COLOR: '1' } }
  const { out } = await story.mergeq('queue diff -f q.yaml', withFile(text, terminal))
  expect(out).toBe(`REPOSITORY  BRANCH  SETTING            LIVE  FILE
acme/web    main    batch              no    yes
acme/web    main    required-statuses  none  build, integration tests of the
                                             checkout (ubuntu-latest), lint
`)
})

test('the queue that the file names overrides the environment, and an option must not contradict it', async () => {
  const diff = (flags: string, env = {}) => {
    const text = 'repo: acme/api\ntargetBranch: next\nsettings: {}'
    return mergeq(`queue diff -f q.yaml ${flags}`, withFile(text, { answer: queueThat(), env }))
  }
  const { requests } = await diff('', { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' })
  expect(bodiesOf(requests, 'getQueue')).toMatchObject([{ repo: { name: 'api' }, targetBranch: 'next' }])
  expect((await diff('-v')).err).not.toContain('(--repo)')
  expect((await diff('-R github.com/acme/api -b next')).code).toBe(0)
  for (const flag of ['-R acme/web', '-b main']) {
    const { code, err } = await diff(flag)
    expect(code).toBe(2)
    expect(err).toMatch(/is (acme\/web|main), but q\.yaml is for (acme\/api|next)/)
  }
})

test('diff has a row for each difference and an error for each queue that failed', async () => {
  const { code, out, err, requests } = await mergeq('queue diff -f queues', serve40Repositories())
  expect({ code, out, requests: requests.length }).toEqual({
    code: 4,
    out: rowOf('r8', 'batch\tnull\tfalse') + rowOf('r9', 'batch\ttrue\tfalse'),
    requests: 40,
  })
  expect(err).toMatch(/\nmergeq: .* denied access .*\(main of acme\/r7\)\.\n/)
  const { same, digest, queues } = JSON.parse(
    (await mergeq('queue diff -f queues --json', serve40Repositories())).out,
  )
  expect({ same, digest, length: queues.length }).toEqual({ same: false, digest: null, length: 40 })
  expect(queues.at(-1)).toMatchObject({ repo: 'github.com/acme/r7', targetBranch: 'main', exit: 4 })
  const { 'queues/r07.yaml': _, ...others } = filesOf40Repositories
  expect((await mergeq('queue diff -f queues', { ...serve40Repositories(), files: others })).code).toBe(20)
  const csv = (await mergeq('queue diff -f queues -o csv', serve40Repositories())).out.split('\r\n')
  expect(csv.slice(0, 2)).toEqual([
    'repository,branch,setting,live,file',
    'github.com/acme/r8,main,batch,null,false',
  ])
})

test.each(['', '-o csv', '--json'])(
  'diff prints only errors where no queue could be read: %s',
  async format => {
    const { 'queues/r07.yaml': first = '' } = filesOf40Repositories
    const files = { 'q/a.yaml': first, 'q/b.yaml': first.replace('main', 'next') }
    const { code, out, err } = await mergeq(`queue diff -f q ${format}`, { ...serve40Repositories(), files })
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(err.match(/\((?:main|next) of acme\/r7\)/g)).toHaveLength(2)
  },
)

describe('a file that is refused', () => {
  const latin1 = Buffer.from('settings: {enqueueingLabel: "\xe9"}', 'latin1')
  const twice = { 'd/a.yaml': 'settings: {}', 'd/b.yml': 'repo: ACME/web' }
  const set = 'diff -f q.yaml --set'
  test.each<readonly [line: string, files: NonNullable<Setting['files']>, message: string]>([
    ['diff', {}, 'No file was given.'],
    ['diff -f q.yaml', { 'q.yaml': latin1 }, 'q.yaml contains bytes that are not UTF-8.'],
    ['diff -f no.yaml', {}, 'no.yaml cannot be read: '],
    ['diff -f d', { 'd/defaults.yaml': 'settings: {}' }, 'd has defaults, but no queue file.'],
    ['diff -f d', { 'd/readme.md': '' }, 'd contains no .yaml or .yml or .json file.'],
    ['diff -f d', twice, 'd/a.yaml and d/b.yml describe the same queue: main of ACME/web'],
    ['diff -f q.json', { 'q.json': 'settings: {} # none' }, 'q.json:1: invalid JSON.'],
    [`${set} a=1 --set a=2`, {}, '--set was given twice for a.'],
    [`${set} a.b=1`, {}, "'a.b=1' is not <setting>=<value>"],
    [`${set} branch=x`, {}, '--set: branch: this setting is read-only'],
    [`${set} 'a={"b":1e400}'`, {}, 'the number 1e400 cannot be represented exactly.'],
  ])('`queue %s` is a usage error that sends nothing', async (line, files, message) => {
    const setting = { files: { 'q.yaml': 'settings: {}', ...files }, answer: queueThat() }
    expectUsageError(await mergeq(`queue ${line} ${where}`, setting), message)
  })

  test('standard input is a file, too', async () => {
    const setting = { input: 'settings: {batch: true}', answer: queueThat() }
    expect((await mergeq(`queue diff -f - ${where}`, setting)).out).toBe(rows('main\tbatch\tfalse\ttrue'))
    const { err } = await mergeq(`queue diff -f - ${where}`, { ...setting, input: 'a: b' })
    expect(err).toContain("standard input:1: unknown key 'a'.")
  })
})

describe('the settings of a folder', () => {
  const diff = (files: NonNullable<Setting['files']>, flags = '-f q', answer = queueThat()) =>
    mergeq(`queue diff ${flags}`, { files, answer, env: { MERGEQ_REPO: 'acme/web' } })
  const fileOf = (branch: string, settings = '{}') => `targetBranch: ${branch}\nsettings: ${settings}`

  test('the nearest defaults give what a file lacks', async () => {
    const files = {
      'q/defaults.yaml': 'settings: {batch: true, concurrency: 2}',
      'q/a.yaml': fileOf('a', '{concurrency: 1}'),
      'q/deep/defaults.json': '{"settings":{"mode":"parallel"}}',
      'q/deep/er/b.yaml': fileOf('b'),
    }
    const expected = rows('a\tbatch\tfalse\ttrue', 'b\tmode\tsingle\tparallel')
    expect((await diff(files)).out).toBe(expected)
    // Outside a checkout, only directories below the one that was typed count.
    expect((await diff(files, '-f q/deep/er')).out).toBe('')
    const checkout = { ...files, '/repo/.git': '' }
    expect((await diff(checkout, '-f q/deep/er/b.yaml')).out).toBe(rows('b\tmode\tsingle\tparallel'))
  })

  test.each<readonly [defaults: string, message: string]>([
    ['repo: acme/web', 'q/defaults.yaml must not name a queue.'],
    ['settings: {colour: red}', "q/defaults.yaml: unknown queue setting 'colour'."],
  ])('defaults with %s are refused', async (defaults, message) => {
    const { code, err } = await diff({ 'q/defaults.yaml': defaults, 'q/a.yaml': fileOf('a') })
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) })
  })

  test.each([
    ['defaults.yml', 'defaults.yaml', '-f q'],
    ['Defaults.yaml', 'defaults.yaml', '-f q'],
    ['DEFAULTS.JSON', 'defaults.json', '-f q'],
    ['defaults.yml', 'defaults.yaml', '-f q/defaults.yml'],
    // It is not among the files that are read, but would give them settings.
    ['defaults.yml', 'defaults.yaml', '-f q/a.yaml'],
    ['Defaults.json', 'defaults.json', '-f q/a.yaml'],
  ])('%s is no queue file, but refused with the name %s: %s', async (name, rightName, flags) => {
    const files = { [`q/${name}`]: 'settings: {batch: true}', 'q/a.yaml': fileOf('a') }
    expectUsageError(
      await diff(files, flags),
      `q/${name} is no queue file, and defaults must be called ${rightName}.`,
    )
  })
})

describe('queue diff --strict', () => {
  const metrics = ['acme/web" main', 'acme/web" next', 'acme/api" main']
    .map(text => `mq_depth_current{repo="${text.replace(' ', ',branch="')}"} 1\n`)
    .join('')
  const diff = (flags: string) =>
    mergeq(`queue diff -f q.yaml --strict ${flags}`, {
      files: { 'q.yaml': 'repo: ACME/web\ntargetBranch: main\nsettings: {}' },
      answer: ({ path }) => ({ body: path.includes('Metrics') ? metrics : JSON.stringify(live) }),
    })

  test('reports queues of the repositories of the files that no file describes', async () => {
    const { code, out, err } = await diff('')
    expect({ code, out }).toEqual({ code: 20, out: rows('next\t\texists\tnull') })
    expect(err).toContain('The queue for next of acme/web has no file.\n')
    const json = JSON.parse((await diff('--json')).out)
    expect({ same: json.same, queues: json.queues.length }).toEqual({ same: false, queues: 2 })
  })

  test('with --all-repos also those of other repositories', async () => {
    expect((await diff('--all-repos')).out.match(/^.*$/gm)?.slice(0, 2)).toEqual([
      'github.com/acme/web\tnext\t\texists\tnull',
      'github.com/acme/api\tmain\t\texists\tnull',
    ])
    expect((await diff('--all-repos -R acme/web')).code).toBe(2)
  })
})

describe('queue diff --with-branch', () => {
  const diff = (flags: string, setting: Setting = {}) =>
    mergeq(`queue diff ${flags} -R acme/web`, {
      answer({ body }) {
        if (body.includes('gone')) return { status: 404, body: 'no such queue' }
        const others = body.includes('next') ? { concurrency: 3 } : { enqueueingLabel: 'go' }
        return { body: JSON.stringify({ ...live, ...others }) }
      },
      ...setting,
    })

  test('compares two live queues', async () => {
    const { code, out } = await diff('-b main --with-branch next')
    expect({ code, out }).toEqual({
      code: 20,
      out: rows('main\tconcurrency\t1\t3', 'main\tenqueueingLabel\tgo\tnull'),
    })
    expect((await diff('-b main --with-branch dev')).code).toBe(0)
    const { out: screen } = await diff('-b main --with-branch next', {
      terminal: true,
      env: { NO_COLOR: '1' },
    })
    expect(screen).toMatch(/^REPOSITORY +SETTING +main +next\nacme\/web +concurrency +1 +3\n/)
  })

  test.each<readonly [flags: string, code: number]>([
    ['-b main --with-branch gone', 5],
    ['-b gone --with-branch main', 5],
    ['-b main --with-branch next -f q.yaml', 2],
    ['-b main --with-branch next --strict', 2],
    ['-f q.yaml --all-repos', 2],
    ['-f q.yaml --offline --strict', 2],
    ['-b main --with-branch next --offline', 2],
  ])('%s ends with %i', async (flags, exit) => {
    expect((await diff(flags)).code).toBe(exit)
  })
})
