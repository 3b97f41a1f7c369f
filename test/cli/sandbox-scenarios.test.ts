import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { scenarioNames } from '../../src/domain/scenario-names.ts'
import { isMergeqError } from '../../src/errors.ts'
import { parseScenario } from '../../src/sandbox/scenarios.ts'
import { openStory } from '../support/harness.ts'

const dialects = ['document', 'hosted'] as const
const createReader = (name: string, text: string) => async (path: string) =>
  path === name ? text : undefined

/** Runs command lines against one sandbox; `wait` is the time before each, in milliseconds. */
async function runCommands(
  options: Parameters<typeof openStory>[0],
  ...lines: readonly (readonly [wait: number, line: string])[]
) {
  const story = await openStory(options)
  try {
    const outcomes = []
    for (const [wait, line] of lines) {
      story.clock.now += wait
      outcomes.push(await story.mergeq(line))
    }
    return outcomes
  } finally {
    await story.close()
  }
}

const withFile = (scenario: object) => ({
  scenario: 'mine.json',
  readScenario: createReader('mine.json', JSON.stringify(scenario)),
})
const stateIn = (out = '') => JSON.parse(out).state

describe.each(dialects)('the built-in scenarios in the %s dialect', dialect => {
  const state = (line: string) => [60_000, `pr get ${line} --json`] as const

  const cases: Readonly<Record<string, readonly (readonly [pr: number, state: string])[]>> = {
    happy: [[3, 'MERGED']],
    flaky: [[3, 'MERGED']],
    failure: [
      [3, 'FAILED'],
      [4, 'MERGED'],
    ],
    cancelled: [[3, 'CANCELLED']],
    'batch-failure': [
      [4, 'FAILED'],
      [5, 'MERGED'],
    ],
    paused: [[3, 'PENDING']],
    outage: [[3, 'MERGED']],
    slow: [[3, 'MERGED']],
  }

  it('have an expectation for each scenario', () =>
    expect(Object.keys(cases).sort()).toEqual([...scenarioNames].sort()))

  test.each(Object.entries(cases))('%s', async (scenario, endings) => {
    const numbers = endings.map(([pr]) => pr).join(' ')
    const outcomes = await runCommands(
      { dialect, scenario },
      [0, `pr submit ${numbers}`],
      ...endings.map(([pr]) => state(String(pr))),
    )
    expect(outcomes.map(({ code }) => code)).toEqual(outcomes.map(() => 0))
    expect(outcomes.slice(1).map(({ out }) => stateIn(out))).toEqual(endings.map(([, state]) => state))
  })

  it('flaky holds a first run in PENDING_FAILURE', async () => {
    const [, held] = await runCommands(
      { dialect, scenario: 'flaky' },
      [0, 'pr submit 3'],
      [2_600, 'pr get 3 --json'],
    )
    expect(stateIn(held?.out)).toBe('PENDING_FAILURE')
  })

  it('slow tests for twenty seconds', async () => {
    const [, tested] = await runCommands(
      { dialect, scenario: 'slow' },
      [0, 'pr submit 3'],
      [18_000, 'pr get 3 --json'],
    )
    expect(stateIn(tested?.out)).toBe('TESTING')
  })

  it('batch-failure tests four together', async () => {
    const [, run] = await runCommands(
      { dialect, scenario: 'batch-failure' },
      [0, 'pr submit 1 2 3 4'],
      [1_000, 'pr testing --pr 1 --json'],
    )
    expect(JSON.parse(run?.out ?? '').testedPullRequests).toHaveLength(4)
  })

  it('paused moves once it is resumed', async () => {
    const [, , after] = await runCommands(
      { dialect, scenario: 'paused' },
      [0, 'pr submit 3'],
      [5_000, 'queue resume'],
      state('3'),
    )
    expect(stateIn(after?.out)).toBe('MERGED')
  })

  it('a file can have a queue pause and resume by itself', async () => {
    const file = withFile({
      moments: [
        { after: 1, settings: { state: 'paused' } },
        { after: 30, settings: { state: 'running' } },
      ],
    })
    const [, paused, held, merged] = await runCommands(
      { dialect, ...file },
      [0, 'pr submit 3'],
      [2_000, 'queue get --json'],
      [20_000, 'pr get 3 --json'],
      state('3'),
    )
    expect([paused, held, merged].map(outcome => stateIn(outcome?.out))).toEqual([
      'PAUSED',
      'TESTS_PASSED',
      'MERGED',
    ])
  })

  it('a file can have a pull request cancelled, pushed to, and ready late', async () => {
    const file = withFile({
      scripts: [
        { pr: 1, cancelledAfter: 1 },
        { pr: 2, pushedAfter: 1 },
        { pr: 3, readyAfter: 40 },
      ],
    })
    const outcomes = await runCommands(
      { dialect, ...file },
      [0, 'pr submit 1 2 3'],
      [20_000, 'pr get 1 --json'],
      [0, 'pr get 2 --json'],
      [0, 'pr get 3 --json'],
      [0, 'pr submit 2'],
      state('2'),
      state('3'),
    )
    expect([1, 2, 3, 5, 6].map(index => stateIn(outcomes[index]?.out))).toEqual([
      'CANCELLED',
      'CANCELLED',
      'NOT_READY',
      'MERGED',
      'MERGED',
    ])
  })

  it('an upload for another commit than the head does not count', async () => {
    const file = withFile({ settings: { mode: 'parallel' }, scripts: [{ pr: 7, head: 'abc' }] })
    const outcomes = await runCommands(
      { dialect, ...file },
      [0, 'pr submit 7'],
      [0, 'pr targets 7 cart --sha def'],
      [5_000, 'pr get 7 --json'],
      [0, 'pr targets 7 cart --sha abc'],
      state('7'),
    )
    expect(outcomes[1]?.code).toBe(0)
    expect([2, 4].map(index => stateIn(outcomes[index]?.out))).toEqual(['NOT_READY', 'MERGED'])
  })

  it('a file can have everything fail for a while', async () => {
    const file = withFile({ outages: [{ after: 10, lasts: 30 }] })
    const [before, during, after] = await runCommands(
      { dialect, ...file },
      [0, 'queue get --json'],
      [15_000, 'queue get --json --retries 0'],
      [40_000, 'queue get --json'],
    )
    expect([before?.code, during?.code, after?.code]).toEqual([0, 7, 0])
  })
})

test('the hosted dialect shows the previous attempt until the new submit is visible', async () => {
  const [, failed, , stale, fresh] = await runCommands(
    { dialect: 'hosted', scenario: 'failure' },
    [0, 'pr submit 3'],
    [60_000, 'pr get 3 --json'],
    [0, 'pr submit 3'],
    [50, 'pr get 3 --json'],
    [200, 'pr get 3 --json'],
  )
  expect(stale?.out).toBe(failed?.out)
  expect(stateIn(fresh?.out)).toBe('NOT_READY')
})

test('the scenario file in the guide is valid', () => {
  const [, json = ''] =
    /```json\n(\{\n {2}"scripts"[\s\S]*?)```/.exec(readFileSync('docs/sandbox.md', 'utf8')) ?? []
  expect(parseScenario(json, 'mine.json')).toMatchObject({ stretch: 2, outages: [{ after: 30, lasts: 5 }] })
})

describe('the error for a bad scenario file names the bad part', () => {
  test.each([
    ['{', 'it contains invalid JSON'],
    ['[]', 'the file must be an object'],
    ['{"script":[]}', "unknown field 'script'"],
    ['{"scripts":1}', 'scripts must be a list'],
    ['{"scripts":[{"pr":1},{"pr":0}]}', 'scripts[1]: pr must be a whole number from 1 to'],
    ['{"scripts":[{"runs":["pass"]}]}', 'scripts[0]: either pr or divisibleBy is required'],
    ['{"scripts":[{"pr":1,"divisibleBy":2}]}', 'scripts[0]: either pr or'],
    ['{"scripts":[{"pr":1,"runs":["flake"]}]}', 'scripts[0]: runs must be a list of pass, fail'],
    ['{"scripts":[{"pr":1,"runs":["passed"]}]}', 'scripts[0]: runs must be'],
    ['{"scripts":[{"divisibleBy":1,"head":"a"}]}', 'head requires pr'],
    ['{"scripts":[{"pr":1,"pushedAfter":-1}]}', 'scripts[0]: pushedAfter must be'],
    ['{"settings":{"concurency":2}}', "settings: unknown setting 'concurency'"],
    ['{"settings":{"concurrency":0}}', 'settings: concurrency must be a whole number from 1'],
    ['{"moments":[{"settings":{}}]}', 'moments[0] requires after and settings'],
    ['{"moments":[{"after":1,"settings":{"state":"stopped"}}]}', 'moments[0].settings: state must be'],
    ['{"outages":[{"after":1}]}', 'outages[0] requires after and lasts'],
    ['{"outage":1.5}', 'outage must be'],
    ['{"stretch":0}', 'stretch must be a number greater than 0'],
  ])('%s', (text, message) => {
    try {
      parseScenario(text, 'mine.json')
      expect.unreachable()
    } catch (error) {
      expect(isMergeqError(error) && [error.exit, error.message]).toEqual([
        2,
        expect.stringContaining(message),
      ])
      expect(error).toMatchObject({ message: expect.stringContaining('mine.json') })
    }
  })
})
