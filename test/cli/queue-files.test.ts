import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseYaml, rewriteYaml, writeYaml } from '../../src/commands/queue/yaml.ts'
import {
  differences,
  isSameSetting,
  liveSettings,
  parseQueueFile,
  readSetting,
  settingsDigest,
  updateBody,
} from '../../src/domain/queue-file.ts'
import { files } from '../../src/host/files.ts'
import { isObject, type Json, type JsonObject, parseJson, stringifyJson } from '../../src/json.ts'
import { type Answer, mergeq, openStory, type Seen, type Setting, type Story } from '../support/harness.ts'
import { testOnPosix } from '../support/programs.ts'

const dialects = ['document', 'hosted'] as const

/** Tells a story, and closes its sandbox whatever becomes of it. */
async function tell(dialect: (typeof dialects)[number], story: (story: Story) => Promise<void>) {
  const opened = await openStory({ dialect })
  try {
    await story(opened)
  } finally {
    await opened.close()
  }
}

const withFile = (text: string, more: Setting = {}): Setting => ({ files: { 'q.yaml': text }, ...more })
const digestIn = (text: string) => /digest of the live settings is ([0-9a-f]{16})\./.exec(text)?.[1] ?? ''

describe.each(dialects)('a queue as code in the %s dialect', dialect => {
  test('export, change, diff, apply, and apply again: the output of each', () =>
    tell(dialect, async story => {
      const disk = new Map<string, string>()
      let golden = ''
      const say = async (line: string, setting: Setting = {}) => {
        const { code, out, err } = await story.mergeq(line, { disk, ...setting })
        golden += `$ mergeq ${line}\n${out}${err.replaceAll(/^(?=.)/gm, '! ')}-> ${code}\n\n`
        return code
      }
      expect(await say('queue export')).toBe(0)
      expect(await say('queue export -f q.yaml')).toBe(0)
      expect(await say('queue diff -f q.yaml')).toBe(0)
      disk.set(
        'q.yaml',
        (disk.get('q.yaml') ?? '')
          .replace('batch: false', 'batch: true # by fours')
          .replace('concurrency: 1', 'concurrency: 3'),
      )
      expect(await say('queue diff -f q.yaml')).toBe(20)
      expect(await say('queue diff -f q.yaml --json')).toBe(20)
      expect(await say('queue apply -f q.yaml')).toBe(2)
      expect(await say('queue apply -f q.yaml --yes')).toBe(0)
      expect(await say('queue apply -f q.yaml --yes --json')).toBe(0)
      expect(await say('queue update --concurrency 4')).toBe(0)
      expect(await say('queue export -f q.yaml')).toBe(0)
      golden += disk.get('q.yaml')
      await expect(golden).toMatchFileSnapshot(`../golden/${dialect}/queue-code.txt`)
    }))

  test('a branch without a queue gets one, with every setting of the file', () =>
    tell(dialect, async story => {
      const setting = withFile(
        'targetBranch: release\nsettings: {mode: parallel, concurrency: 4, bisectionConcurrency: 2, mergeMethod: rebase, requiredStatuses: [ci, e2e]}',
      )
      const diff = await story.mergeq('queue diff -f q.yaml --json', setting)
      expect(diff.code).toBe(20)
      expect(JSON.parse(diff.out).queues).toMatchObject([{ targetBranch: 'release', exists: false }])
      const applied = await story.mergeq('queue apply -f q.yaml --yes --json', setting)
      expect(applied.code).toBe(0)
      expect(JSON.parse(applied.out)).toMatchObject({ ok: true, outcome: 'created', delivery: 'confirmed' })
      expect((await story.mergeq('queue diff -f q.yaml', setting)).code).toBe(0)
      const { out } = await story.mergeq('queue get -b release --json')
      expect(JSON.parse(out)).toMatchObject({
        mode: 'parallel',
        concurrency: 4,
        bisectionConcurrency: 2,
        mergeMethod: 'rebase',
      })
    }))

  test('a directory contains several queues; each is reported, and one digest covers all', () =>
    tell(dialect, async story => {
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
        'late\trequiredStatuses\tnull\t["a"]\nlate\tenqueueingLabel\ttrunk-merge-queue-submit\tgo\nmain\tconcurrency\t1\t2\nnext\tconcurrency\tnull\t3\n',
      )
      const digest = digestIn(diff.err)
      expect((await story.mergeq('queue update -b late --batch')).code).toBe(0)
      const stale = await story.mergeq(`queue apply -f queues/ --yes --if-match ${digest}`, setting)
      expect({ code: stale.code, out: stale.out }).toEqual({ code: 14, out: '' })
      const applied = await story.mergeq('queue apply -f queues/ --yes', setting)
      expect(applied.out).toBe(
        'late\ttrue\tupdated\trequiredStatuses, enqueueingLabel\nmain\ttrue\tupdated\tconcurrency\nnext\ttrue\tcreated\tconcurrency\n',
      )
      expect((await story.mergeq('queue diff -f queues', setting)).code).toBe(0)
    }))

  test('null drops the override of required statuses; an empty list is ignored by the service, and that is reported', () =>
    tell(dialect, async story => {
      await story.mergeq('queue update --required-status ci')
      const empty = withFile('settings: {requiredStatuses: []}')
      const ignored = await story.mergeq('queue apply -f q.yaml --yes', empty)
      expect(ignored.code).toBe(20)
      expect(ignored.out).toMatch(/^main\tfalse\tupdated\trequiredStatuses\n$/)
      expect(ignored.err).toMatch(
        /requiredStatuses is \["ci"\] instead of \[\]\.\n {2}.*To remove the override, write: requiredStatuses: null/,
      )
      const none = withFile('settings: {requiredStatuses: null}')
      expect((await story.mergeq('queue apply -f q.yaml --yes', none)).code).toBe(0)
      expect((await story.mergeq('queue diff -f q.yaml', none)).code).toBe(0)
      expect((await story.mergeq('queue diff -f q.yaml', empty)).code).toBe(0)
    }))

  test('the state of the queue is included only with --include-state', () =>
    tell(dialect, async story => {
      const paused = withFile('settings: {state: paused, batch: false}')
      const without = await story.mergeq('queue diff -f q.yaml', paused)
      expect(without.code).toBe(0)
      expect(without.err).toContain('state is ignored; to include it, add --include-state.')
      expect((await story.mergeq('queue diff -f q.yaml --include-state', paused)).code).toBe(20)
      expect((await story.mergeq('queue apply -f q.yaml --yes --include-state', paused)).code).toBe(0)
      expect((await story.mergeq('queue export --include-state')).out).toContain('state: PAUSED')
      expect((await story.mergeq('queue export')).out).not.toContain('state:')
    }))

  test('a setting that neither mergeq nor the live queue knows is a usage error with the nearest name', () =>
    tell(dialect, async story => {
      const cases = [
        [
          'settings: {concurency: 3}',
          '',
          "q.yaml: unknown queue setting 'concurency'",
          'Did you mean concurrency?',
        ],
        [
          'settings: {Batching_Min_Size: 3}',
          '',
          "q.yaml: unknown queue setting 'Batching_Min_Size'",
          'Did you mean batchingMinSize?',
        ],
        [
          'settings: {}',
          '--set requiredStatus=[]',
          "--set: unknown queue setting 'requiredStatus'",
          'Did you mean requiredStatuses?',
        ],
        ['settings: {colour: red}', '', "q.yaml: unknown queue setting 'colour'", 'queue export'],
      ] as const
      const before = (await story.mergeq('queue get --json')).out
      for (const [text, flags, what, hint] of cases)
        for (const line of ['diff -f q.yaml', 'apply -f q.yaml --yes', 'apply -f q.yaml --dry-run']) {
          const { code, out, err } = await story.mergeq(`queue ${line} ${flags}`, withFile(text))
          expect({ line, code, out }).toEqual({ line, code: 2, out: '' })
          expect(err).toContain(`${what}.`)
          expect(err).toContain(hint)
        }
      expect((await story.mergeq('queue get --json')).out).toBe(before)
    }))

  test('a setting of the live queue is known, and may be suggested', () =>
    tell(dialect, async story => {
      expect((await story.mergeq('queue update --set futureThing=1')).code).toBe(0)
      const exact = withFile('settings: {futureThing: 2}')
      expect((await story.mergeq('queue diff -f q.yaml', exact)).code).toBe(20)
      const near = await story.mergeq('queue diff -f q.yaml', withFile('settings: {futurThing: 2}'))
      expect({ code: near.code, err: near.err }).toMatchObject({
        code: 2,
        err: expect.stringContaining('Did you mean futureThing?'),
      })
    }))

  test('--set overrides settings of the file, in the diff and when they are applied', () =>
    tell(dialect, async story => {
      const setting = withFile('settings: {concurrency: 1}')
      expect((await story.mergeq('queue diff -f q.yaml --set concurrency=2', setting)).out).toBe(
        'main\tconcurrency\t1\t2\n',
      )
      expect((await story.mergeq('queue apply -f q.yaml --yes --set concurrency=2', setting)).code).toBe(0)
      expect((await story.mergeq('queue diff -f q.yaml', setting)).code).toBe(20)
      expect(
        (await story.mergeq('queue diff -f q.yaml --set concurrency=2 --set concurrency=3', setting)).code,
      ).toBe(2)
      expect((await story.mergeq('queue diff -f q.yaml --set concurrency=x', setting)).code).toBe(2)
    }))

  test('on a terminal the differences are in words, and long values wrap', () =>
    tell(dialect, async story => {
      const names = ['build', 'integration tests of the checkout (ubuntu-latest)', 'lint']
      const text = `settings: {batch: true, requiredStatuses: ${JSON.stringify(names)}}`
      const terminal = { terminal: true, columns: 60, env: { NO_COLOR: '1' } }
      const { code, out } = await story.mergeq('queue diff -f q.yaml', withFile(text, terminal))
      expect({ code, out }).toEqual({
        code: 20,
        out: `SETTING           LIVE  FILE
batch             no    yes
requiredStatuses  none  build, integration tests of the
                        checkout (ubuntu-latest), lint
`,
      })
    }))

  test('on a terminal it shows the changes and asks; the answer no sends nothing', () =>
    tell(dialect, async story => {
      const terminal = { terminal: true, inputTerminal: true }
      const setting = withFile('settings: {concurrency: 2}', terminal)
      const no = await story.mergeq('queue apply -f q.yaml', { ...setting, typed: ['n'] })
      expect(no.code).toBe(2)
      expect(no.err).toContain('- concurrency: 1 -> 2\nApply these changes to 1 queue? [y/N]')
      const yes = await story.mergeq('queue apply -f q.yaml', { ...setting, typed: ['y'] })
      expect({ code: yes.code, out: yes.out }).toEqual({
        code: 0,
        out: 'Updated the queue for main in github.com/acme/web: concurrency.\n',
      })
      expect((await story.mergeq('queue apply -f q.yaml', setting)).out).toContain('is up to date.')
    }))
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
  test('one update with the differences only; nothing the second time', async () => {
    const answer = queueThat()
    const setting = withFile('settings:\n  mode: single\n  concurrency: 5\n  batch: true\n', { answer })
    const first = await mergeq(`queue apply -f q.yaml --yes ${where}`, setting)
    expect(first.code).toBe(0)
    expect(namesOf(first.requests)).toEqual(['getQueue', 'updateQueue', 'getQueue'])
    expect(bodiesOf(first.requests, 'updateQueue')).toEqual([
      {
        repo: { host: 'github.com', owner: 'acme', name: 'web' },
        targetBranch: 'main',
        concurrency: 5,
        batch: true,
      },
    ])
    const second = await mergeq(`queue apply -f q.yaml --yes ${where}`, setting)
    expect({ code: second.code, names: namesOf(second.requests) }).toEqual({ code: 0, names: ['getQueue'] })
  })

  test('a setting derived from a changed setting keeps the value of the file', async () => {
    const file = { concurrency: 5, bisectionConcurrency: 2, batch: true }
    const is = { concurrency: 1, bisectionConcurrency: 2, batch: false }
    expect(updateBody(differences(is, file), file)).toEqual(file)
    expect(updateBody(differences({ ...is, concurrency: 5 }, file), file)).toEqual({ batch: true })
  })

  test('a setting with the name of a member that every object has is like any other', async () => {
    const setting = withFile('settings: {toString: 1, __proto__: {}}', {
      answer: queueThat(() => ({
        body: '{"state":"running","enqueuedPullRequests":[],"toString":null,"__proto__":null}',
      })),
    })
    const { code, out, err } = await mergeq(`queue diff -f q.yaml ${where}`, setting)
    expect({ code, out }).toEqual({
      code: 20,
      out: 'main\ttoString\tnull\t1\nmain\t__proto__\tnull\t{}\n',
    })
    expect(err).toContain('2 settings differ')
  })

  test.each(['9007199254740993', '1e400', '0.1000000000000000055511151231257827'])(
    'the number %s, which would be changed, is a usage error',
    async number => {
      const line = `queue apply -f q.yaml --yes ${where}`
      for (const [settings, flags] of [
        [`{huge: ${number}}`, ''],
        ['{}', ` --set 'huge={"a":${number}}'`],
      ] as const) {
        const setting = withFile(`settings: ${settings}`, { answer: queueThat() })
        const { code, err, requests } = await mergeq(`${line}${flags}`, setting)
        expect({ code, requests }).toEqual({ code: 2, requests: [] })
        expect(err).toContain(`the number ${number} cannot be represented exactly.`)
      }
    },
  )

  test('a number that a double holds is sent, however it is written', async () => {
    const setting = withFile('settings: {a: 1.50, b: 2e3, c: 0x1F, d: -0.25}', {
      answer: queueThat((operation, _, queue) =>
        operation === 'getQueue' ? { body: JSON.stringify({ a: 0, b: 0, c: 0, d: 0, ...queue }) } : undefined,
      ),
    })
    const { requests } = await mergeq(`queue apply -f q.yaml --yes ${where}`, setting)
    expect(requests.find(({ path }) => path.endsWith('updateQueue'))?.body).toContain(
      '"a":1.5,"b":2000,"c":31,"d":-0.25}',
    )
  })

  test('--dry-run prints the first request of export and diff, needs no token and sends nothing', async () => {
    for (const line of ['queue export', 'queue diff -f q.yaml']) {
      const setting = withFile('settings: {}', { answer: queueThat(), env: { MERGEQ_TOKEN: '' } })
      const { code, out, requests } = await mergeq(`${line} --dry-run ${where}`, setting)
      expect({ code, requests }).toEqual({ code: 0, requests: [] })
      expect(JSON.parse(out)).toMatchObject({ operation: 'getQueue', body: { targetBranch: 'main' } })
    }
  })

  test('apply without --yes sends nothing if no prompt is possible', async () => {
    const setting = withFile('settings: {batch: true}', { answer: queueThat() })
    for (const flags of ['', '--json', '--no-input']) {
      const { code, out, err, requests } = await mergeq(`queue apply -f q.yaml ${flags} ${where}`, setting)
      expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
      expect(err).toContain('--yes')
    }
  })

  test('the queue that the file names overrides the environment, and an option must not contradict it', async () => {
    const text = 'repo: acme/api\ntargetBranch: next\nsettings: {}'
    const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
    const { requests } = await mergeq('queue diff -f q.yaml', withFile(text, { answer: queueThat(), env }))
    expect(bodiesOf(requests, 'getQueue')).toMatchObject([{ repo: { name: 'api' }, targetBranch: 'next' }])
    expect(
      (
        await mergeq(
          'queue diff -f q.yaml -R github.com/acme/api -b next',
          withFile(text, { answer: queueThat() }),
        )
      ).code,
    ).toBe(0)
    for (const flag of ['-R acme/web', '-b main']) {
      const { code, err } = await mergeq(
        `queue diff -f q.yaml ${flag}`,
        withFile(text, { answer: queueThat() }),
      )
      expect(code).toBe(2)
      expect(err).toMatch(/is (acme\/web|main), but q\.yaml is for (acme\/api|next)/)
    }
  })
})

describe('when the live settings move', () => {
  test('--if-match sends nothing unless they are those of the digest', async () => {
    const setting = withFile('settings: {batch: true}', { answer: queueThat() })
    const { out } = await mergeq(`queue diff -f q.yaml --json ${where}`, setting)
    const { digest } = JSON.parse(out)
    expect(digest).toBe(await settingsDigest(liveSettings(live, false).settings))
    const other = await mergeq(`queue apply -f q.yaml --yes --if-match 0123456789abcdef ${where}`, setting)
    expect({ code: other.code, names: namesOf(other.requests) }).toEqual({ code: 14, names: ['getQueue'] })
    expect(other.err).toContain(`found ${digest}. Nothing was changed.`)
    expect((await mergeq(`queue apply -f q.yaml --yes --if-match ${digest} ${where}`, setting)).code).toBe(0)
    for (const bad of ['x', `${digest}0`, digest.toUpperCase().replace(/^\w/, 'G')])
      expect((await mergeq(`queue apply -f q.yaml --yes --if-match ${bad} ${where}`, setting)).code).toBe(2)
  })

  test('a person confirms what was shown: settings that change during the prompt are stale', async () => {
    const answer = queueThat((operation, index, queue) =>
      operation === 'getQueue' && index === 1
        ? { body: JSON.stringify({ ...queue, mode: 'parallel' }) }
        : undefined,
    )
    const person = { answer, terminal: true, inputTerminal: true, typed: ['y'] }
    const { code, requests } = await mergeq(
      `queue apply -f q.yaml ${where}`,
      withFile('settings: {batch: true}', person),
    )
    expect({ code, names: namesOf(requests) }).toEqual({ code: 14, names: ['getQueue', 'getQueue'] })
  })
})

describe('writes are reported as they happened', () => {
  const setting = (answer: ReturnType<typeof queueThat>) => withFile('settings: {batch: true}', { answer })
  const apply = `queue apply -f q.yaml --yes --json ${where}`

  test('an update without a clear response is confirmed by a read', async () => {
    let applied = false
    const { code, out } = await mergeq(
      apply,
      setting((seen: Seen) => {
        if (seen.path.endsWith('updateQueue')) {
          applied = true
          return { body: '{"mode":' }
        }
        return { body: JSON.stringify({ ...live, batch: applied }) }
      }),
    )
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ ok: true, delivery: 'confirmed-by-read', changed: ['batch'] })
  })

  test('a change that shows late is waited for', async () => {
    const { code, sleeps } = await mergeq(
      apply,
      setting(
        queueThat((operation, index) =>
          operation === 'getQueue' && index < 4 ? { body: JSON.stringify(live) } : undefined,
        ),
      ),
    )
    expect({ code, sleeps }).toEqual({ code: 0, sleeps: [2_000, 4_000] })
  })

  test('a change that was accepted and never shows ends with 20', async () => {
    const answer = queueThat(operation =>
      operation === 'getQueue' ? { body: JSON.stringify(live) } : undefined,
    )
    const { code, out, err } = await mergeq(apply, setting(answer))
    expect(code).toBe(20)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      exit: 20,
      delivery: 'confirmed',
      notApplied: ['batch'],
    })
    expect(JSON.parse(err.trim().split('\n').at(-1) ?? '').error).toMatchObject({ kind: 'differs', exit: 20 })
  })

  test('an update that was accepted and cannot be read back is an unknown outcome', async () => {
    const answer = queueThat((operation, index) =>
      operation === 'getQueue' && index > 0 ? { status: 503 } : undefined,
    )
    const { code, out, err } = await mergeq(apply, setting(answer))
    expect(code).toBe(11)
    expect(JSON.parse(out)).toMatchObject({ ok: false, exit: 11, delivery: 'unknown' })
    expect(err).toContain('mergeq queue diff -f q.yaml')
  })

  test('a refused update has its failure, and a receipt that says that nothing was changed', async () => {
    const answer = queueThat(operation =>
      operation === 'updateQueue' ? { status: 400, body: 'no' } : undefined,
    )
    const { code, out } = await mergeq(apply, setting(answer))
    expect(code).toBe(6)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      delivery: 'not-applied',
      outcome: 'failed',
      changed: [],
    })
  })

  test('a queue that was created and then refused its settings says so', async () => {
    let isThere = false
    const { code, out } = await mergeq(
      apply,
      setting((seen: Seen) => {
        if (seen.path.endsWith('createQueue')) isThere = true
        if (seen.path.endsWith('updateQueue')) return { status: 400, body: 'no' }
        if (!isThere) return { status: 404, body: 'Not Found' }
        return { body: seen.path.endsWith('getQueue') ? JSON.stringify(live) : 'OK' }
      }),
    )
    expect(code).toBe(6)
    expect(JSON.parse(out)).toMatchObject({ ok: false, outcome: 'created', changed: [] })
  })

  test('a 404 with a web page does not mean that the queue is missing', async () => {
    const answer = () => ({ status: 404, body: '<!DOCTYPE html><title>Not Found</title>' })
    const { code, requests } = await mergeq(apply, withFile('settings: {}', { answer }))
    expect({ code, requests: requests.length }).toEqual({ code: 5, requests: 1 })
  })

  test('of several queues the worst ending is the exit code, and the others are done', async () => {
    const answer = (seen: Seen): Answer => {
      const { targetBranch } = JSON.parse(seen.body)
      if (!seen.path.endsWith('getQueue'))
        return targetBranch === 'a' ? { status: 400, body: 'no' } : { body: 'OK' }
      return { body: JSON.stringify(targetBranch === 'b' ? { ...live, batch: true } : live) }
    }
    const files = Object.fromEntries(
      ['a', 'b'].map(branch => [
        `d/${branch}.yaml`,
        `targetBranch: ${branch}\nsettings: {batch: true, mode: single}`,
      ]),
    )
    const { code, out, err } = await mergeq('queue apply -f d --yes -R acme/web', { files, answer })
    expect({ code, out }).toEqual({ code: 6, out: 'a\tfalse\tfailed\t\nb\ttrue\tunchanged\t\n' })
    expect(err).toContain('for the queue for a in github.com/acme/web (400): no.')
  })
})

describe('contents of a file', () => {
  const bad: readonly (readonly [what: string, text: string, message: string | RegExp])[] = [
    ['nothing', '', 'q.yaml:1: the file is empty.'],
    ['a list', '- a', 'q.yaml:1: a queue file must be a mapping.'],
    ['text', 'hello', 'q.yaml:1: a queue file must be a mapping.'],
    ['another structure', 'settings: {}\nversion: 1', "q.yaml:2: unknown key 'version'."],
    ['settings at the top', 'mode: single', "q.yaml:1: unknown key 'mode'."],
    ['a list of settings', 'settings:\n  - mode: single', 'q.yaml:1: settings must be a mapping.'],
    ['a repository that is none', '\nrepo: web', "q.yaml:2: repo: 'web' is not a repository."],
    ['a branch that is none', 'targetBranch: 7', 'q.yaml:1: targetBranch must be a string.'],
    ['an empty branch', 'targetBranch: ""', 'q.yaml:1: targetBranch: The branch must not be empty.'],
    [
      'a key twice',
      'settings:\n  mode: single\n  mode: parallel',
      'q.yaml:3: invalid YAML: Map keys must be unique.',
    ],
    [
      'a number in quotes',
      'settings:\n  concurrency: "5"',
      'q.yaml:2: concurrency: "5" is not a whole number',
    ],
    [
      'a fraction',
      'settings:\n  concurrency: 1.5',
      "q.yaml:2: concurrency: '1.5' is not a whole number from 1",
    ],
    ['a number too small', 'settings:\n  concurrency: 0', "'0' is not a whole number from 1 to 4294967295"],
    ['a number too large', 'settings:\n  concurrency: 4294967296', "'4294967296' is not a whole number"],
    [
      'a number far too large',
      'settings:\n  concurrency: 90071992547409931',
      'q.yaml:2: the number 90071992547409931 cannot be represented exactly.',
    ],
    ['yes for true', 'settings:\n  batch: yes', 'q.yaml:2: batch: "yes" is not true or false.'],
    [
      'a word that is none',
      'settings:\n  mode: both',
      "q.yaml:2: mode: 'both' is not valid; must be one of: single, parallel.",
    ],
    [
      'true for a label',
      'settings:\n  enqueueingLabel: true',
      'q.yaml:2: enqueueingLabel: true is not a string.',
    ],
    [
      'a status for statuses',
      'settings:\n  requiredStatuses: ci',
      'requiredStatuses: "ci" is not a list of strings.',
    ],
    [
      'a number among statuses',
      'settings:\n  requiredStatuses: [1]',
      'requiredStatuses: [1] is not a list of strings.',
    ],
    [
      'null where there is no reset',
      'settings:\n  mode:',
      'q.yaml:2: mode: null is not allowed: the service cannot reset this setting.',
    ],
    ['what is read only', 'settings:\n  branch: main', 'q.yaml:2: branch: this setting is read-only.'],
    [
      'bots',
      'settings:\n  allowedBotSubmitters: []',
      'q.yaml:2: allowedBotSubmitters: this setting is read-only.',
    ],
    [
      'another queue',
      'settings:\n  repo: acme/web',
      'q.yaml:2: repo: this names the queue and is not a setting.',
    ],
    [
      'the deleting',
      'settings:\n  deleteRequiredStatuses: true',
      'a queue file uses `requiredStatuses: null` instead.',
    ],
    [
      'a state that cannot be set',
      'settings:\n  state: switching_modes',
      "state: 'switching_modes' is not valid; must be one of: running",
    ],
    ['an alias', 'settings:\n  a: &x [1]\n  b: *x', 'q.yaml:2: anchors and aliases are not supported'],
    [
      'an alias bomb',
      `a: &a [x,x]\n${[...'bcdefghijkl'].map((name, index) => `${name}: &${name} [*${'abcdefghijk'[index]},*${'abcdefghijk'[index]}]`).join('\n')}`,
      'q.yaml:1: anchors and aliases are not supported',
    ],
    ['a merge', 'settings:\n  <<: *x', /q\.yaml:2: (anchors and aliases|invalid YAML)/],
    [
      'a tag',
      'settings:\n  a: !!js/function "x"',
      'q.yaml:2: the tag tag:yaml.org,2002:js/function is not supported.',
    ],
    ['binary', 'settings:\n  a: !!binary aGk=', 'is not supported'],
    ['two documents', 'settings: {}\n---\nsettings: {}', 'q.yaml:2: invalid YAML'],
    ['a tab', 'settings:\n\tmode: single', 'q.yaml:2: invalid YAML'],
    ['an open list', 'settings: {a: [1', 'invalid YAML'],
    ['a key that is a number', 'settings:\n  5: a', 'q.yaml:2: a key must be a string'],
    ['a key that is a list', 'settings:\n  ? [a]\n  : b', 'q.yaml:2: a key must be a string'],
    ['an empty key', 'settings:\n  "": b', 'the setting has no name.'],
    ['infinity', 'settings:\n  a: .inf', 'q.yaml:2: the number .inf cannot be represented exactly.'],
    ['a hexadecimal number too large', 'settings:\n  a: 0xFFFFFFFFFFFFFFFF', 'cannot be represented exactly'],
    ['braces without end', '{'.repeat(50_000), 'q.yaml:1: the file has too many lists and mappings.'],
    ['dashes on a line', '- '.repeat(50_000), 'too many lists and mappings'],
    [
      'escape sequences',
      'settings:\n  "\\e[31mred": {}\n  mode: "\\e[31m"',
      /^mergeq: q\.yaml:3: mode: [^\u001B]*$/m,
    ],
  ]

  test.each(bad)('%s is refused with file and line, and nothing is sent', async (_, text, message) => {
    for (const command of ['diff', 'apply --yes']) {
      const answer = queueThat()
      const { code, out, err, requests } = await mergeq(
        `queue ${command} -f q.yaml ${where}`,
        withFile(text, { answer }),
      )
      expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
      if (typeof message === 'string') expect(err).toContain(message)
      else expect(err).toMatch(message)
      expect(err).toMatch(/^mergeq: q\.yaml:\d+: .*\n {2}\S/)
    }
  })

  test.each([
    [
      '__proto__ is a setting like any other',
      'settings: {__proto__: {a: 1}, constructor: 2}',
      '{"__proto__":{"a":1},"constructor":2}',
    ],
    [
      'words in any case',
      'settings: {mode: PARALLEL, state: Paused}',
      '{"mode":"parallel","state":"PAUSED"}',
    ],
    [
      'a BOM, CRLF and YAML 1.1',
      '\uFEFF%YAML 1.1\r\n---\r\nsettings: {x: yes, batch: true}\r\n',
      '{"x":"yes","batch":true}',
    ],
    ['no settings', 'repo: acme/web', '{}'],
    ['settings without any', 'settings:\n', '{}'],
    [
      'JSON with tabs and escapes',
      '{\n\t"settings": {\n\t\t"a\\/b": "\\ud83d\\ude00\\u0000"}}',
      '{"a/b":"😀\\u0000"}',
    ],
    [
      'hexadecimal and octal',
      'settings: {a: 0x10, b: 0o17, c: 1e3, d: -0.5}',
      '{"a":16,"b":15,"c":1000,"d":-0.5}',
    ],
  ])('%s is read', (_, text, settings) => {
    const code = parseQueueFile(parseYaml(text.replace(/^\uFEFF/, ''), 'q.yaml'), 'q.yaml')
    expect(JSON.stringify(code.settings)).toBe(settings)
    expect(Object.getPrototypeOf(code.settings)).toBe(Object.prototype)
  })

  test.each([
    ['no file', 'queue diff', {}, 'No file was given.'],
    [
      'text that is not UTF-8',
      'queue diff -f q.yaml',
      { 'q.yaml': Buffer.from('settings: {enqueueingLabel: "\xe9"}', 'latin1') },
      'q.yaml contains bytes that are not UTF-8.',
    ],
    ['a file that is not there', 'queue diff -f no.yaml', {}, 'no.yaml cannot be read: '],
    [
      'a folder without one',
      'queue diff -f d',
      { 'd/readme.md': '' },
      'd contains no .yaml, .yml, .json file.',
    ],
    [
      'a queue twice',
      'queue diff -f d',
      { 'd/a.yaml': 'settings: {}', 'd/b.yml': 'repo: acme/web' },
      'd/a.yaml and d/b.yml describe the same queue: main in github.com/acme/web',
    ],
    [
      'YAML in a .json',
      'queue diff -f q.json',
      { 'q.json': 'settings: {} # none' },
      'q.json:1: invalid JSON.',
    ],
    [
      'a setting twice',
      'queue diff -f q.yaml --set a=1 --set a=2',
      { 'q.yaml': 'settings: {}' },
      '--set was given twice for a.',
    ],
    [
      'nesting by --set',
      'queue diff -f q.yaml --set a.b=1',
      { 'q.yaml': 'settings: {}' },
      "'a.b=1' is not <setting>=<value>",
    ],
    [
      'what --set may not',
      'queue diff -f q.yaml --set branch=x',
      { 'q.yaml': 'settings: {}' },
      '--set: branch: this setting is read-only',
    ],
  ])('%s is a usage error', async (_, line, files, message) => {
    const { code, err, requests } = await mergeq(`${line} ${where}`, { files, answer: queueThat() })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toContain(message)
  })

  test('standard input is a file, too', async () => {
    const setting = { input: 'settings: {batch: true}', answer: queueThat() }
    expect((await mergeq(`queue diff -f - ${where}`, setting)).out).toBe('main\tbatch\tfalse\ttrue\n')
    const { err } = await mergeq(`queue diff -f - ${where}`, { ...setting, input: 'a: b' })
    expect(err).toContain("standard input:1: unknown key 'a'.")
  })
})

describe('export', () => {
  const answer = queueThat()
  const lines = `queue export ${where}`

  test('omits settings that are read-only, have no value or cannot be set again', async () => {
    const odd = {
      ...live,
      notReadyTimeoutHours: null,
      batchingMaxWaitTimeMinutes: 0,
      mode: 'both',
      newThing: null,
      requiredStatuses: null,
    }
    const { out, err, code } = await mergeq(`${lines} --json`, {
      answer: () => ({ body: JSON.stringify(odd) }),
    })
    expect({ code, settings: JSON.parse(out).settings }).toEqual({
      code: 0,
      settings: { concurrency: 1, batch: false, requiredStatuses: null, newThing: null },
    })
    expect(err).toContain('live values cannot be set: mode, batchingMaxWaitTimeMinutes.')
    const switching = { answer: () => ({ body: JSON.stringify({ ...live, state: 'switching_modes' }) }) }
    expect((await mergeq(`${lines} --include-state`, switching)).err).toContain(
      'live values cannot be set: state.',
    )
  })

  test('a file keeps its comments, its order and its other contents', async () => {
    const before =
      '# ours\nrepo: acme/web # mind the name\n\nsettings:\n  # one at a time\n  concurrency: 4 # was 2\n  state: paused\n  requiredStatuses: [ci] # from CI\n  gone: 1\n\n  mode: "single"\n# the end\n'
    const disk = new Map([['q.yaml', before]])
    const now = { ...live, requiredStatuses: ['ci', 'e2e'] }
    const setting = { disk, answer: () => ({ body: JSON.stringify(now) }) }
    expect((await mergeq(`${lines} -f q.yaml`, setting)).code).toBe(0)
    expect(disk.get('q.yaml')).toBe(
      '# ours\nrepo: acme/web # mind the name\n\nsettings:\n  # one at a time\n  concurrency: 1 # was 2\n  state: paused\n  requiredStatuses: [ ci, e2e ] # from CI\n\n  mode: "single"\n  batch: false\ntargetBranch: main\n\n# the end\n',
    )
    const again = await mergeq(`${lines} -f q.yaml`, setting)
    expect(again.err).toContain('q.yaml is up to date with the queue for main in github.com/acme/web.')
  })

  test.each([
    ['an ending that says nothing', '-f q.txt', {}, 2, 'must end in .yaml, .yml or .json'],
    ['a format that contradicts the ending', '-f q.yaml --json', {}, 2, 'does not match the extension'],
    ['a format that is none', '-o csv', {}, 2, 'A queue file is YAML or JSON.'],
    ['fields', '--fields mode', {}, 2, 'A queue file is YAML or JSON.'],
    ['a file that is broken', '-f q.yaml', { 'q.yaml': 'settings: [' }, 2, 'q.yaml:1: invalid YAML'],
    [
      'a file of another queue',
      '-f q.yaml',
      { 'q.yaml': 'targetBranch: next' },
      2,
      '--target-branch is main, but q.yaml is for next',
    ],
    ['a disk that takes nothing', '-f q.yaml', {}, 16, 'q.yaml could not be written: read-only file system.'],
  ])('%s', async (_, flags, files, exit, message) => {
    const { code, out, err } = await mergeq(`${lines} ${flags}`, { files, answer })
    expect({ code, out }).toEqual({ code: exit, out: '' })
    expect(err).toContain(message)
  })

  test('a missing queue is not found', async () => {
    expect((await mergeq(lines, { answer: () => ({ status: 404, body: 'Not Found' }) })).code).toBe(5)
  })

  test('a setting with invisible characters is omitted', async () => {
    const odd = { ...live, newThing: 'a\u202Eb\u0085c', 'k\u200B': 1, other: [1] }
    const { out, err } = await mergeq(lines, { answer: () => ({ body: JSON.stringify(odd) }) })
    expect(parseQueueFile(parseYaml(out, 'q'), 'q').settings).toMatchObject({ other: [1] })
    expect(out).not.toMatch(/newThing|\u200B/)
    expect(err).toContain('live values cannot be set: newThing, k')
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
        expect(readdirSync(folder).sort()).toEqual(['fresh.yaml', 'link.yaml', 'q.yaml'])
        await expect(files.replace(folder, 'x')).rejects.toThrow('it is not a regular file')
        await expect(files.replace(join(folder, 'no/q.yaml'), 'x')).rejects.toThrow('ENOENT')
        expect(readdirSync(folder).sort()).toEqual(['fresh.yaml', 'link.yaml', 'q.yaml'])
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )
})

/** Settings that the sandbox takes, and some that nobody knows. */
const settingsOfSome = fc.record(
  {
    mode: fc.constantFrom('single', 'parallel'),
    concurrency: fc.integer({ min: 1, max: 4_294_967_295 }),
    bisectionConcurrency: fc.integer({ min: 1, max: 50 }),
    testingTimeoutMinutes: fc.nat(1_000),
    batch: fc.boolean(),
    commentsEnabled: fc.boolean(),
    directMergeMode: fc.constantFrom('off', 'always'),
    mergeMethod: fc.constantFrom('squash', 'rebase', 'merge_commit'),
    requiredStatuses: fc.option(
      fc.uniqueArray(
        fc.stringMatching(/^[a-z :#'"-]{0,8}[a-z]$/).map(word => word.trim()),
        { minLength: 1, maxLength: 4 },
      ),
      { nil: null },
    ),
    enqueueingLabel: fc.stringMatching(/^[a-z0-9: #-]{0,10}[a-z]$/).map(word => word.trim()),
    futureThing: fc.jsonValue({ maxDepth: 3 }),
  },
  { requiredKeys: [] },
)

const asJson = (value: unknown): Json => parseJson(JSON.stringify(value)) ?? null
const asObject = (value: unknown): JsonObject => {
  const json = asJson(value)
  return isObject(json) ? json : {}
}

describe('properties', () => {
  test.each(dialects)(
    'apply, then diff is empty, then apply sends nothing; export, then diff is empty (%s)',
    async dialect => {
      await tell(dialect, async story => {
        // A setting that mergeq does not know can be applied if the live queue has it.
        await story.mergeq('queue update --set futureThing=1')
        await fc.assert(
          fc.asyncProperty(settingsOfSome, fc.boolean(), async (settings, isJson) => {
            const name = isJson ? 'q.json' : 'q.yaml'
            const disk = new Map([
              [name, isJson ? JSON.stringify({ settings }) : writeYaml({ settings: asObject(settings) })],
            ])
            const applied = await story.mergeq(`queue apply -f ${name} --yes`, { disk })
            expect(applied.code, applied.err).toBe(0)
            expect((await story.mergeq(`queue diff -f ${name}`, { disk })).code).toBe(0)
            const again = await story.mergeq(`queue apply -f ${name} --yes`, { disk })
            expect(again.out).toBe('main\ttrue\tunchanged\t\n')
            expect((await story.mergeq(`queue export -f ${name}`, { disk })).code).toBe(0)
            expect((await story.mergeq(`queue diff -f ${name}`, { disk })).code).toBe(0)
          }),
          { numRuns: 25 },
        )
      })
    },
  )

  test('YAML: any document is read back unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), document => {
        const settings = asObject(document)
        const text = writeYaml({ settings })
        expect(stringifyJson(parseYaml(text, 'q').value)).toBe(stringifyJson({ settings }))
      }),
      { numRuns: 300 },
    )
  })

  test('YAML: a rewrite keeps the comments of unchanged settings, and has the new values', () => {
    const value = fc.oneof(
      fc.boolean(),
      fc.integer(),
      fc.stringMatching(/^[a-z][a-z ]{0,8}$/),
      fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('k1', 'k2', 'k3', 'k4'), fc.tuple(value, value)), pairs => {
        const text = `# top\nsettings:\n${Object.entries(pairs)
          .map(([key, [before]]) => `  # above ${key}\n  ${key}: ${JSON.stringify(before)} # beside ${key}\n`)
          .join('')}`
        const of = (index: 0 | 1) =>
          asObject(Object.fromEntries(Object.entries(pairs).map(([key, both]) => [key, both[index]])))
        const rewritten = rewriteYaml(text, of(0), { settings: of(1) }, false)
        expect(parseYaml(rewritten, 'q').value).toEqual({ settings: of(1) })
        expect(rewritten).toContain('# top')
        for (const key of Object.keys(pairs))
          for (const place of ['above', 'beside'])
            expect(rewritten.match(new RegExp(`# ${place} ${key}$`, 'gm'))).toHaveLength(1)
      }),
    )
  })

  test('settings: exported settings have no differences, and the digest does not depend on the order', async () => {
    await fc.assert(
      fc.asyncProperty(settingsOfSome, async settings => {
        const { settings: exported, unreadable } = liveSettings({ ...live, ...asObject(settings) }, true)
        expect(unreadable).toEqual([])
        expect(differences(exported, exported)).toEqual([])
        for (const [key, one] of Object.entries(exported))
          expect(isSameSetting(key, readSetting(key, one ?? null), one ?? null)).toBe(true)
        const turned = Object.fromEntries(Object.entries(exported).reverse())
        expect(await settingsDigest(turned)).toBe(await settingsDigest(exported))
        expect(await settingsDigest({ ...exported, concurrency: 77, extra: 1 })).not.toBe(
          await settingsDigest(exported),
        )
      }),
    )
  })
})
