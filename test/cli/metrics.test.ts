import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkMetrics, suggestNames } from '../../src/domain/metrics/check-metrics.ts'
import { parseSamples } from '../../src/domain/metrics/exposition.ts'
import { parseExpression } from '../../src/domain/metrics/expression.ts'
import { toMergeqError } from '../../src/errors.ts'
import { bar, sparkline } from '../../src/output/charts.ts'
import { type Answer, mergeq, openStory, type Setting } from '../support/harness.ts'

const text = `# HELP mq_depth_current Queued
# TYPE mq_depth_current gauge
mq_depth_current{repo="acme/web",branch="main",queue_type="main"} 12
mq_depth_current{repo="acme/web",branch="main",queue_type="bisection"} 3

# TYPE mq_pr_restarts_1h_total gauge
mq_pr_restarts_1h_total{repo="acme/web",branch="main",queue_type="main"} NaN

# TYPE mq_pr_time_in_queue_1h_seconds histogram
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="main",le="60"} 2
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="main",le="300"} 10
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="main",le="+Inf"} 11
mq_pr_time_in_queue_1h_seconds_sum{repo="acme/web",branch="main"} 2200
mq_pr_time_in_queue_1h_seconds_count{repo="acme/web",branch="main"} 11
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="quiet",le="60"} 0
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="quiet",le="+Inf"} 0
mq_pr_time_in_queue_1h_seconds_count{repo="acme/web",branch="quiet"} 0
`
const answer = (): Answer => ({ body: text })
const check = (expressions: string | readonly string[], setting: Setting = {}, ...flags: readonly string[]) =>
  mergeq(['metrics', 'check', ...[expressions].flat(), ...flags], { answer, ...setting })
const main = '{repo="acme/web", branch="main", queue_type="main"}'

describe('all series on a terminal', () => {
  test('bars, small histograms, and common labels only once', async () => {
    const { code, out } = await mergeq('metrics --raw --color never', {
      answer,
      terminal: true,
      columns: 110,
    })
    expect(code).toBe(0)
    expect(out).toBe(`5 series of repo=acme/web
NAME                            LABELS                            VALUE  PICTURE
mq_depth_current                branch=main queue_type=main          12  ████████████████
mq_depth_current                branch=main queue_type=bisection      3  ████
mq_pr_restarts_1h_total         branch=main queue_type=main         NaN  -
mq_pr_time_in_queue_1h_seconds  branch=main                          11  [▂█▁] 60 to +Inf, mean 200
mq_pr_time_in_queue_1h_seconds  branch=quiet                          0  -
`)
  })

  test('is drawn on a pipe with -o table; otherwise the bytes stay unchanged', async () => {
    const bytes = await mergeq('metrics', { answer })
    expect(bytes.out).toBe(text)
    const drawn = await mergeq('metrics --raw -o table --color never', { answer, columns: 110 })
    expect(drawn.out).toContain('████')
    const csv = await mergeq('metrics -o csv', { answer, terminal: true })
    expect(csv.out.split('\r\n')[1]).toBe('mq_depth_current,repo=acme/web branch=main queue_type=main,12')
  })

  test('a bar and a sparkline have the requested length, and values other than 0 are visible', () => {
    const value = fc.oneof(fc.double({ noNaN: true }), fc.integer(), fc.constant(Number.NaN))
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), values => {
        expect([...sparkline(values)]).toHaveLength(values.length)
        for (const one of values) {
          const drawn = bar(one, 100, 8)
          expect(drawn.length).toBeLessThanOrEqual(8)
          expect(drawn === '').toBe(!(one > 0))
        }
      }),
    )
    expect(sparkline([0, 1, 2, 4, 8])).toBe(' ▁▂▄█')
    expect(sparkline([5, 5, 5])).toBe('███')
    expect(sparkline([-4, 0, 4])).toBe('▁▄█')
    expect([bar(8, 8, 4), bar(4, 8, 4), bar(8, 64, 4), bar(9, 8, 4)]).toEqual(['████', '██', '▌', '████'])
  })
})

describe('metrics check', () => {
  test('0 when all hold, each with its reason', async () => {
    const { code, out, err } = await check(['mq_depth_current < 50', 'max(mq_depth_current) == 12'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(
      [
        `pass\tmq_depth_current${main} is 12, which is < 50`,
        'pass\tmq_depth_current{repo="acme/web", branch="main", queue_type="bisection"} is 3, which is < 50',
        'pass\tmax(mq_depth_current) is 12, which is == 12',
        '',
      ].join('\n'),
    )
  })

  test('21 when one of several does not hold, and the first that does not is reported', async () => {
    const { code, out, err } = await check('mq_depth_current > 3')
    expect(code).toBe(21)
    expect(out.split('\n').map(line => line.split('\t')[0])).toEqual(['pass', 'fail', ''])
    expect(err).toBe(
      'mergeq: metrics check: 1 of 2 values does not meet the threshold: mq_depth_current{repo="acme/web", branch="main", queue_type="bisection"} is 3, not > 3.\n  To show all metrics, run: mergeq metrics --raw\n',
    )
  })

  test('on a terminal each verdict has a sign, and what does not hold is last', async () => {
    const line = ['metrics', 'check', 'mq_depth_current < 5', 'max(mq_depth_current) == 12', '-R', 'acme/web']
    const { code, out } = await mergeq(line, { answer, terminal: true, columns: 120, env: { NO_COLOR: '1' } })
    expect({ code, out }).toEqual({
      code: 21,
      out: [
        'RESULT  REASON',
        '✓ pass  mq_depth_current{repo="acme/web", branch="main", queue_type="bisection"} is 3, which is < 5',
        '✓ pass  max(mq_depth_current) is 12, which is == 12',
        `✗ fail  mq_depth_current${main} is 12, not < 5`,
        '',
      ].join('\n'),
    })
  })

  test('a quantile says that it is interpolated, and where', async () => {
    const { code, out } = await check(
      'quantile(0.5, mq_pr_time_in_queue_1h_seconds{branch="main"}) <= 200',
      {},
      '--json',
    )
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual([
      {
        expression: 'quantile(0.5, mq_pr_time_in_queue_1h_seconds{branch="main"}) <= 200',
        series: 'quantile(0.5, mq_pr_time_in_queue_1h_seconds{repo="acme/web", branch="main"})',
        labels: { repo: 'acme/web', branch: 'main' },
        value: 165,
        holds: true,
        interpolated: true,
        between: [60, 300],
        reason:
          'quantile(0.5, mq_pr_time_in_queue_1h_seconds{repo="acme/web", branch="main"}) is 165 (interpolated between 60 and 300), which is <= 200',
      },
    ])
  })

  test('a histogram without observations has no value and meets no threshold', async () => {
    const { code, out } = await check(
      'quantile(0.9, mq_pr_time_in_queue_1h_seconds{branch="quiet"}) < 999',
      {},
      '-o',
      'ndjson',
    )
    expect(code).toBe(21)
    expect(JSON.parse(out)).toMatchObject({ value: 'NaN', holds: false, interpolated: true, between: null })
    expect(out).toContain('(no observations)')
  })

  test('5 when a series is absent, with the nearest; what else was asked is answered', async () => {
    const { code, out, err } = await check(['mq_queue_depth_current > 1', 'mq_depth_current > 50'])
    expect(code).toBe(5)
    expect(out.split('\n').map(line => line.split('\t')[0])).toEqual(['fail', 'fail', 'fail', ''])
    expect(err).toMatch(
      /^mergeq: Series not found: mq_queue_depth_current\.\n {2}Did you mean mq_depth_current, /,
    )
  })

  test.each([
    [
      'mq_depth_current{branch="x"} > 1',
      /Series not found: mq_depth_current\{branch="x"\}\.\n {2}Series with this name:\n {2}mq_depth_current\{repo=/,
    ],
    ['mq_pr_time_in_queue_1h_seconds > 1', /is a histogram: use quantile\(0\.95, /],
    [
      'quantile(0.9, mq_depth_current) > 1',
      /mq_depth_current is not a histogram\.\n {2}Remove quantile, or use one of: mq_pr_time/,
    ],
  ])('5 for %s', async (typed, message) => {
    const { code, err } = await check(typed)
    expect(code).toBe(5)
    expect(err).toMatch(message)
  })

  test('without any series the hint says so', async () => {
    const { code, err } = await check('up > 0', { answer: () => ({ body: '\n' }) })
    expect(code).toBe(5)
    expect(err).toContain('No metrics found. Does the queue exist, and was it active in the last hour?')
  })

  test('one repository or all, as `metrics`; --dry-run sends nothing and needs no token', async () => {
    const { requests } = await check('mq_depth_current > 1', {}, '-R', 'acme/web')
    expect(requests.map(({ path }) => path)).toEqual([
      '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=github.com',
    ])
    const dry = await check('mq_depth_current > 1', { env: { MERGEQ_TOKEN: '' } }, '--all-repos', '--dry-run')
    expect({ code: dry.code, sent: dry.requests.length }).toEqual({ code: 0, sent: 0 })
    expect(JSON.parse(dry.out)).toMatchObject({ operation: 'getMergeQueueMetrics' })
  })

  const wrong: readonly (readonly [typed: string, what: RegExp, at: number])[] = [
    ['', /expected the name of a series/, 1],
    ['mq', /expected one of .*/, 3],
    ['mq = 1', /use == for equality/, 4],
    ['mq < ', /expected a number/, 6],
    ['mq < x', /expected a number/, 6],
    ['mq < NaN', /expected a number/, 6],
    ['mq < 1 2', /only one comparison is supported/, 8],
    ['mq{ < 1', /expected the name of a label/, 5],
    ['mq{a} < 1', /expected one of = != =~ !~/, 5],
    ['mq{a=b} < 1', /expected a value in quotes/, 6],
    ['mq{a="b" < 1', /expected a }/, 10],
    ['mq{a=~"x(y"} < 1', /invalid regular expression: Invalid .*: Unterminated group/, 7],
    ['mq{a=~"x)|(y"} < 1', /invalid regular expression: Invalid .*: Unmatched '\)'/, 7],
    ['mq{a!~"x{3,2}"} < 1', /invalid regular expression: Invalid .*: numbers out of order/, 7],
    ['sum(mq < 1', /expected a \)/, 8],
    ['sum(max(mq)) < 1', /functions cannot be nested/, 5],
    ['median(mq) < 1', /unknown function median\(\)/, 1],
    ['quantile(mq) < 1', /the first argument of quantile must be a number/, 10],
    ['quantile(95, mq) < 1', /the first argument of quantile must be a number/, 10],
    ['quantile(0.9 mq) < 1', /expected a comma/, 14],
    ['sum by (branch) (mq) < 1', /grouping \(by, without\) is not supported/, 5],
    ['1 < mq', /expected the name of a series/, 1],
    ['rate(mq_pr_restarts_1h_total[5m]) > 1', /rate\(\) is not supported/, 1],
    ['increase(mq[1h]) > 1', /increase\(\) is not supported/, 1],
    ['sum(rate(mq[1h])) > 1', /rate\(\) is not supported/, 5],
    ['mq[5m] > 1', /ranges are not supported/, 3],
    ['max_over_time(mq[1h]) > 1', /max_over_time\(\) is not supported/, 1],
  ]
  test.each(wrong)('2 for %j, with its place, and nothing is sent', async (typed, what, at) => {
    const { code, err, requests } = await check(typed)
    expect({ code, sent: requests.length }).toEqual({ code: 2, sent: 0 })
    expect(err).toMatch(what)
    expect(err).toContain(`(at character ${at})`)
    const [, shown = '', caret = ''] = err.split('\n')
    expect(shown).toBe(`  ${typed}`.trimEnd() === '' ? '  ' : `  ${typed}`)
    expect(caret).toBe(`  ${' '.repeat(at - 1)}^`)
    if (/\[|rate|over_time/.test(typed)) expect(err).toContain('gauges over the last hour')
  })

  test.each([
    ['main', 'main', true],
    ['mai', 'main', false],
    ['ain', 'main', false],
    ['main|release-.*', 'release-1', true],
    ['main|release-.*', 'a-main', false],
    ['a\\\\.b', 'a-b', false],
    ['a\\\\.b', 'a.b', true],
    ['.*', '', true],
    ['a.b', 'a\nb', true],
    ['a.b', 'a😀b', true],
    ['(?<x>a)\\\\k<x>', 'aa', true],
  ])('the regular expression %s and the whole value %j', (pattern, value, matches) => {
    const { series } = parseExpression(`mq{a=~"${pattern}"} < 1`)
    expect(series.matchers.map(matcher => matcher.matches(value))).toEqual([matches])
    const { series: others } = parseExpression(`mq{a!~"${pattern}"} < 1`)
    expect(others.matchers.map(matcher => matcher.matches(value))).toEqual([!matches])
  })

  test('any text is an expression or a usage failure', () => {
    const piece = fc.constantFrom(
      'mq',
      'sum',
      'quantile',
      '(',
      ')',
      '{',
      '}',
      '"',
      "'",
      '=~',
      '=',
      '<',
      '>=',
      ',',
      '0.5',
      ' ',
      '[',
      '\\',
      'é',
      '\n',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), pieces => {
        try {
          parseExpression(pieces.join(''))
        } catch (error) {
          expect(toMergeqError(error).kind).toBe('usage')
        }
      }),
    )
  })

  test('for any values, all series meet the threshold or a record says why not', () => {
    const values = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 6 })
    const sign = fc.constantFrom('<', '<=', '>', '>=', '==', '!=')
    fc.assert(
      fc.property(values, sign, fc.integer({ min: -5, max: 5 }), (all, op, bound) => {
        const samples = parseSamples(all.map((value, index) => `a{i="${index}"} ${value}\n`).join(''))
        const holds = checkMetrics(parseExpression(`a ${op} ${bound}`), samples).map(one => one.holds)
        const js = (value: number) =>
          ({
            '<': value < bound,
            '<=': value <= bound,
            '>': value > bound,
            '>=': value >= bound,
            '==': value === bound,
            '!=': value !== bound,
          })[op]
        expect(holds).toEqual(all.map(js))
      }),
    )
  })

  test('a property of the prototype is not a label', async () => {
    expect((await check('mq_depth_current{constructor="",__proto__=""} > 0')).code).toBe(0)
  })

  test('the nearest name is the one that a slip of the keys missed', () => {
    const names = ['mq_depth_current', 'mq_awaiting_mergeability', 'mq_testing_slots_active'].map(name => ({
      name,
    }))
    expect(
      ['mq_dept_current', 'mq_mergeability', 'mq_slots'].map(name => suggestNames(name, names)[0]),
    ).toEqual(names.map(({ name }) => name))
  })
})

describe.each(['document', 'hosted'] as const)('a gate on the queue, %s', dialect => {
  test('says no while it is deep, and yes once it is empty', async () => {
    const story = await openStory({ dialect })
    const gate = () =>
      story.mergeq(
        "metrics check 'sum(mq_depth_current{queue_type=\"main\"}) == 0' 'mq_awaiting_mergeability == 0' -o ndjson",
      )
    await story.mergeq('pr submit 7 8')
    const before = await gate()
    story.clock.now += 60_000
    const after = await gate()
    await story.close()
    expect([before.code, after.code]).toEqual([21, 0])
    expect(
      after.out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).holds),
    ).toEqual([true, true, true])
  })
})

describe.each(['document', 'hosted'] as const)('metrics watch, %s', dialect => {
  const story = async (line: string, setting: Setting = {}) => {
    const story = await openStory({ dialect })
    await story.mergeq('pr submit 7 8')
    story.clock.now += 1_000
    const outcome = await story.mergeq(`metrics watch ${line}`, setting)
    await story.close()
    return outcome
  }

  test('on a pipe, a line for each change, once a minute', async () => {
    const { code, out, err, sleeps } = await story('--for 2m')
    expect({ code, sleeps }).toEqual({ code: 0, sleeps: [60_000, 60_000] })
    expect(err).toMatch(/Watching \d+ series\.\n/)
    expect(out).toMatch(/^\S+\tmq_depth_current\trepo=acme\/web branch=main queue_type=main\t2\t0$/m)
    expect(out).not.toContain('_bucket')
  })

  test('-o ndjson prints all series once, then changes; -o csv has a header', async () => {
    const { out } = await story('--interval 10s --for 20s -o ndjson')
    const [first, ...changes] = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(first).toMatchObject({
      type: 'metrics',
      series: expect.arrayContaining([expect.objectContaining({ name: 'mq_depth_current', value: 2 })]),
    })
    expect(changes.length).toBeGreaterThan(2)
    for (const change of changes)
      expect(change).toMatchObject({ type: 'change', from: expect.any(Number), to: expect.any(Number) })
    expect((await story('--interval 10s --for 20s -o csv')).out).toMatch(/^at,name,labels,from,to\r\n/)
  })

  test.each(['', '--json', '-o csv'])('--once %s is what `metrics` prints', async flags => {
    const story = await openStory({ dialect })
    const [once, plain] = [
      await story.mergeq(`metrics watch --once ${flags}`),
      await story.mergeq(`metrics ${flags}`),
    ]
    await story.close()
    expect({ code: once.code, out: once.out }).toEqual({ code: 0, out: plain.out })
  })
})

describe('how metrics watch ends', () => {
  const good = { body: text }
  const watch = (line: string, answers: readonly Answer[]) =>
    mergeq(`metrics watch --interval 1s ${line}`, {
      answer: (_, index) => answers[Math.min(index, answers.length - 1)] ?? {},
    })

  test('as `queue watch`: a refused token at once, faults when there are too many in a row', async () => {
    const [refused, faulty, mended] = [
      await watch('', [good, { status: 401 }]),
      await watch('--max-errors 3', [good, { status: 503 }]),
      await watch('--max-errors 2 --for 9s', [good, { status: 503 }, good, { status: 503 }, good]),
    ]
    expect([refused.code, faulty.code, mended.code]).toEqual([4, 7, 0])
    expect([refused.requests.length, faulty.requests.length]).toEqual([2, 4])
    const first = await watch('--retries 0', [{ status: 503 }, good])
    expect({ code: first.code, requests: first.requests.length }).toEqual({ code: 7, requests: 1 })
    expect((await watch('--json', [good])).code).toBe(2)
    expect((await watch('--once --for 1s', [good])).code).toBe(2)
  })

  test('a series that appears, disappears or becomes NaN is a change; one that stays NaN is not', async () => {
    const { out } = await watch('--for 2s', [
      { body: 'a 1\nb NaN\nc 2\n' },
      { body: 'a NaN\nb NaN\nd +Inf\n' },
    ])
    expect(out.replace(/^\S+\t/gm, '')).toBe('a\t\t1\tNaN\nd\t\t\t+Inf\nc\t\t2\t\n')
  })
})

describe('metrics of one branch', () => {
  const crlf = 'odd{branch="re\\"lease\\n"} 1\r\n'
  const body = `${text}other{repo="acme/web"} 1\n${crlf}last{branch="main"} 2`
  const serves = { answer: () => ({ body }) }

  test('on a pipe the lines of the branch and the comments keep their bytes', async () => {
    const { code, out, requests } = await mergeq('metrics -b main', serves)
    const kept = body.split('\n').filter(line => /^#|^$|branch="main"/.test(line))
    expect({ code, out }).toEqual({ code: 0, out: kept.join('\n') })
    // The service has no such parameter.
    expect(requests.map(({ path }) => path)).toEqual(['/v1/getMergeQueueMetrics'])
    const odd = await mergeq(['metrics', '-b', 're"lease'], {
      answer: () => ({ body: 'a{branch="re\\"lease"} 1\r\n' }),
    })
    expect(odd.out).toBe('a{branch="re\\"lease"} 1\r\n')
  })

  test('every format, metrics check and metrics watch have the samples of the branch', async () => {
    const labels = JSON.parse((await mergeq('metrics -b quiet --json', serves)).out)
    expect(labels).toHaveLength(3)
    for (const one of labels) expect(one.labels.branch).toBe('quiet')
    const drawn = await mergeq('metrics --raw -b quiet', { ...serves, terminal: true })
    expect(drawn.out).toContain('quiet')
    expect(drawn.out).not.toContain('mq_depth_current')
    expect((await check('mq_depth_current > 1', serves, '-b', 'main')).code).toBe(0)
    expect((await check('mq_depth_current > 1', serves, '-b', 'quiet')).code).toBe(5)
    const watched = await mergeq('metrics watch --once -o ndjson -b quiet', serves)
    expect(JSON.parse(watched.out).series).toHaveLength(1)
  })

  test('without -b all branches are shown, even if the environment names one', async () => {
    expect((await mergeq('metrics', { ...serves, env: { MERGEQ_TARGET_BRANCH: 'main' } })).out).toBe(body)
  })

  test('a line that is not of the format is refused, too', async () => {
    const { code } = await mergeq('metrics -b main', { answer: () => ({ body: `${text}<oops>\n` }) })
    expect(code).toBe(15)
  })
})
