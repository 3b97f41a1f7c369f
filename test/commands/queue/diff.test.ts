import { describe, expect, test } from 'vitest'
import { mergeq, openStory, type Setting } from '../../support/harness.ts'
import {
  bodiesOf,
  filesOf40Repositories,
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
  await story.close()
  expect(out).toBe(`REPOSITORY  BRANCH  SETTING           LIVE  FILE
acme/web    main    batch             no    yes
acme/web    main    requiredStatuses  none  build, integration tests of the
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

describe('a file that is refused', () => {
  const latin1 = Buffer.from('settings: {enqueueingLabel: "\xe9"}', 'latin1')
  const twice = { 'd/a.yaml': 'settings: {}', 'd/b.yml': 'repo: ACME/web' }
  const set = 'diff -f q.yaml --set'
  test.each<readonly [line: string, files: NonNullable<Setting['files']>, message: string]>([
    ['diff', {}, 'No file was given.'],
    ['diff -f q.yaml', { 'q.yaml': latin1 }, 'q.yaml contains bytes that are not UTF-8.'],
    ['diff -f no.yaml', {}, 'no.yaml cannot be read: '],
    ['diff -f d', { 'd/readme.md': '' }, 'd contains no .yaml or .yml or .json file.'],
    ['diff -f d', twice, 'd/a.yaml and d/b.yml describe the same queue: main of ACME/web'],
    ['diff -f q.json', { 'q.json': 'settings: {} # none' }, 'q.json:1: invalid JSON.'],
    [`${set} a=1 --set a=2`, {}, '--set was given twice for a.'],
    [`${set} a.b=1`, {}, "'a.b=1' is not <setting>=<value>"],
    [`${set} branch=x`, {}, '--set: branch: this setting is read-only'],
    [`${set} 'a={"b":1e400}'`, {}, 'the number 1e400 cannot be represented exactly.'],
  ])('`queue %s` is a usage error that sends nothing', async (line, files, message) => {
    const setting = { files: { 'q.yaml': 'settings: {}', ...files }, answer: queueThat() }
    const { code, err, requests } = await mergeq(`queue ${line} ${where}`, setting)
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toContain(message)
  })

  test('standard input is a file, too', async () => {
    const setting = { input: 'settings: {batch: true}', answer: queueThat() }
    expect((await mergeq(`queue diff -f - ${where}`, setting)).out).toBe(rows('main\tbatch\tfalse\ttrue'))
    const { err } = await mergeq(`queue diff -f - ${where}`, { ...setting, input: 'a: b' })
    expect(err).toContain("standard input:1: unknown key 'a'.")
  })
})
