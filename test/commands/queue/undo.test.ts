import { beforeEach, describe, expect, test } from 'vitest'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, openStory, type Setting, type Story } from '../../support/harness.ts'
import { bodiesOf, live, queueThat, where, withFile } from '../../support/queue-files.ts'

const change = withFile('settings: {concurrency: 7, batch: true, requiredStatuses: [ci]}')
const undo = 'queue apply -f before.json --yes'

describe('queue apply --record', () => {
  let story: Story
  beforeEach(async () => {
    story = await openStory({ dialect: 'hosted' })
  })

  const settings = async () => {
    const { out } = await story.mergeq('queue export --json')
    return JSON.parse(out).settings
  }

  test('writes every setting of before, which queue apply sets again, whatever the defaults are', async () => {
    const disk = new Map([['defaults.yaml', 'settings: {commentsEnabled: false, concurrency: 2}']])
    const before = await settings()
    const applied = await story.mergeq('queue apply -f q.yaml --yes --record before.json', {
      ...change,
      disk,
    })
    expect(applied.code, applied.err).toBe(0)
    expect(await settings()).not.toEqual(before)
    const [record] = JSON.parse(disk.get('before.json') ?? '')
    expect(record).toEqual({
      repo: 'github.com/acme/web',
      targetBranch: 'main',
      defaults: false,
      settings: before,
    })
    const undone = await story.mergeq(undo, { disk })
    expect({ code: undone.code, settings: await settings() }).toEqual({ code: 0, settings: before })
    expect((await story.mergeq(undo, { disk })).out).toContain('\tunchanged\t')
  })

  test('does not undo the creation of a queue, and names it both times', async () => {
    const disk = new Map([
      ['q/next.yaml', 'repo: acme/web\ntargetBranch: next\nsettings: {concurrency: 2}\n'],
    ])
    const line = 'queue apply -f q --yes --create --record before.json'
    const applied = await story.mergeq(line, { disk })
    expect(applied.err).toContain('before.json does not undo the creation of: next of acme/web.\n')
    const undone = await story.mergeq(undo, { disk })
    expect({ code: undone.code, out: undone.out }).toEqual({ code: 0, out: '' })
    expect(undone.err).toContain('The queue for next of acme/web did not exist when before.json was written.')
    expect((await story.mergeq('queue get -b next')).code).toBe(0)
  })

  test('says on a terminal how to undo', async () => {
    const disk = new Map<string, string>()
    const { err } = await story.mergeq('queue apply -f q.yaml --yes --record before.json', {
      ...change,
      disk,
      terminal: true,
    })
    expect(err).toContain('To undo the changes, run: mergeq queue apply -f before.json\n')
  })
})

describe('the file of a record', () => {
  const run = (flags: string, setting: Setting = {}) =>
    mergeq(`queue apply -f q.yaml --record before.json ${where} ${flags}`, {
      ...change,
      disk: new Map(),
      answer: queueThat(),
      ...setting,
    })
  const earlier = (rows: string) => new Map([['before.json', rows]])

  test('keeps queues that this command does not change', async () => {
    const row = {
      repo: 'github.com/acme/api',
      targetBranch: 'main',
      defaults: false,
      settings: { concurrency: 1 },
    }
    const disk = earlier(JSON.stringify([row]))
    expect((await run('--yes', { disk })).code).toBe(0)
    const rows = JSON.parse(disk.get('before.json') ?? '')
    expect(rows.map(({ repo }: { repo: string }) => repo)).toEqual([
      'github.com/acme/api',
      'github.com/acme/web',
    ])
    expect(rows[0]).toEqual(row)
  })

  test('leaves out what cannot be set again, and says so', async () => {
    let isChanged = false
    const disk = new Map<string, string>()
    const { err } = await run('--yes', {
      ...withFile('settings: {batchingMaxWaitTimeMinutes: 5}'),
      disk,
      answer: queueThat(operation => {
        isChanged ||= operation === 'updateQueue'
        if (operation !== 'getQueue' || isChanged) return undefined
        return { body: JSON.stringify({ ...live, batchingMaxWaitTimeMinutes: 0 }) }
      }),
    })
    expect(JSON.parse(disk.get('before.json') ?? '')[0].settings).not.toHaveProperty(
      'batchingMaxWaitTimeMinutes',
    )
    expect(err).toContain(
      'before.json cannot undo all changes of main of acme/web: the earlier values of batchingMaxWaitTimeMinutes cannot be set.',
    )
  })

  test('nothing is written where nothing changes, or in a dry run', async () => {
    const disk = new Map<string, string>()
    const same = await run('--yes', { ...withFile('settings: {concurrency: 1}'), disk })
    expect(same.err).toContain('Nothing changes: before.json was not written.')
    await run('--dry-run', { disk })
    expect(disk.size).toBe(0)
  })
})

describe('queue export --for', () => {
  const answer = queueThat()

  test('writes the settings of the queue as a file for another branch, which queue apply creates', async () => {
    const exported = await mergeq(`queue export ${where} --for release-2.x`, { answer })
    expect(exported.out).toContain('repo: github.com/acme/web\ntargetBranch: release-2.x\nsettings:\n')
    expect(bodiesOf(exported.requests, 'getQueue')).toMatchObject([{ targetBranch: 'main' }])
    const story = await openStory()
    await story.mergeq('queue update --concurrency 6')
    const { out } = await story.mergeq('queue export --for release-2.x')
    const applied = await story.mergeq('queue apply -f - --create --yes', { input: out })
    expect(applied.code, applied.err).toBe(0)
    expect((await story.mergeq('queue get -b release-2.x --fields concurrency')).out).toBe('6\n')
  })

  test.each([
    ['--for x --all -f q', {}, '--all and --for cannot be used together.'],
    ['--for x -f q.yaml', { 'q.yaml': 'targetBranch: y\n' }, '--for is x, but q.yaml is for y.'],
  ])('%s is exit 2', async (flags, files, says) => {
    const { code, err } = await mergeq(`queue export ${where} ${flags}`, { files, answer })
    expect({ code, says: err.includes(says) }).toEqual({ code: 2, says: true })
  })
})

describe('queue diff --offline', () => {
  const offline = (files: Setting['files'], flags = '') =>
    mergeq(`queue diff -f q --offline ${flags}`, {
      files: files ?? {},
      env: { MERGEQ_TOKEN: undefined },
      answer: () => ({ status: 500 }),
    })
  const good = 'repo: acme/web\ntargetBranch: main\nsettings: {concurrency: 3}\n'

  test('checks files without a token and without a request', async () => {
    const { code, out, err, requests } = await offline({ 'q/a.yaml': good })
    expect({ code, out, err, requests }).toEqual({
      code: 0,
      out: '',
      err: '1 queue file is valid. No queue was read.\n',
      requests: [],
    })
    expect(JSON.parse((await offline({ 'q/a.yaml': good }, '--json')).out)).toEqual({
      same: null,
      digest: null,
      queues: [{ repo: 'github.com/acme/web', targetBranch: 'main', file: 'q/a.yaml' }],
      changes: [],
    })
  })

  test.each([
    ['a wrong value', { 'q/a.yaml': `${good.replace('3', 'many')}` }, 'q/a.yaml:3: concurrency: '],
    [
      'a misspelt setting',
      { 'q/a.yaml': good.replace('concurrency', 'concurency') },
      "unknown queue setting 'concurency'",
    ],
    ['a wrong flag', { 'q/a.yaml': `${good}defaults: 7\n` }, 'q/a.yaml:4: defaults must be true or false.'],
    [
      'a wrong item of a list',
      { 'q/a.yaml': `- repo: acme/web\n- 7\n` },
      'q/a.yaml:2: a queue file must be a mapping.',
    ],
  ])('%s is exit 2', async (_, files, says) => {
    expectUsageError(await offline(files), says)
  })

  test('a setting that only the service may know is a warning', async () => {
    const { code, err } = await offline({ 'q/a.yaml': good.replace('concurrency', 'brandNewThing') })
    expect(code).toBe(0)
    expect(err).toContain(
      "unknown queue setting 'brandNewThing'. Only the live queue says whether the service knows it.",
    )
  })
})
