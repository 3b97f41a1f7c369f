import { beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { liveSettings, settingsDigest } from '../../../src/commands/queue/shared/files/queue-file.ts'
import { type Answer, mergeq, openStory, type Seen, type Setting, type Story } from '../../support/harness.ts'
import {
  fileOfRepository,
  filesOf40Repositories,
  live,
  namesOf,
  queueThat,
  rowOf,
  rows,
  serve40Repositories,
  where,
  withFile,
  withoutSentences,
} from '../../support/queue-files.ts'

test.each(['both', 'hosted'] as const)(
  'export, change, diff, apply and apply again say the same in both dialects: %s',
  async dialect => {
    const story = await openStory({ dialect })
    const disk = new Map<string, string>()
    let golden = ''
    const say = async (line: string) => {
      const { code, out, err } = await story.mergeq(line, { disk })
      golden += `$ mergeq ${line}\n${out}${err.replaceAll(/^(?=.)/gm, '! ')}-> ${code}\n\n`
      return code
    }
    expect(await say('queue export')).toBe(0)
    expect(await say('queue export -f q.yaml')).toBe(0)
    expect(await say('queue diff -f q.yaml')).toBe(0)
    const changed = disk
      .get('q.yaml')
      ?.replace('batch: false', 'batch: true # by fours')
      .replace('concurrency: 1', 'concurrency: 3')
    disk.set('q.yaml', changed ?? '')
    expect(await say('queue diff -f q.yaml')).toBe(20)
    expect(await say('queue diff -f q.yaml --json')).toBe(20)
    expect(await say('queue apply -f q.yaml')).toBe(2)
    expect(await say('queue apply -f q.yaml --yes')).toBe(0)
    expect(await say('queue apply -f q.yaml --yes --json')).toBe(0)
    await expect(golden).toMatchFileSnapshot('../../golden/queue-code.txt')
  },
)

describe('a queue as code', () => {
  let story: Story
  beforeEach(async () => {
    story = await openStory({ dialect: 'hosted' })
  })

  test('a directory contains several queues; each is reported, and one digest covers all', async () => {
    const setting: Setting = {
      files: {
        'queues/main.yaml': 'targetBranch: main\nsettings: {concurrency: 2}',
        'queues/next.json': '{"targetBranch":"next","settings":{"concurrency":3}}',
        'queues/late.yml': 'targetBranch: late\nsettings: {requiredStatuses: [a], enqueueingLabel: go}',
        'queues/notes.txt': 'not a queue',
      },
    }
    expect((await story.mergeq('queue create -b late')).code).toBe(0)
    const diff = await story.mergeq('queue diff -f queues -v', setting)
    expect(diff.out).toBe(
      rows(
        'late\trequiredStatuses\tnull\t["a"]',
        'late\tenqueueingLabel\ttrunk-merge-queue-submit\tgo',
        'main\tconcurrency\t1\t2',
        'next\tconcurrency\tnull\t3',
      ),
    )
    const { queues } = JSON.parse((await story.mergeq('queue diff -f queues --json', setting)).out)
    expect(queues.map(({ exists }: JsonObject) => exists)).toEqual([true, true, false])
    const [, digest] = /digest of the live settings is ([0-9a-f]{16})\./.exec(diff.err) ?? []
    expect((await story.mergeq('queue update -b late --batch')).code).toBe(0)
    const stale = await story.mergeq(`queue apply -f queues/ --yes --if-match ${digest}`, setting)
    expect({ code: stale.code, out: stale.out }).toEqual({ code: 14, out: '' })
    const { code, out, err } = await story.mergeq('queue apply -f queues/ --yes --create', setting)
    expect({ code, out: withoutSentences(out) }).toEqual({
      code: 0,
      out: rows(
        'late\ttrue\tchanged\trequiredStatuses, enqueueingLabel',
        'main\ttrue\tchanged\tconcurrency, bisectionConcurrency',
        'next\ttrue\tcreated\tconcurrency',
      ),
    })
    expect(err).toContain('The queue for next of acme/web will be created.\n- concurrency 3\n')
    expect((await story.mergeq('queue diff -f queues -v', setting)).code).toBe(0)
  })

  test('null drops the override of required statuses; an empty list, which the service ignores, is reported', async () => {
    await story.mergeq('queue update --required-status ci')
    const empty = withFile('settings: {requiredStatuses: []}')
    const ignored = await story.mergeq('queue apply -f q.yaml --yes', empty)
    expect({ code: ignored.code, out: withoutSentences(ignored.out) }).toEqual({
      code: 20,
      out: rows('main\tfalse\terror\trequiredStatuses'),
    })
    expect(ignored.err).toMatch(
      /requiredStatuses is \["ci"\] instead of \[\]\.\n {2}.*To remove the override, write: requiredStatuses: null/,
    )
    const none = withFile('settings: {requiredStatuses: null}')
    expect((await story.mergeq('queue apply -f q.yaml --yes', none)).code).toBe(0)
    expect((await story.mergeq('queue diff -f q.yaml', none)).code).toBe(0)
    expect((await story.mergeq('queue diff -f q.yaml', empty)).code).toBe(0)
  })

  test('the state of the queue is included only with --include-state', async () => {
    const paused = withFile('settings: {state: paused, batch: false}')
    const without = await story.mergeq('queue diff -f q.yaml', paused)
    expect(without.code).toBe(0)
    expect(without.err).toContain('state is ignored; to include it, add --include-state.')
    expect((await story.mergeq('queue diff -f q.yaml --include-state', paused)).code).toBe(20)
    expect((await story.mergeq('queue apply -f q.yaml --yes --include-state', paused)).code).toBe(0)
    expect((await story.mergeq('queue export --include-state')).out).toContain('state: PAUSED')
    expect((await story.mergeq('queue export')).out).not.toContain('state:')
  })

  test('a setting that neither mergeq nor the live queue knows is refused with the nearest name', async () => {
    await story.mergeq('queue update --set futureThing=1')
    const before = (await story.mergeq('queue get --json')).out
    for (const [command, settings, unknown, hint] of [
      [
        'apply --yes -f q.yaml',
        '{Batching_Min_Size: 3}',
        'Batching_Min_Size',
        'Did you mean batchingMinSize?',
      ],
      ['diff -f q.yaml --set requiredStatus=[]', '{}', 'requiredStatus', 'Did you mean requiredStatuses?'],
      ['diff -f q.yaml', '{colour: red}', 'colour', 'queue export'],
      ['diff -f q.yaml', '{futurThing: 2}', 'futurThing', 'Did you mean futureThing?'],
    ] as const) {
      const { code, out, err } = await story.mergeq(`queue ${command}`, withFile(`settings: ${settings}`))
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toContain(`unknown queue setting '${unknown}'.`)
      expect(err).toContain(hint)
    }
    expect((await story.mergeq('queue get --json')).out).toBe(before)
  })

  test('on a terminal it shows the changes and asks; the answer no sends nothing', async () => {
    const setting = withFile('settings: {concurrency: 2}', { terminal: true, inputTerminal: true })
    const no = await story.mergeq('queue apply -f q.yaml', { ...setting, typed: ['n'] })
    expect(no.code).toBe(2)
    expect(no.err).toContain('- concurrency 1 -> 2\nApply these changes to 1 queue? [y/N]')
    const yes = await story.mergeq('queue apply -f q.yaml', { ...setting, typed: ['y'] })
    expect({ code: yes.code, out: yes.out }).toEqual({
      code: 0,
      out: 'Updated the queue for main of acme/web: concurrency, bisectionConcurrency.\n',
    })
    expect(yes.err).toMatch(/To undo this, run: mergeq queue update --concurrency 1\n$/)
    const again = await story.mergeq('queue apply -f q.yaml', setting)
    expect(again.out).toContain('is up to date.')
    expect(again.err).not.toContain('To undo')
  })
})

describe('when the live settings move', () => {
  test('--if-match sends nothing unless they are those of the digest', async () => {
    const setting = withFile('settings: {batch: true}', { answer: queueThat() })
    const apply = (digest: string) =>
      mergeq(`queue apply -f q.yaml --yes --if-match ${digest} ${where}`, setting)
    const { out } = await mergeq(`queue diff -f q.yaml --json ${where}`, setting)
    const { digest } = JSON.parse(out)
    expect(digest).toBe(await settingsDigest(liveSettings(live, false).settings))
    const other = await apply('0123456789abcdef')
    expect({ code: other.code, names: namesOf(other.requests) }).toEqual({ code: 14, names: ['getQueue'] })
    expect(other.err).toContain(`found ${digest}. Nothing was changed.`)
    expect((await apply(digest)).code).toBe(0)
    for (const bad of [`${digest}0`, digest.replace(/^\w/, 'G')]) expect((await apply(bad)).code).toBe(2)
  })

  test('a person confirms what was shown: settings that change during the prompt are stale', async () => {
    const answer = queueThat((operation, index, queue) =>
      operation === 'getQueue' && index === 1
        ? { body: JSON.stringify({ ...queue, mode: 'parallel' }) }
        : undefined,
    )
    const person = { answer, terminal: true, inputTerminal: true, typed: ['y'] }
    const setting = withFile('settings: {batch: true}', person)
    const { code, requests } = await mergeq(`queue apply -f q.yaml ${where}`, setting)
    expect({ code, names: namesOf(requests) }).toEqual({ code: 14, names: ['getQueue', 'getQueue'] })
  })
})

describe('what apply reports of a write', () => {
  const apply = (answer: (seen: Seen, index: number) => Answer, flags = '') =>
    mergeq(
      `queue apply -f q.yaml --yes --json ${where} ${flags}`,
      withFile('settings: {batch: true}', { answer }),
    )
  const unchanged = { body: JSON.stringify(live) }

  test('a change that shows late is waited for', async () => {
    const { code, sleeps } = await apply(
      queueThat((operation, index) => (operation === 'getQueue' && index < 4 ? unchanged : undefined)),
    )
    expect({ code, sleeps }).toEqual({ code: 0, sleeps: [2_000, 4_000] })
  })

  test.each([
    [
      'an accepted change that never shows ends with 20',
      queueThat(operation => (operation === 'getQueue' ? unchanged : undefined)),
      { exit: 20, delivery: 'confirmed', notApplied: ['batch'] },
      '"kind":"differs"',
    ],
    [
      'an accepted update that cannot be read back is an unknown outcome',
      queueThat((operation, index) => (operation === 'getQueue' && index > 0 ? { status: 503 } : undefined)),
      { exit: 11, delivery: 'unknown' },
      'mergeq queue diff -f q.yaml',
    ],
  ])('%s', async (_, answer, receipt, said) => {
    const { code, out, err } = await apply(answer)
    expect(JSON.parse(out)).toMatchObject({ ok: false, ...receipt })
    expect({ code, err }).toEqual({ code: receipt.exit, err: expect.stringContaining(said) })
  })

  test('a 404 with a web page does not mean that the queue is missing', async () => {
    const { code, requests } = await apply(() => ({ status: 404, body: '<!DOCTYPE html><title>No</title>' }))
    expect({ code, requests: requests.length }).toEqual({ code: 5, requests: 1 })
  })
})

describe('the settings of 40 repositories', () => {
  test('apply changes what it may, creates nothing unasked, and ends with the worst code', async () => {
    const without = serve40Repositories()
    const { code, out, err } = await mergeq('queue apply -f queues --yes', without)
    expect({ code, changes: without.changes }).toEqual({ code: 4, changes: ['r9'] })
    expect(out.split('\n')).toHaveLength(39)
    expect(withoutSentences(out)).toContain(rowOf('r9', 'true\tchanged\tbatch'))
    expect(err).toContain('The queue for main of acme/r8 does not exist.\n')
    const asked = serve40Repositories()
    expect(withoutSentences((await mergeq('queue apply -f queues --yes --create', asked)).out)).toContain(
      rowOf('r8', 'true\tcreated\tbatch'),
    )
    // Created, set while it is paused, and resumed.
    expect(asked.changes).toEqual(['r8', 'r8', 'r8', 'r9'])
  })

  test.each([
    [
      'a setting that nobody knows',
      '',
      { ...filesOf40Repositories, 'queues/z.yaml': fileOfRepository(50, 'settings: {colour: red}') },
      2,
    ],
    ['a digest of which a part is unknown', '--if-match 0123456789abcdef', filesOf40Repositories, 4],
  ])('%s changes nothing', async (_, flags, files, exit) => {
    const service = serve40Repositories()
    const { code, out, err } = await mergeq(`queue apply -f queues --yes ${flags}`, { ...service, files })
    expect({ code, out, changes: service.changes }).toEqual({ code: exit, out: '', changes: [] })
    expect(err).toContain('Nothing was changed, because not every queue could be compared.')
  })
})
