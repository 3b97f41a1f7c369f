import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quantileOf } from '../../src/domain/metrics/last-hour.ts'
import { blocksOf } from '../support/code-blocks.ts'
import { openStory } from '../support/harness.ts'
import { testWith } from '../support/programs.ts'
import { isRead, parseSamples } from '../support/prometheus-text.ts'

/** Whether Prometheus' own parser takes a text: what it only finds fault with (3) is read all the same. */
const promtoolReads = (input: string): boolean =>
  spawnSync('promtool', ['check', 'metrics'], { input, stdio: ['pipe', 'ignore', 'ignore'] }).status !== 1

const lines: readonly string[] = [
  'a 1',
  'a{} 1',
  ' \ta\t1',
  'a{b="c"} 1',
  'a{b="c",} 1',
  'a{b="c",,} 1',
  'a{,} 1',
  'a { b = "c" , d = "" } 1 2',
  'a{b="c"}1',
  'a{b="c" d="e"} 1',
  'a{b="q\\"q\\\\\\n"} 1',
  'a{b="\\t"} 1',
  'a{b="\\x41"} 1',
  'a{b="c\n"} 1',
  'a{b="} 2 #,{="} 1',
  'a{b="é😀\u00A0"} 1',
  'a{b="c",b="d"} 1',
  'a{__name__="c"} 1',
  'a{b:c="d"} 1',
  'a:b 1',
  'é 1',
  'a\u00A01',
  'a 1 2 3',
  'a 1 -2',
  'a 1 +2',
  'a 1 2.5',
  'a 1 9223372036854775807',
  'a +5',
  'a .5e-3',
  'a 5.',
  'a .',
  'a 1e400',
  'a 1e-400',
  'a 1_000',
  'a 0x10',
  'a 0x1p4',
  'a +Inf',
  'a -inf',
  'a Infinity',
  'a nan',
  'a +NaN',
  'a infinite',
  'a',
  'a{b="c"}',
  'a{b="c"',
  'a{b="c} 1',
  'a{b=c} 1',
  "a{b='c'} 1",
  '{a="b"} 1',
  '1a 1',
  'a-b 1',
  '#a 1',
  '# HELP a says \\n and \\\\ and "',
  '# HELP a',
  '# TYPE a gauge',
  '#TYPE a counter',
  '# TYPE a histogram\na_bucket{le="x"} 1',
  '# TYPE a histogram\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 2\na_sum 3\na_count 2',
  '# TYPE a summary\na{quantile="0.5"} 1\na_sum 3\na_count 2',
  '# TYPE a summary\na{quantile="x"} 1',
  '# TYPE a summary\na_bucket{le="x"} 1',
  '# TYPE a untyped\na 1',
  '',
  '\n\n \t\n',
]

describe('the same verdict as Prometheus', () => {
  testWith('promtool').each(lines)('%j', line => {
    expect(isRead(`${line}\n`)).toBe(promtoolReads(`${line}\n`))
  })

  testWith('promtool').each([
    ['CRLF', '# TYPE a gauge\r\na{b="c"} 1\r\n\r\n'],
    ['a last line without its end', 'a 1'],
    ['blanks at the end of a line', 'a 1 \n'],
    ['a type that says nothing', '# TYPE a thing\na 1\n'],
    ['a type declared twice', '# TYPE a gauge\n# TYPE a gauge\na 1\n'],
    ['a comment about no metric', '# HELP 1a x\n'],
  ])('but unambiguous input is accepted: %s', (_, text) => {
    expect([isRead(text), promtoolReads(text)]).toEqual([true, false])
  })

  testWith('promtool')(
    'what the sandbox says is taken without a word, but for names that end in _total',
    async () => {
      const story = await openStory({ dialect: 'hosted' })
      await story.mergeq('pr submit 1 2 3')
      story.clock.now += 20_000
      const { out } = await story.mergeq('metrics')
      await story.close()
      const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: out, encoding: 'utf8' })
      // The names are the service's (docs/reference/service.md, "Metrics"): gauges, whatever they end in.
      const messages = stderr.split('\n').filter(line => line !== '' && !line.includes('_total'))
      expect({ messages, status }).toEqual({ messages: [], status: 3 })
      expect(parseSamples(out).length).toBeGreaterThan(50)
    },
  )
})

describe('quantiles', () => {
  const of = (share: number, ...counts: readonly (readonly [number, number])[]) =>
    quantileOf(
      share,
      counts.map(([bound, count]) => ({ bound, count })),
    )
  const rest = Number.POSITIVE_INFINITY

  test.each([
    ['within a bucket', of(0.5, [60, 10], [300, 20], [rest, 20]), 60, [0, 60]],
    ['between two bounds', of(0.75, [60, 10], [300, 20], [rest, 20]), 180, [60, 300]],
    ['from 0 on', of(0.25, [60, 10], [300, 20], [rest, 20]), 30, [0, 60]],
    ['above the highest bound', of(0.99, [60, 1], [300, 2], [rest, 100]), 300, [300, rest]],
  ] as const)('%s', (_, found, value, between) => {
    expect(found).toEqual({ value, between })
  })

  test('there is no quantile without observations, nor without a +Inf bucket', () => {
    for (const found of [
      of(0.5),
      of(0.5, [60, 0], [rest, 0]),
      of(0.5, [60, 10], [300, 20]),
      of(0.5, [rest, 5]),
    ])
      expect(found).toBeUndefined()
  })

  const histogram = fc
    .array(fc.tuple(fc.constantFrom(60, 300, 600, 900, 1800, 3600), fc.integer({ min: 0, max: 50 })), {
      minLength: 1,
      maxLength: 6,
    })
    .map(pairs => [...new Map(pairs)].toSorted(([one], [other]) => one - other))
    .chain(pairs =>
      fc.tuple(
        fc.constant(pairs),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1),
      ),
    )

  testWith('promtool')('are those of Prometheus, to the last digit', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mergeq-promtool-'))
    const inputs: string[] = []
    const asked: (readonly [expr: string, labels: string, value: number])[] = []
    for (const [index, [pairs, more, share]] of fc.sample(histogram, { numRuns: 80, seed: 7 }).entries()) {
      let count = 0
      const buckets = [...pairs, [rest, more] as const].map(([bound, own]) => {
        count += own
        inputs.push(`h_bucket{i="${index}", le="${bound === rest ? '+Inf' : bound}"} ${count}`)
        return { bound, count }
      })
      asked.push([
        `histogram_quantile(${share}, h_bucket{i="${index}"})`,
        `{i="${index}"}`,
        quantileOf(share, buckets)?.value ?? Number.NaN,
      ])
    }
    const rules = [
      'rule_files: []',
      'tests:',
      ' - interval: 1m',
      '   input_series:',
      ...inputs.flatMap(line => {
        const [, series = '', value = ''] = /^(.*) (\S+)$/.exec(line) ?? []
        return [`    - series: '${series}'`, `      values: '${value}'`]
      }),
      '   promql_expr_test:',
      ...asked.flatMap(([expr, labels, value]) => [
        `    - expr: '${expr}'`,
        '      eval_time: 0m',
        '      exp_samples:',
        `       - labels: '${labels}'`,
        `         value: ${value}`,
      ]),
    ].join('\n')
    writeFileSync(join(folder, 'test.yml'), rules)
    const { status, stderr, stdout } = spawnSync('promtool', ['test', 'rules', 'test.yml'], {
      cwd: folder,
      encoding: 'utf8',
    })
    rmSync(folder, { recursive: true })
    expect({ status, output: stderr + stdout.replace(/Unit Testing: .*\n|\s*SUCCESS\s*/g, '') }).toEqual({
      status: 0,
      output: '',
    })
    expect(asked.length).toBe(80)
  })

  test('a quantile of any histogram is between its bounds and rises with the share', () => {
    fc.assert(
      fc.property(histogram, fc.double({ min: 0, max: 1, noNaN: true }), ([pairs, more, share], other) => {
        let count = 0
        const buckets = [...pairs, [rest, more] as const].map(([bound, own]) => {
          count += own
          return { bound, count }
        })
        const [low, high] = [
          quantileOf(Math.min(share, other), buckets),
          quantileOf(Math.max(share, other), buckets),
        ]
        if (low === undefined || high === undefined) throw new Error('No quantile.')
        expect(low.value).toBeLessThanOrEqual(high.value)
        expect(low.value).toBeGreaterThanOrEqual(low.between[0])
        expect(low.value).toBeLessThanOrEqual(low.between[1])
      }),
    )
  })
})

describe('the recipe for Prometheus', () => {
  const [rules = '', ruleTest = ''] = blocksOf('docs/prometheus.md')
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => text)

  testWith('promtool')('the test of its rules passes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mergeq-promtool-'))
    writeFileSync(join(folder, 'mergeq.yml'), rules)
    writeFileSync(join(folder, 'test.yml'), ruleTest)
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yml'], {
      cwd: folder,
      encoding: 'utf8',
    })
    rmSync(folder, { recursive: true })
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' })
  })

  testWith('promtool')('its rules are valid, and fire for the metrics of a broken queue', async () => {
    const story = await openStory({ dialect: 'hosted', scenario: 'paused' })
    await story.mergeq('pr submit 1 2 3')
    story.clock.now += 20_000
    const { out } = await story.mergeq('metrics')
    await story.close()
    const folder = mkdtempSync(join(tmpdir(), 'mergeq-promtool-'))
    writeFileSync(join(folder, 'rules.yml'), rules)
    // Its own depth, for an hour; sixty for the other alert to have something to say of.
    const series = out.split('\n').filter(line => line.startsWith('mq_'))
    const test = [
      'rule_files: [rules.yml]',
      'tests:',
      ' - interval: 1m',
      '   input_series:',
      ...series.flatMap(line => {
        const [, name = '', value = ''] = /^(.*) (\S+)$/.exec(line) ?? []
        return [`    - series: '${name}'`, `      values: '${value}x60'`]
      }),
      `    - series: 'mq_depth_current{repo="acme/api",branch="main"}'`,
      `      values: '60x60'`,
      `    - series: 'mq_pr_conclusions_1h_total{repo="acme/api",branch="main",conclusion="merged"}'`,
      `      values: '1x60'`,
      ...[
        ['3600', 5],
        ['7200', 10],
        ['+Inf', 10],
      ].flatMap(([bound, count]) => [
        `    - series: 'mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/api",branch="main",conclusion="merged",le="${bound}"}'`,
        `      values: '${count}x60'`,
      ]),
      '   alert_rule_test:',
      ...(
        [
          [
            'MergeQueueMergesNothing',
            'acme/web',
            'No pull request has merged into main of acme/web for an hour, although some are queued',
          ],
          ['MergeQueueIsDeep', 'acme/api', '60 pull requests are queued for main in acme/api'],
          [
            'MergeQueueIsSlow',
            'acme/api',
            'One in 20 pull requests takes more than an hour to merge into main of acme/api',
          ],
        ] as const
      ).flatMap(([alert, repo, summary]) => [
        `    - alertname: ${alert}`,
        '      eval_time: 45m',
        '      exp_alerts:',
        `       - exp_labels: { repo: ${repo}, branch: main }`,
        `         exp_annotations: { summary: "${summary}" }`,
      ]),
    ].join('\n')
    writeFileSync(join(folder, 'test.yml'), test)
    const ran = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })
      return { status, output: status === 0 ? '' : stdout + stderr }
    }
    const results = [ran('check', 'rules', 'rules.yml'), ran('test', 'rules', 'test.yml')]
    rmSync(folder, { recursive: true })
    expect(results).toEqual([
      { status: 0, output: '' },
      { status: 0, output: '' },
    ])
  })
})
