import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkMetrics } from '../src/domain/metrics/check-metrics.ts'
import {
  numberText,
  parseExposition,
  parseSamples,
  type Sample,
  seriesText,
} from '../src/domain/metrics/exposition.ts'
import { parseExpression } from '../src/domain/metrics/expression.ts'
import { histogramsIn, quantileOf } from '../src/domain/metrics/histogram.ts'
import { isPatternError, parsePattern } from '../src/domain/metrics/pattern.ts'
import { isMergeqError } from '../src/errors.ts'
import { openStory } from './harness.ts'
import { testWith } from './programs.ts'

const isRead = (text: string): boolean => {
  try {
    parseSamples(text)
    return true
  } catch (error) {
    if (isMergeqError(error) && error.kind === 'bad-answer') return false
    throw error
  }
}

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
  'a 1 9223372036854775808',
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
    ['a type told twice', '# TYPE a gauge\n# TYPE a gauge\na 1\n'],
    ['a comment about no metric', '# HELP 1a x\n'],
  ])('but what is clear is read all the same: %s', (_, text) => {
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
      // The names are the service's (service-observed.md section 4): gauges, whatever they end in.
      const told = stderr.split('\n').filter(line => line !== '' && !line.includes('_total'))
      expect({ told, status }).toEqual({ told: [], status: 3 })
      expect(parseSamples(out).length).toBeGreaterThan(50)
    },
  )
})

const label = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/).filter(name => name !== '__name__')
const labels = fc.dictionary(label, fc.string({ unit: 'grapheme', maxLength: 12 }), { maxKeys: 4 })
const value = fc.oneof(
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
)
const sample: fc.Arbitrary<Sample> = fc.record({
  name: fc.stringMatching(/^[a-z_:][a-z0-9_:]{0,12}$/),
  type: fc.constant('untyped'),
  labels,
  value,
})
const plain = (samples: readonly Sample[]) => samples.map(one => ({ ...one, labels: { ...one.labels } }))

describe('read back', () => {
  test('whatever is written in the format, with blank lines, comments, time stamps and either line end', () => {
    const between = fc.constantFrom('', '\n', '# only a comment\n', ' \t \n', '\r\n')
    const stamp = fc.option(fc.maxSafeInteger(), { nil: undefined })
    const end = fc.constantFrom('\n', '\r\n')
    fc.assert(
      fc.property(fc.array(fc.tuple(sample, between, stamp, end)), written => {
        const text = written
          .map(
            ([{ name, labels, value }, before, stamp, end]) =>
              `${before}${seriesText(name, labels)} ${numberText(value)}${stamp === undefined ? '' : ` ${stamp}`}${end}`,
          )
          .join('')
        expect(plain(parseSamples(text))).toEqual(
          written.map(([{ value, ...rest }]) => ({ ...rest, value: value === 0 ? 0 : value })),
        )
      }),
    )
  })

  test('any text is read or refused, never anything else', () => {
    const pieces = fc.constantFrom(
      'a',
      '{',
      '}',
      '"',
      '\\',
      ',',
      '=',
      ' ',
      '\n',
      '1',
      '#',
      'TYPE',
      'e',
      '+',
      '\r',
      'é',
    )
    fc.assert(fc.property(fc.string({ unit: pieces, maxLength: 40 }), text => void isRead(text)))
  })

  test('HELP is read without its escapes', () => {
    const { help } = parseExposition('# HELP a one\\ntwo \\\\ "three"\n# HELP b\n#HELP c  near\n')
    expect([...help]).toEqual([
      ['a', 'one\ntwo \\ "three"'],
      ['b', ''],
      ['c', 'near'],
    ])
  })

  test('parts belong to a histogram or a summary, and to nothing else', () => {
    const text = '# TYPE h histogram\n# TYPE s summary\n# TYPE g gauge\n'
    const types = (names: readonly string[]) =>
      parseSamples(text + names.map(name => `${name} 1\n`).join('')).map(({ type }) => type)
    expect(types(['h_sum', 'h_count', 'h', 's_sum', 's_count', 's_bucket', 'g_sum', 'g'])).toEqual([
      'histogram',
      'histogram',
      'histogram',
      'summary',
      'summary',
      'untyped',
      'untyped',
      'gauge',
    ])
    expect(parseSamples(`${text}h_bucket{le="1"} 1\ns{quantile="0.5"} 1\n`).map(({ type }) => type)).toEqual([
      'histogram',
      'summary',
    ])
  })
})

describe('quantiles', () => {
  const of = (share: number, ...counts: readonly (readonly [number, number])[]) =>
    quantileOf(share, { buckets: counts.map(([bound, count]) => ({ bound, count })) })
  const rest = Number.POSITIVE_INFINITY

  test.each([
    ['within a bucket', of(0.5, [60, 10], [300, 20], [rest, 20]), 60, [0, 60]],
    ['between two bounds', of(0.75, [60, 10], [300, 20], [rest, 20]), 180, [60, 300]],
    ['from 0 on', of(0.25, [60, 10], [300, 20], [rest, 20]), 30, [0, 60]],
    ['above the highest bound', of(0.99, [60, 1], [300, 2], [rest, 100]), 300, [300, rest]],
  ] as const)('%s', (_, found, value, between) => {
    expect(found).toEqual({ value, between })
  })

  test('there is none of nothing, nor without a bucket for the rest', () => {
    for (const found of [
      of(0.5),
      of(0.5, [60, 0], [rest, 0]),
      of(0.5, [60, 10], [300, 20]),
      of(0.5, [rest, 5]),
    ])
      expect(found.value).toBeNaN()
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

  testWith('promtool')('are those of Prometheus, to the last digit; so are matchers and folds', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mergeq-promtool-'))
    const inputs: string[] = ['# TYPE h histogram']
    const asked: (readonly [expr: string, labels: string, value: number])[] = []
    for (const [index, [pairs, more, share]] of fc.sample(histogram, { numRuns: 80, seed: 7 }).entries()) {
      let count = 0
      for (const [bound, own] of [...pairs, ['+Inf', more] as const]) {
        count += own
        inputs.push(`h_bucket{i="${index}", le="${bound}"} ${count}`)
      }
      const [[found] = []] = [
        checkMetrics(
          parseExpression(`quantile(${share}, h{i="${index}"}) > 0`),
          parseSamples(inputs.join('\n')),
        ),
      ]
      asked.push([
        `histogram_quantile(${share}, h_bucket{i="${index}"})`,
        `{i="${index}"}`,
        found?.value ?? Number.NaN,
      ])
    }
    // Multiples of 840: whatever is divided on the way to a mean, it stays whole.
    const values = [4, 5, -7, 96, 0, 3, 3, 12].map(value => value * 840)
    for (const [index, value] of values.entries())
      inputs.push(`g{i="${index}", branch="${['main', 'release-1', 'a.b', ''][index % 4]}"} ${value}`)
    const matchers = [
      'branch="main"',
      'branch!="main"',
      'branch=~"main|rel.*"',
      'branch!~"a.b"',
      'branch=~"a\\\\.b"',
      'branch=~"mai"',
      'branch=~".+"',
      'branch=""',
      'none=""',
      'branch=~"[a-m]+n?",i!="0"',
      'branch=~"(?:re|ma).{2,9}"',
      'branch=~".*-[0-9]|"',
    ]
    for (const fold of ['sum', 'min', 'max', 'avg'])
      for (const matcher of matchers) {
        const found = parseSamples(inputs.join('\n'))
        try {
          const [verdict] = checkMetrics(parseExpression(`${fold}(g{${matcher}}) > 0`), found)
          asked.push([`${fold}(g{${matcher}})`, '{}', verdict?.value ?? Number.NaN])
        } catch {
          asked.push([`absent(g{${matcher}})`, '', 1])
        }
      }
    const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
    const rules = [
      'rule_files: []',
      'tests:',
      ' - interval: 1m',
      '   input_series:',
      ...inputs.slice(1).flatMap(line => {
        const [, series = '', value = ''] = /^(.*) (\S+)$/.exec(line) ?? []
        return [`    - series: ${quoted(series)}`, `      values: '${value}'`]
      }),
      '   promql_expr_test:',
      ...asked.flatMap(([expr, labels, value]) => [
        `    - expr: ${quoted(labels === '' ? `count(${expr})` : expr)}`,
        '      eval_time: 0m',
        '      exp_samples:',
        `       - labels: ${quoted(labels === '' ? '{}' : labels)}`,
        `         value: ${value}`,
      ]),
    ].join('\n')
    writeFileSync(join(folder, 'test.yml'), rules)
    const { status, stderr, stdout } = spawnSync('promtool', ['test', 'rules', 'test.yml'], {
      cwd: folder,
      encoding: 'utf8',
    })
    rmSync(folder, { recursive: true })
    expect({ status, told: stderr + stdout.replace(/Unit Testing: .*\n|\s*SUCCESS\s*/g, '') }).toEqual({
      status: 0,
      told: '',
    })
    expect(asked.length).toBe(80 + 48)
  })

  test('whatever a histogram counts, a quantile is between its bounds and rises with the share', () => {
    fc.assert(
      fc.property(histogram, fc.double({ min: 0, max: 1, noNaN: true }), ([pairs, more, share], other) => {
        let count = 0
        const buckets = [...pairs, [rest, more] as const].map(([bound, own]) => {
          count += own
          return { bound, count }
        })
        const [low, high] = [
          quantileOf(Math.min(share, other), { buckets }),
          quantileOf(Math.max(share, other), { buckets }),
        ]
        expect(low.value).toBeLessThanOrEqual(high.value)
        expect(low.value).toBeGreaterThanOrEqual(low.between[0])
        expect(low.value).toBeLessThanOrEqual(low.between[1])
      }),
    )
  })

  test('the parts of a histogram find each other, whatever the order', () => {
    const text =
      '# TYPE h histogram\nh_count{a="1"} 3\nh_bucket{le="+Inf",a="1"} 3\nh_bucket{a="1",le="60"} 1\nh_sum{a="1"} 9\nh_sum{a="2"} 1\n'
    const [one, two] = [...histogramsIn(parseSamples(text)).values()]
    expect({ ...one, labels: { ...one?.labels } }).toEqual({
      name: 'h',
      labels: { a: '1' },
      sum: 9,
      count: 3,
      buckets: [
        { bound: 60, count: 1 },
        { bound: rest, count: 3 },
      ],
    })
    expect(two).toMatchObject({ sum: 1, count: undefined, buckets: [] })
  })
})

describe('patterns', () => {
  const pattern = (source: string) => {
    const found = parsePattern(source)
    if (isPatternError(found)) throw new Error(found.flaw)
    return found
  }

  test('match what JavaScript matches between two anchors', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\.',
      '\\d',
      '\\w',
      '-',
      'é',
      '^',
      '$',
      '\\-',
      '/',
      '[\\d.-]',
    )
    const piece: fc.Arbitrary<string> = fc.letrec<{ all: string }>(tie => ({
      all: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc
          .tuple(
            atom.filter(one => !/^[\^$]$/.test(one)),
            fc.constantFrom('', '*', '+', '?', '{2}', '{1,}', '{0,2}', '+?'),
          )
          .map(([one, times]) => one + times),
        atom,
        fc.array(tie('all'), { maxLength: 3 }).map(parts => parts.join('')),
        fc.tuple(tie('all'), tie('all')).map(([one, other]) => `(${one}|${other})`),
        tie('all').map(one => `(?:${one})?`),
      ),
    })).all
    fc.assert(
      fc.property(
        piece,
        fc.string({ unit: fc.constantFrom('a', 'b', '.', '1', '-', 'é', '/'), maxLength: 6 }),
        (source, text) => {
          const theirs = new RegExp(`^(?:${source.replaceAll('\\-', '-').replaceAll('/', '\\/')})$`, 'su')
          expect(pattern(source)(text)).toBe(theirs.test(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('cannot be made to hang', () => {
    const text = `${'a'.repeat(9_000)}!`
    const began = performance.now()
    for (const source of ['(a+)+', '(a|a)*', '(a*)*b', '(a|aa)+$', '([a-z]+)*\\d', '(.*)*x', '(a?){50}a{50}'])
      expect(pattern(source)(text)).toBe(false)
    expect(performance.now() - began).toBeLessThan(5_000)
    // Longer than any label: not tried at all.
    expect(pattern('.*')('a'.repeat(10_001))).toBe(false)
  })

  test.each([
    ['(a', 'a ) is missing', 0],
    ['a)', 'a ( is missing', 1],
    ['[a', 'a ] is missing', 0],
    ['*a', 'there is nothing before it to repeat', 0],
    ['a**', 'two signs of repetition follow each other', 2],
    ['a{3,2}', 'this repeats it out of bounds (at most 1000 times)', 0],
    ['a{1001}', 'this repeats it out of bounds (at most 1000 times)', 0],
    ['(?i)a', 'flags and groups with names are not taken', 0],
    ['a\\b', 'this escape is not known', 1],
    ['[z-a]', 'these characters are not a class', 0],
    ['[[:alpha:]]', 'these characters are not a class', 0],
    ['(a{1000}){1000}', 'it is too large', 15],
    ['a\\', 'this escape is not known', 1],
  ])('%s is refused: %s', (source, flaw, at) => {
    expect(parsePattern(source)).toEqual({ flaw, at })
  })
})

describe('the recipe for Prometheus', () => {
  const [rules = ''] = /(?<=```yaml\n)[\s\S]*?(?=```)/.exec(readFileSync('docs/prometheus.md', 'utf8')) ?? []

  testWith('promtool')('its rules are taken, and fire on what a queue in trouble says', async () => {
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
      '   alert_rule_test:',
      ...(
        [
          [
            'MergeQueueMergesNothing',
            'acme/web',
            'Nothing has merged into main of acme/web for an hour, and something waits',
          ],
          ['MergeQueueIsDeep', 'acme/api', '60 pull requests wait in the queue of main in acme/api'],
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
      return { status, told: status === 0 ? '' : stdout + stderr }
    }
    const results = [ran('check', 'rules', 'rules.yml'), ran('test', 'rules', 'test.yml')]
    rmSync(folder, { recursive: true })
    expect(results).toEqual([
      { status: 0, told: '' },
      { status: 0, told: '' },
    ])
  })
})
