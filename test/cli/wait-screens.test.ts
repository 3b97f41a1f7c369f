import { describe, expect, test } from 'vitest'
import { mergeq, openStory, type Setting } from '../support/harness.ts'
import { type Course, documentsIn, runWithHistory } from '../support/pr-wait.ts'

const person: Setting = { terminal: true, env: { NO_COLOR: '1' } }

describe.each(['document', 'hosted'] as const)('the end of a wait on a terminal, %s', dialect => {
  test('names commands that work, also those of another queue', async () => {
    const story = await openStory({ dialect, scenario: 'failure' })
    const { out } = await story.mergeq('pr submit 9 --wait --interval 1s -R acme/web -b main', person)
    const commands = out.match(/mergeq pr \w+ 9.*?(?= {6}|$)/gm) ?? []
    expect(commands).toEqual([
      'mergeq pr explain 9 --repo acme/web --target-branch main',
      'mergeq pr submit 9 --repo acme/web --target-branch main',
    ])
    for (const command of commands)
      expect((await story.mergeq(command.replace('mergeq ', ''), { env: { MERGEQ_REPO: '' } })).code).toBe(0)
    await story.close()
  })
})

const failing: Course = [
  [0, 'TESTING'],
  [2, 'FAILED', { testRunId: 'run-1' }],
]
const url = `https://ci.example/runs/${'1234567890'.repeat(6)}/job/1`
const testRun = (...names: readonly string[]) => ({
  body: JSON.stringify({
    testedPullRequests: [{ prNumber: 7 }],
    checkSuites: [{ checkRuns: names.map(name => ({ name, conclusion: 'FAILURE', url: `${url}#${name}` })) }],
  }),
})
const runOf = (...names: readonly string[]) => ({
  pulls: { 7: failing, 8: failing },
  fault: (_: number, operation: string) =>
    operation === 'getMergeQueueTestingDetails' ? testRun(...names) : undefined,
})
const reads = (operations: readonly string[]) =>
  operations.filter(operation => operation === 'getMergeQueueTestingDetails').length

describe('the failing checks', () => {
  const line = 'pr wait 7 --interval 1s'

  test.each([60, 80, 120, 200])('keep their addresses whole at %i columns', async columns => {
    const { out, code, operations } = await runWithHistory(line, {
      ...runOf('test'),
      setting: { ...person, columns },
    })
    expect({ code, reads: reads(operations) }).toEqual({ code: 3, reads: 1 })
    expect(out).toBe(
      columns >= 200
        ? `✗ #7 failed after 2s. Failing check: test  ${url}#test\n  Details: mergeq pr explain 7      After a fix: mergeq pr submit 7\n`
        : `✗ #7 failed after 2s. Failing check: test\n    ${url}#test\n${
            columns === 60
              ? '  Details: mergeq pr explain 7\n  After a fix: mergeq pr submit 7\n'
              : '  Details: mergeq pr explain 7      After a fix: mergeq pr submit 7\n'
          }`,
    )
  })

  test('of several have lines of their own', async () => {
    const { out } = await runWithHistory(line, {
      ...runOf('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      setting: { ...person, columns: 120 },
    })
    expect(out.split('\n').slice(0, 7)).toEqual([
      '✗ #7 failed after 2s. Failing checks:',
      ...['a', 'b', 'c', 'd', 'e'].map(name => `    ${name}  ${url}#${name}`),
      '    and 2 more',
    ])
  })

  test('are in the log of a pipe, whose standard output stays unchanged', async () => {
    const { out, err, operations } = await runWithHistory(line, runOf('test'))
    expect({ out, reads: reads(operations) }).toEqual({ out: '7\tfailed\tFAILED\t2\n', reads: 1 })
    expect(err).toBe(`#7 TESTING\n#7 TESTING -> FAILED\n#7: the check "test" failed: ${url}#test\n`)
  })

  test('are not read with -q, which shows nothing of them', async () => {
    const { code, err, operations } = await runWithHistory(`${line} -q`, runOf('test'))
    expect({ code, reads: reads(operations), said: err.includes('check') }).toEqual({
      code: 3,
      reads: 0,
      said: false,
    })
  })

  test.each(['--json', '-o ndjson', '--json -q'])('are in the result with %s', async flags => {
    const names = ['test', 'x'.repeat(100)]
    const { code, out, err, operations } = await runWithHistory(`${line} ${flags}`, {
      ...runOf(...names),
      pulls: { 7: [[0, 'FAILED', { testRunId: 'run-1', prTitle: 'Add search' }]] },
    })
    expect({ code, reads: reads(operations), said: err.includes('check') }).toEqual({
      code: 3,
      reads: 1,
      said: false,
    })
    expect(documentsIn(out).at(-1)).toEqual({
      type: 'result',
      pr: 7,
      title: 'Add search',
      url: 'https://github.com/acme/web/pull/7',
      outcome: 'failed',
      state: 'FAILED',
      reason: '#7 has already failed',
      failingChecks: names.map(name => ({ name, url: `${url}#${name}`, conclusion: 'FAILURE' })),
      elapsedSeconds: 0,
      exit: 3,
    })
  })

  test('are an empty list in the result if they cannot be read', async () => {
    const { out } = await runWithHistory(`${line} --json --until left`, {
      pulls: { 7: failing },
      fault: (_, operation) => (operation === 'getMergeQueueTestingDetails' ? { status: 500 } : undefined),
    })
    expect(documentsIn(out)).toEqual([expect.objectContaining({ outcome: 'left', failingChecks: [] })])
  })

  test.each(['', '--json', '-o ndjson', '-o csv', '-o table'])(
    'are a line each on standard error in CI, also with "%s"',
    async format => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f']
      const { err } = await runWithHistory(`${line} ${format}`, {
        ...runOf(...names),
        setting: { env: { CI: '1' } },
      })
      expect(err.match(/^#7: the check .*$/gm)).toEqual(
        names.map(name => `#7: the check "${name}" failed: ${url}#${name}`),
      )
    },
  )

  test('are read for ten pull requests at most', async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
    const { operations } = await runWithHistory(`pr wait ${numbers.join(' ')} --interval 1s`, {
      ...runOf('test'),
      pulls: Object.fromEntries(numbers.map(number => [number, failing])),
    })
    expect(reads(operations)).toBe(10)
  })

  test.each([401, 404, 500])('a %i instead of them changes nothing and is not repeated', async status => {
    const { code, out, err, operations } = await runWithHistory(line, {
      pulls: { 7: failing },
      fault: (_, operation) => (operation === 'getMergeQueueTestingDetails' ? { status } : undefined),
      setting: person,
    })
    expect({ code, out, err, reads: reads(operations) }).toEqual({
      code: 3,
      out: '✗ #7 failed after 2s\n  Details: mergeq pr explain 7      After a fix: mergeq pr submit 7\n',
      err: '#7 ◐ testing\n',
      reads: 1,
    })
  })
})

describe('a state change', () => {
  const pulls = {
    7: [
      [0, 'PENDING'],
      [4, 'TESTING'],
      [6, 'MERGED'],
    ] as const,
    8: [[0, 'PENDING']] as const,
  }
  const line = 'pr wait 7 8 --interval 2s --timeout 8s'

  test('is in words and signs on a terminal; the last one is the result', async () => {
    const { out, err } = await runWithHistory(line, { pulls, setting: person })
    expect(err).toBe('#7 ● pending, 1st\n#8 ● pending, 2nd\n#7 ● pending -> ◐ testing, 1st\n')
    expect(out).toBe(
      '✓ #7 merged after 6s\n● The wait for #8 timed out after 8s, still pending\n  To continue waiting: mergeq pr wait 8\n',
    )
  })

  test('has the colors of its states', async () => {
    const { err, out } = await runWithHistory(line, { pulls, setting: { terminal: true } })
    expect(err).toContain('#7 \u001B[34m● pending\u001B[39m -> \u001B[33m◐ testing\u001B[39m, 1st\n')
    expect(out).toContain('\u001B[32m✓\u001B[39m #7 \u001B[32mmerged\u001B[39m after 6s\n')
    expect(out).toContain('\u001B[2m  To continue waiting: mergeq pr wait 8\u001B[22m\n')
  })

  test('is the same in CI as on a pipe, and the last state is shown if the result is not a line', async () => {
    const { err } = await runWithHistory(line, { pulls, setting: { ...person, env: { CI: '1' } } })
    expect(err).toContain('#7 PENDING -> TESTING, position 1\n#7 TESTING -> MERGED\n')
    const { err: shown } = await runWithHistory(`${line} --json`, { pulls, setting: person })
    expect(shown).toContain('#7 ◐ testing -> ✓ merged\n')
  })
})

describe('the usual time in the queue', () => {
  test.each([{}, person, { ...person, redraws: true, env: { CI: '1' } }])(
    'is not asked for where no live line is shown (%j)',
    async setting => {
      const { operations } = await runWithHistory('pr wait 7 --interval 1s', {
        pulls: { 7: failing },
        setting,
      })
      expect(operations.filter(operation => operation.startsWith('getMergeQueueMetrics'))).toEqual([])
    },
  )
})

describe('pr submit without --wait', () => {
  const submit = (line: string, setting: Setting) => runWithHistory(line, { pulls: {}, setting })

  test('names the command that follows, to a person', async () => {
    expect((await submit('pr submit 7', person)).err).toBe('For the result, run: mergeq pr wait 7\n')
    expect((await submit('pr submit 7 8 -b main', { terminal: true })).err).toBe(
      '\u001B[2mFor the result, run: mergeq pr wait 7 8 --target-branch main\u001B[22m\n',
    )
  })

  test.each<[string, Setting]>([
    ['pr submit 7', {}],
    ['pr submit 7 --json', person],
    ['pr submit 7 -q', person],
    ['pr submit 7', { ...person, env: { CI: '1' } }],
  ])('%s does not elsewhere (%j)', async (line, setting) => {
    expect((await submit(line, setting)).err).not.toContain('For the result')
  })

  test('nor where it was refused', async () => {
    const { err } = await runWithHistory('pr submit 7', {
      pulls: {},
      fault: () => ({ status: 422, body: 'no' }),
      setting: person,
    })
    expect(err).not.toContain('For the result')
  })
})

describe('the first reading of a wait', () => {
  const where = '-R acme/web -b main'

  test('of a pull request that is already merged is one line, in CI too', async () => {
    const { out, err } = await mergeq(`pr wait 7 ${where}`, {
      answer: () => ({ body: JSON.stringify({ state: 'merged', stateChangedAt: '2026-01-05T11:00:00Z' }) }),
      terminal: true,
      env: { NO_COLOR: '1', CI: '1' },
    })
    expect(out).toContain('#7 is already merged')
    expect(err).not.toContain('#7 MERGED')
  })

  test('that follows failed polls does not say that nothing changed', async () => {
    const { out } = await runWithHistory('pr wait 7 --interval 2s', {
      pulls: { 7: [[0, 'MERGED']] },
      fault: second => (second === 0 ? { status: 500 } : undefined),
      setting: person,
    })
    expect(out).toBe('✓ #7 merged after 2s\n')
  })

  test.each(['', '--json'])('that finds nothing says once how long the wait bears that %s', async format => {
    const { code, err } = await mergeq(`pr wait 77 --grace 90s ${format} ${where}`, {
      answer: () => ({ status: 404 }),
    })
    expect(code).toBe(5)
    expect(err.match(/.*not visible yet.*/g)).toEqual([
      '#77 is not visible yet; waiting up to 1m30s (--grace).',
    ])
  })
})
