import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writeYaml } from '../../../src/commands/queue/yaml.ts'
import { liveSettings, settingsDigest } from '../../../src/domain/queue-file.ts'
import { files } from '../../../src/host/files.ts'
import type { JsonObject } from '../../../src/json.ts'
import { type Answer, mergeq, openStory, type Seen, type Setting, type Story } from '../../support/harness.ts'
import { testOnPosix } from '../../support/programs.ts'
import { asJsonObject, someSettings } from '../../support/queue-settings.ts'

/** The rows of queues of acme/web. */
const rows = (...texts: readonly string[]): string =>
  texts.map(text => `github.com/acme/web\t${text}\n`).join('')

const withFile = (text: string, more: Setting = {}): Setting => ({ files: { 'q.yaml': text }, ...more })

test.each(['document', 'hosted'] as const)(
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
    await story.close()
    await expect(golden).toMatchFileSnapshot('../../golden/queue-code.txt')
  },
)

describe('a queue as code', () => {
  let story: Story
  beforeEach(async () => {
    story = await openStory({ dialect: 'hosted' })
  })
  afterEach(() => story.close())

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
    const diff = await story.mergeq('queue diff -f queues', setting)
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
    const applied = await story.mergeq('queue apply -f queues/ --yes', setting)
    const updated = [
      'late\ttrue\tupdated\trequiredStatuses, enqueueingLabel',
      'main\ttrue\tupdated\tconcurrency, bisectionConcurrency',
    ]
    expect({ code: applied.code, out: applied.out }).toEqual({ code: 5, out: rows(...updated) })
    expect(applied.err).toContain('The queue for next of acme/web does not exist.\n')
    const created = await story.mergeq('queue apply -f queues/ --yes --create', setting)
    const unchanged = ['late\ttrue\tunchanged\t', 'main\ttrue\tunchanged\t']
    expect({ code: created.code, out: created.out }).toEqual({
      code: 0,
      out: rows(...unchanged, 'next\ttrue\tcreated\tconcurrency'),
    })
    expect(created.err).toContain('The queue for next of acme/web will be created.\n- concurrency: 3\n')
    expect((await story.mergeq('queue diff -f queues', setting)).code).toBe(0)
  })

  test('null drops the override of required statuses; an empty list, which the service ignores, is reported', async () => {
    await story.mergeq('queue update --required-status ci')
    const empty = withFile('settings: {requiredStatuses: []}')
    const ignored = await story.mergeq('queue apply -f q.yaml --yes', empty)
    expect({ code: ignored.code, out: ignored.out }).toEqual({
      code: 20,
      out: rows('main\tfalse\tupdated\trequiredStatuses'),
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

  test('on a terminal the differences are in words, and long values wrap', async () => {
    const names = ['build', 'integration tests of the checkout (ubuntu-latest)', 'lint']
    const text = `settings: {batch: true, requiredStatuses: ${JSON.stringify(names)}}`
    const terminal = { terminal: true, columns: 80, env: { NO_COLOR: '1' } }
    const { out } = await story.mergeq('queue diff -f q.yaml', withFile(text, terminal))
    expect(out).toBe(`REPOSITORY  BRANCH  SETTING           LIVE  FILE
acme/web    main    batch             no    yes
acme/web    main    requiredStatuses  none  build, integration tests of the
                                            checkout (ubuntu-latest), lint
`)
  })

  test('on a terminal it shows the changes and asks; the answer no sends nothing', async () => {
    const setting = withFile('settings: {concurrency: 2}', { terminal: true, inputTerminal: true })
    const no = await story.mergeq('queue apply -f q.yaml', { ...setting, typed: ['n'] })
    expect(no.code).toBe(2)
    expect(no.err).toContain('- concurrency: 1 -> 2\nApply these changes to 1 queue? [y/N]')
    const yes = await story.mergeq('queue apply -f q.yaml', { ...setting, typed: ['y'] })
    expect({ code: yes.code, out: yes.out }).toEqual({
      code: 0,
      out: 'Updated the queue for main of acme/web: concurrency, bisectionConcurrency.\n',
    })
    expect((await story.mergeq('queue apply -f q.yaml', setting)).out).toContain('is up to date.')
  })

  test('after apply, diff is empty and apply sends nothing; after export, diff is empty', async () => {
    // A setting that mergeq does not know can be applied if the live queue has it.
    await story.mergeq('queue update --set futureThing=1')
    await fc.assert(
      fc.asyncProperty(someSettings, fc.boolean(), async (settings, isJson) => {
        const name = isJson ? 'q.json' : 'q.yaml'
        const text = isJson ? JSON.stringify({ settings }) : writeYaml({ settings: asJsonObject(settings) })
        const disk = new Map([[name, text]])
        const applied = await story.mergeq(`queue apply -f ${name} --yes`, { disk })
        expect(applied.code, applied.err).toBe(0)
        expect((await story.mergeq(`queue diff -f ${name}`, { disk })).code).toBe(0)
        const again = await story.mergeq(`queue apply -f ${name} --yes`, { disk })
        expect(again.out).toBe(rows('main\ttrue\tunchanged\t'))
        expect((await story.mergeq(`queue export -f ${name}`, { disk })).code).toBe(0)
        expect((await story.mergeq(`queue diff -f ${name}`, { disk })).code).toBe(0)
      }),
      { numRuns: 15 },
    )
  })
})

const live: JsonObject = {
  state: 'running',
  branch: 'main',
  mode: 'single',
  concurrency: 1,
  batch: false,
  requiredStatuses: [],
  allowedBotSubmitters: ['bot'],
  batchingRules: [],
  enqueuedPullRequests: [],
}
const where = '-R acme/web -b main'
const bodiesOf = (requests: readonly Seen[], operation: string): readonly JsonObject[] =>
  requests.filter(({ path }) => path.endsWith(`/${operation}`)).map(({ body }) => JSON.parse(body))
const namesOf = (requests: readonly Seen[]) => requests.map(({ path }) => path.split('/').at(-1))

/** A queue that takes updates; `answer` may answer in its place. */
function queueThat(
  answer: (operation: string, index: number, queue: JsonObject) => Answer | undefined = () => undefined,
) {
  let queue = live
  return (seen: Seen, index: number): Answer => {
    const operation = seen.path.split('/').at(-1) ?? ''
    const { repo, targetBranch, ...settings } = JSON.parse(seen.body)
    const instead = answer(operation, index, queue)
    if (instead !== undefined) return instead
    if (operation === 'updateQueue') queue = { ...queue, ...settings }
    return { body: operation === 'getQueue' ? JSON.stringify(queue) : 'OK' }
  }
}

describe('what is sent', () => {
  test('apply sends one update with the differences only, and nothing the second time', async () => {
    const answer = queueThat()
    const setting = withFile('settings:\n  mode: single\n  concurrency: 5\n  batch: true\n', { answer })
    const first = await mergeq(`queue apply -f q.yaml --yes ${where}`, setting)
    expect(first.code).toBe(0)
    expect(namesOf(first.requests)).toEqual(['getQueue', 'updateQueue', 'getQueue'])
    const repo = { host: 'github.com', owner: 'acme', name: 'web' }
    expect(bodiesOf(first.requests, 'updateQueue')).toEqual([
      { repo, targetBranch: 'main', concurrency: 5, batch: true },
    ])
    const second = await mergeq(`queue apply -f q.yaml --yes ${where}`, setting)
    expect({ code: second.code, names: namesOf(second.requests) }).toEqual({ code: 0, names: ['getQueue'] })
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

  test('an update without a clear response is confirmed by a read', async () => {
    let applied = false
    const { code, out } = await apply(({ path }) => {
      if (!path.endsWith('updateQueue')) return { body: JSON.stringify({ ...live, batch: applied }) }
      applied = true
      return { body: '{"mode":' }
    })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ ok: true, delivery: 'confirmed-by-read', changed: ['batch'] })
  })

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
    [
      'a refused update has changed nothing',
      queueThat(operation => (operation === 'updateQueue' ? { status: 400, body: 'no' } : undefined)),
      { exit: 6, delivery: 'not-applied', outcome: 'failed', changed: [] },
      'The queue for main of acme/web was not updated: no.',
    ],
  ])('%s', async (_, answer, receipt, said) => {
    const { code, out, err } = await apply(answer)
    expect(JSON.parse(out)).toMatchObject({ ok: false, ...receipt })
    expect({ code, err }).toEqual({ code: receipt.exit, err: expect.stringContaining(said) })
  })

  test('a queue that was created and then refused its settings says so', async () => {
    let exists = false
    const { code, out } = await apply(({ path }) => {
      if (path.endsWith('createQueue')) exists = true
      if (path.endsWith('updateQueue')) return { status: 400, body: 'no' }
      if (!exists) return { status: 404, body: 'Not Found' }
      return path.endsWith('getQueue') ? unchanged : { body: 'OK' }
    }, '--create')
    expect(code).toBe(6)
    expect(JSON.parse(out)).toMatchObject({ ok: false, outcome: 'created', changed: [] })
  })

  test('a 404 with a web page does not mean that the queue is missing', async () => {
    const { code, requests } = await apply(() => ({ status: 404, body: '<!DOCTYPE html><title>No</title>' }))
    expect({ code, requests: requests.length }).toEqual({ code: 5, requests: 1 })
  })

  test('of several queues the worst ending is the exit code, and the others are done', async () => {
    const answer = (seen: Seen): Answer => {
      const { targetBranch } = JSON.parse(seen.body)
      if (!seen.path.endsWith('getQueue'))
        return targetBranch === 'a' ? { status: 400, body: 'no' } : { body: 'OK' }
      return { body: JSON.stringify(targetBranch === 'b' ? { ...live, batch: true } : live) }
    }
    const fileOf = (branch: string) => `targetBranch: ${branch}\nsettings: {batch: true, mode: single}`
    const files = { 'd/a.yaml': fileOf('a'), 'd/b.yaml': fileOf('b') }
    const { code, out, err } = await mergeq('queue apply -f d --yes -R acme/web', { files, answer })
    expect({ code, out }).toEqual({ code: 6, out: rows('a\tfalse\tfailed\t', 'b\ttrue\tunchanged\t') })
    expect(err).toContain('The queue for a of acme/web was not updated: no.')
  })
})

/** Files of 40 repositories: r7 is denied, r8 has no queue, r9 is wrong on the service, and all others match. */
describe('the settings of 40 repositories', () => {
  const fileOf = (index: number, settings: string) => `repo: acme/r${index}\ntargetBranch: main\n${settings}`
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `queues/r${String(index).padStart(2, '0')}.yaml`,
      fileOf(index, 'settings: {batch: false}'),
    ]),
  )
  /** A service that remembers which queues were created and updated. */
  function serve() {
    const changes: string[] = []
    const answer = ({ path, body }: Seen): Answer => {
      const { name } = JSON.parse(body).repo
      if (name === 'r7') return { status: 403 }
      const isChanged = changes.includes(name)
      if (name === 'r8' && !isChanged && path.endsWith('getQueue')) return { status: 404, body: 'Not Found' }
      if (!path.endsWith('getQueue')) changes.push(name)
      return { body: JSON.stringify({ ...live, batch: name === 'r9' && !isChanged }) }
    }
    return { answer, files, changes }
  }
  const row = (name: string, text: string) => `github.com/acme/${name}\tmain\t${text}\n`

  test('diff has a row for each difference and an error for each queue that failed', async () => {
    const { code, out, err, requests } = await mergeq('queue diff -f queues', serve())
    expect({ code, out, requests: requests.length }).toEqual({
      code: 4,
      out: row('r8', 'batch\tnull\tfalse') + row('r9', 'batch\ttrue\tfalse'),
      requests: 40,
    })
    expect(err).toMatch(/\nmergeq: .* denied access .*\(main of acme\/r7\)\.\n/)
    const { same, digest, queues } = JSON.parse((await mergeq('queue diff -f queues --json', serve())).out)
    expect({ same, digest, length: queues.length }).toEqual({ same: false, digest: null, length: 40 })
    expect(queues.at(-1)).toMatchObject({ repo: 'github.com/acme/r7', targetBranch: 'main', exit: 4 })
    const { 'queues/r07.yaml': _, ...others } = files
    expect((await mergeq('queue diff -f queues', { ...serve(), files: others })).code).toBe(20)
    const csv = (await mergeq('queue diff -f queues -o csv', serve())).out.split('\r\n')
    expect(csv.slice(0, 2)).toEqual([
      'repository,branch,setting,live,file',
      'github.com/acme/r8,main,batch,null,false',
    ])
  })

  test('apply changes what it may, creates nothing unasked, and ends with the worst code', async () => {
    const without = serve()
    const { code, out, err } = await mergeq('queue apply -f queues --yes', without)
    expect({ code, changes: without.changes }).toEqual({ code: 4, changes: ['r9'] })
    expect(out.split('\n')).toHaveLength(39)
    expect(out).toContain(row('r9', 'true\tupdated\tbatch'))
    expect(err).toContain('The queue for main of acme/r8 does not exist.\n')
    const asked = serve()
    expect((await mergeq('queue apply -f queues --yes --create', asked)).out).toContain(
      row('r8', 'true\tcreated\tbatch'),
    )
    expect(asked.changes).toEqual(['r8', 'r9'])
  })

  test.each([
    [
      'a setting that nobody knows',
      '',
      { ...files, 'queues/z.yaml': fileOf(50, 'settings: {colour: red}') },
      2,
    ],
    ['a digest of which a part is unknown', '--if-match 0123456789abcdef', files, 4],
  ])('%s changes nothing', async (_, flags, files, exit) => {
    const service = serve()
    const { code, out, err } = await mergeq(`queue apply -f queues --yes ${flags}`, { ...service, files })
    expect({ code, out, changes: service.changes }).toEqual({ code: exit, out: '', changes: [] })
    expect(err).toContain('Nothing was changed, because not every queue could be compared.')
  })
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

describe('export', () => {
  const exportOf = (queue: JsonObject, flags = '', setting: Setting = {}) =>
    mergeq(`queue export ${where} ${flags}`, {
      answer: () => ({ body: JSON.stringify(queue) }),
      ...setting,
    })

  test('omits settings that are read-only, have no value, cannot be set again or cannot be seen', async () => {
    const odd = {
      ...live,
      notReadyTimeoutHours: null,
      batchingMaxWaitTimeMinutes: 0,
      mode: 'both',
      newThing: null,
      invisible: 'a\u202Eb\u0085c',
      'k\u200B': 1,
      requiredStatuses: null,
    }
    const { out, err, code } = await exportOf(odd, '--json')
    expect({ code, settings: JSON.parse(out).settings }).toEqual({
      code: 0,
      settings: { concurrency: 1, batch: false, requiredStatuses: null, newThing: null },
    })
    expect(err).toContain('live values cannot be set: mode, batchingMaxWaitTimeMinutes, invisible, k')
    const switching = await exportOf({ ...live, state: 'switching_modes' }, '--include-state')
    expect(switching.err).toContain('live values cannot be set: state.')
  })

  test('a file keeps its comments, its order and its other contents', async () => {
    const before =
      '# ours\nrepo: acme/web # mind the name\n\nsettings:\n  # one at a time\n  concurrency: 4 # was 2\n  state: paused\n  requiredStatuses: [ci] # from CI\n  gone: 1\n\n  mode: "single"\n# the end\n'
    const disk = new Map([['q.yaml', before]])
    const now = { ...live, requiredStatuses: ['ci', 'e2e'] }
    expect((await exportOf(now, '-f q.yaml', { disk })).code).toBe(0)
    expect(disk.get('q.yaml')).toBe(
      '# ours\nrepo: acme/web # mind the name\n\nsettings:\n  # one at a time\n  concurrency: 1 # was 2\n  state: paused\n  requiredStatuses: [ ci, e2e ] # from CI\n\n  mode: "single"\n  batch: false\ntargetBranch: main\n\n# the end\n',
    )
    const again = await exportOf(now, '-f q.yaml', { disk })
    expect(again.err).toContain('q.yaml is up to date with the queue for main of acme/web.')
  })

  test('a file keeps its $schema, which nobody reads', async () => {
    const disk = new Map([
      ['q.yaml', '$schema: ./s.json\nsettings: {batch: true}\n'],
      ['q.json', '{"settings": {}, "$schema": "./s.json"}'],
    ])
    for (const name of disk.keys()) expect((await exportOf(live, `-f ${name}`, { disk })).code).toBe(0)
    expect(disk.get('q.yaml')).toMatch(/^\$schema: \.\/s\.json\n/)
    expect(Object.keys(JSON.parse(disk.get('q.json') ?? ''))).toEqual([
      '$schema',
      'repo',
      'targetBranch',
      'settings',
    ])
  })

  test.each([
    ['-f q.txt', '', 2, 'must end in .yaml, .yml or .json'],
    ['-f q.yaml --json', '', 2, 'does not match the extension'],
    ['-o csv', '', 2, 'A queue file is YAML or JSON.'],
    ['-f old.yaml', 'targetBranch: next', 2, '--target-branch is main, but old.yaml is for next'],
    ['-f q.yaml', '', 16, 'q.yaml could not be written: read-only file system.'],
  ])('%s over a file of %j ends with %i', async (flags, old, exit, message) => {
    const { code, out, err } = await exportOf(live, flags, { files: { 'old.yaml': old } })
    expect({ code, out }).toEqual({ code: exit, out: '' })
    expect(err).toContain(message)
  })

  describe('--all', () => {
    const queues = [
      ['acme/web', 'main'],
      ['acme/web', 'release/2.4'],
      ['acme/api', 'main'],
    ] as const
    const fileOf = (repo: string, branch: string) =>
      `queues/${encodeURIComponent(`github.com/${repo}`)}@${encodeURIComponent(branch)}.yaml`
    const metrics = queues
      .map(([repo, branch]) => `mq_depth_current{repo="${repo}",branch="${branch}"} 1\n`)
      .join('')
    const exportAll = (flags: string, setting: Setting = {}, text = metrics) =>
      mergeq(`queue export --all ${flags}`, {
        env: { MERGEQ_REPO: 'acme/other', MERGEQ_TARGET_BRANCH: 'other' },
        answer({ path, body }) {
          if (path.includes('getMergeQueueMetrics')) return { body: text }
          return JSON.parse(body).repo.name === 'api' ? { status: 503 } : { body: JSON.stringify(live) }
        },
        ...setting,
      })

    test('writes a file for each queue that the metrics name, and goes on after one that fails', async () => {
      const disk = new Map<string, string>()
      const { code, out, err } = await exportAll('-f queues --retries 0', { disk })
      expect({ code, out, files: [...disk.keys()] }).toEqual({
        code: 7,
        out: '',
        files: [fileOf('acme/web', 'main'), fileOf('acme/web', 'release/2.4')],
      })
      expect(disk.get('queues/github.com%2Facme%2Fweb@release%2F2.4.yaml')).toContain(
        'repo: github.com/acme/web\ntargetBranch: release/2.4\nsettings:\n  mode: single\n',
      )
      expect(err).toContain(
        'Exported the queue for main of acme/web to queues/github.com%2Facme%2Fweb@main.yaml.',
      )
      expect(err).toMatch(/\nmergeq: .*main of acme\/api \(503\)\./)
      const diff = await mergeq('queue diff -f queues', {
        disk,
        answer: () => ({ body: JSON.stringify(live) }),
      })
      expect(diff.code).toBe(0)
    })

    test('-R and -b select queues, and -R gives the host', async () => {
      const disk = new Map<string, string>()
      const { code, requests } = await exportAll('-f queues -R git.acme.example/acme/web', { disk })
      expect({ code, asked: requests[0]?.path }).toEqual({
        code: 7,
        asked: '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=git.acme.example',
      })
      const branch = new Map<string, string>()
      expect((await exportAll('-f queues -b release/2.4', { disk: branch })).code).toBe(0)
      expect([...branch.keys()]).toEqual([fileOf('acme/web', 'release/2.4')])
    })

    test('existing files need --yes or an answer, keep their comments, and must be of the same queue', async () => {
      const disk = () => new Map([[fileOf('acme/web', 'main'), '# ours\nsettings: {batch: true}\n']])
      const only = '-f queues -b main -R acme/web'
      const text = metrics.replace(/.*acme\/api.*\n/, '')
      const refused = await exportAll(only, { disk: disk() }, text)
      expect({ code: refused.code, sent: namesOf(refused.requests).length }).toEqual({ code: 2, sent: 1 })
      expect(refused.err).toBe(
        'mergeq: queues already has 1 file of this export.\n  To update existing files, add --yes.\n',
      )
      const person = { inputTerminal: true, terminal: true }
      expect((await exportAll(only, { disk: disk(), ...person, typed: ['n'] }, text)).code).toBe(2)
      expect((await exportAll(only, { disk: disk(), ...person, typed: ['y'] }, text)).code).toBe(0)
      const written = disk()
      expect((await exportAll(`${only} --yes`, { disk: written }, text)).code).toBe(0)
      expect([...written.values()]).toEqual([expect.stringMatching(/^# ours\nsettings: \{ batch: false/)])
      const other = new Map([[fileOf('acme/web', 'main'), 'targetBranch: next']])
      const { code, err } = await exportAll(`${only} --yes`, { disk: other }, text)
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining('--target-branch is main, but queues/'),
      })
    })

    test.each([
      ['', metrics, 2, '--all requires --file.'],
      ['-f queues --json', metrics, 2, '--output json does not match the extension of *.yaml.'],
      ['-f queues', 'up 1\n', 5, 'No queue has metrics.'],
      [
        '-f queues',
        'mq_depth_current{branch="main"} 1\n',
        15,
        'The metrics name no repository of the queue for main.',
      ],
      ['-f queues -b release/2.4', metrics, 16, 'could not be written: read-only file system.'],
    ])('%s with the metrics %j ends with %i', async (flags, text, exit, message) => {
      const { code, out, err } = await exportAll(flags, { env: {} }, text)
      expect({ code, out, err }).toEqual({ code: exit, out: '', err: expect.stringContaining(message) })
    })
  })

  test('ends with 5 if there is no queue', async () => {
    const answer = () => ({ status: 404, body: 'Not Found' })
    expect((await exportOf(live, '', { answer })).code).toBe(5)
  })

  testOnPosix(
    'a real file is replaced in one step: its mode and a link to it stay, and no other file is left',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'mergeq-code-'))
      try {
        writeFileSync(join(folder, 'q.yaml'), 'old', { mode: 0o640 })
        symlinkSync('q.yaml', join(folder, 'link.yaml'))
        await files.replace(join(folder, 'link.yaml'), 'new\n')
        await files.replace(join(folder, 'fresh.yaml'), 'fresh\n')
        expect(readFileSync(join(folder, 'q.yaml'), 'utf8')).toBe('new\n')
        expect(statSync(join(folder, 'q.yaml')).mode & 0o777).toBe(0o640)
        symlinkSync('gone.yaml', join(folder, 'dangling.yaml'))
        const dangling = files.replace(join(folder, 'dangling.yaml'), 'x')
        await expect(dangling).rejects.toThrow('it is a link to a file that does not exist')
        await expect(files.replace(folder, 'x')).rejects.toThrow('it is not a regular file')
        await expect(files.replace(join(folder, 'no/q.yaml'), 'x')).rejects.toThrow('ENOENT')
        expect(readdirSync(folder).sort()).toEqual(['dangling.yaml', 'fresh.yaml', 'link.yaml', 'q.yaml'])
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )
})
