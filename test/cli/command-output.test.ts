import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStory, type Story } from '../support/harness.ts'

const dialects = ['document', 'hosted'] as const

/** Every operation once, in an order in which it has something to show. */
const lines: readonly (readonly [name: string, line: string])[] = [
  ['queue-create', 'queue create -b release --mode single --concurrency 2'],
  ['pr-targets', 'pr targets 7 //cart:lib //web:app --sha 4f2a9c1'],
  ['pr-submit', 'pr submit 7 8 --priority high'],
  ['pr-get', 'pr get 7 8'],
  ['queue-update', 'queue update --concurrency 2 --pending-failure-depth 1'],
  ['pr-testing', 'pr testing --pr 7'],
  ['queue-get', 'queue get'],
  ['pr-restart', 'pr restart 7'],
  ['pr-cancel', 'pr cancel 8'],
  ['metrics', 'metrics'],
  ['flaky-list', 'flaky list --since 7d --limit 4'],
  ['flaky-get', 'flaky get'],
  ['queue-delete', 'queue delete -b release --yes'],
]

describe.each(dialects)('every operation in the %s dialect', dialect => {
  const stories: Story[] = []
  const formats = { table: '', tsv: '', json: '--json' }

  beforeAll(async () => {
    for (const _ of Object.keys(formats)) stories.push(await openStory({ dialect }))
  })
  afterAll(() => Promise.all(stories.map(story => story.close())))

  test.each(lines)('%s', async (name, line) => {
    let golden = ''
    for (const [index, [format, flag]] of Object.entries(formats).entries()) {
      const story = stories[index]
      if (story === undefined) throw new Error('no story')
      story.clock.now += 300
      const id =
        name === 'flaky-get' ? (await story.mergeq('flaky list --fields id --limit 1')).out.trim() : ''
      const terminal = format === 'table'
      const { code, out, err } = await story.mergeq(`${line} ${id} ${flag} --color never`, {
        terminal,
        columns: 120,
      })
      golden += `$ mergeq ${`${line} ${id}`.trim()} ${flag} (${format})\n${out}`
      golden += `${err.replaceAll(/^/gm, '! ').replace(/! $/, '')}-> ${code}\n\n`
    }
    await expect(golden).toMatchFileSnapshot(`../golden/${dialect}/${name}.txt`)
    expect(golden.match(/^-> .*$/gm)).toEqual(['-> 0', '-> 0', '-> 0'])
  })
})

describe.each(dialects)('submitting and waiting in the %s dialect', dialect => {
  const tell = async (scenario: string, ...lines: readonly string[]) => {
    const story = await openStory({ dialect, scenario })
    try {
      const outcomes = []
      for (const line of lines) outcomes.push(await story.mergeq(line))
      return outcomes
    } finally {
      await story.close()
    }
  }
  const ways: readonly (readonly [string, number, string])[] = [
    ['happy', 0, 'MERGED'],
    ['flaky', 0, 'MERGED'],
    ['failure', 3, 'FAILED'],
    ['cancelled', 10, 'CANCELLED'],
    ['slow', 0, 'MERGED'],
  ]

  test.each(ways)('%s: a wait ends with %i and %s', async (scenario, code, state) => {
    const [submitted, waited, got] = await tell(
      scenario,
      'pr submit 9',
      'pr wait 9 --interval 1s',
      'pr get 9 --json',
    )
    expect(submitted?.code).toBe(0)
    expect(waited?.code).toBe(code)
    expect(waited?.out).toMatch(new RegExp(`^9\\t[a-z]+\\t${state}\\t\\d+\\n$`))
    expect(JSON.parse(got?.out ?? '')).toMatchObject({ state })
  })

  test('a wait that takes too long ends with 124 and the last state', async () => {
    const [, waited] = await tell('paused', 'pr submit 9', 'pr wait 9 --interval 1s --timeout 5s')
    expect({ code: waited?.code, out: waited?.out }).toEqual({ code: 124, out: '9\ttimed-out\tPENDING\t5\n' })
  })

  test('--exit-status reports the state of a pull request as the exit code', async () => {
    const [, pending] = await tell('happy', 'pr submit 9', 'pr get 9 --exit-status')
    expect(pending?.code).toBe(dialect === 'hosted' ? 5 : 8)
  })

  test('a queue with pull requests is not deleted; the error lists them and says what to do', async () => {
    const [, , , refused, done] = await tell(
      'paused',
      'pr submit 9 10',
      'pr get 9',
      'pr wait 9 10 --interval 1s --timeout 2s',
      'queue delete --yes',
      'queue delete --yes --cancel-all',
    )
    expect(refused?.code).toBe(6)
    expect(refused?.err).toMatch(/not empty \(2 pull requests queued: #9, #10\)\./)
    expect(refused?.err).toMatch(/--cancel-all/)
    expect(done?.code).toBe(0)
  })
})
