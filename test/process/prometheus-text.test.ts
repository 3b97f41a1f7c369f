import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { quantileOf } from '../../src/domain/metrics/last-hour.ts'
import type { ScenarioName } from '../../src/domain/scenario-names.ts'
import { blocksOf } from '../support/code-blocks.ts'
import { mergeq, openStory } from '../support/harness.ts'
import { bucketLines } from '../support/metrics-text.ts'
import { testWith } from '../support/programs.ts'
import { isRead, parseSamples, someBuckets } from '../support/prometheus-text.ts'

/** Whether Prometheus' own parser takes a text: what it only finds fault with (3) is read all the same. */
const promtoolReads = (input: string): boolean =>
  spawnSync('promtool', ['check', 'metrics'], { input, stdio: ['pipe', 'ignore', 'ignore'] }).status !== 1

/** What promtool says of files with these texts, which are in its folder; nothing if it is content. */
function promtool(files: Readonly<Record<string, string>>, ...args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'mergeq-promtool-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return status === 0 ? '' : `${status}: ${stderr}${stdout}`
}

/** A test of rules or expressions, as promtool reads it; `lines` are samples, `more` what is expected. */
const ruleTest = (ruleFile: string, lines: readonly string[], suffix: string, more: readonly string[]) =>
  [
    `rule_files: [${ruleFile}]`,
    'tests:',
    ' - interval: 1m',
    '   input_series:',
    ...lines.flatMap(line => {
      const [, series = '', value = ''] = /^(.*) (\S+)$/.exec(line) ?? []
      return [`    - series: '${series}'`, `      values: '${value}${suffix}'`]
    }),
    ...more,
  ].join('\n')

/** The metrics of a sandbox where three pull requests were submitted. */
async function metricsOf(scenario: ScenarioName): Promise<string> {
  const story = await openStory({ dialect: 'hosted', scenario })
  await story.mergeq('pr submit 1 2 3')
  story.clock.now += 20_000
  const { out } = await story.mergeq('metrics')
  await story.close()
  return out
}

describe('the same verdict as Prometheus', () => {
  const labels = [
    ...['', ',', 'b="c"', 'b="c",', 'b="c",,', 'b="c" d="e"', 'b="c",b="d"', '__name__="c"', 'b:c="d"'],
    ...['b="q\\"q\\\\\\n"', 'b="\\t"', 'b="\\x41"', 'b="c\n"', 'b="é😀\u00A0"', 'b=c', "b='c'", 'b="c'],
  ].map(inner => `a{${inner}} 1`)
  const values = '1 +5 .5e-3 5. . 1e400 1e-400 1_000 0x10 0x1p4 +Inf -inf Infinity nan +NaN infinite'
    .split(' ')
    .map(value => `a ${value}`)
  const times = ['2 3', '-2', '+2', '2.5', '9223372036854775807'].map(time => `a 1 ${time}`)
  const names = ['a:b 1', 'é 1', '1a 1', 'a-b 1', 'a\u00A01', '{a="b"} 1', 'a', 'a{b="c"}', 'a{b="c"']
  const blanks = ['', '\n\n \t\n', ' \ta\t1', 'a { b = "c" , d = "" } 1 2', 'a{b="c"}1']
  const comments = ['#a 1', '# HELP a says \\n and \\\\ and "', '# HELP a', '#TYPE a counter']
  const types = [
    'gauge\n',
    'untyped\na 1',
    'histogram\na_bucket{le="x"} 1',
    'histogram\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 2\na_sum 3\na_count 2',
    'summary\na{quantile="0.5"} 1\na_sum 3\na_count 2',
    'summary\na{quantile="x"} 1',
    'summary\na_bucket{le="x"} 1',
  ].map(type => `# TYPE a ${type}`)

  testWith('promtool').each([...labels, ...values, ...times, ...names, ...blanks, ...comments, ...types])(
    '%j',
    line => {
      expect(isRead(`${line}\n`)).toBe(promtoolReads(`${line}\n`))
    },
  )

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

  testWith('promtool')('the sandbox only breaks the rule for names that end in _total', async () => {
    const out = await metricsOf('happy')
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: out, encoding: 'utf8' })
    // The names are the service's (docs/reference/service.md, "Metrics"): gauges, whatever they end in.
    const messages = stderr.split('\n').filter(line => line !== '' && !line.includes('_total'))
    expect({ messages, status }).toEqual({ messages: [], status: 3 })
    expect(parseSamples(out).length).toBeGreaterThan(50)
  })

  testWith('promtool')('quantiles are those of Prometheus, to the last digit', () => {
    const share = fc.constantFrom(0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1)
    const samples: string[] = []
    const expected = ['   promql_expr_test:']
    for (const [i, [buckets, q]] of fc.sample(fc.tuple(someBuckets, share), 80).entries()) {
      for (const { bound, count } of buckets)
        samples.push(`h_bucket{i="${i}", le="${bound === Infinity ? '+Inf' : bound}"} ${count}`)
      expected.push(
        `    - expr: 'histogram_quantile(${q}, h_bucket{i="${i}"})'`,
        '      eval_time: 0m',
        '      exp_samples:',
        `       - labels: '{i="${i}"}'`,
        `         value: ${quantileOf(q, buckets)?.value}`,
      )
    }
    const files = { 'test.yml': ruleTest('', samples, '', expected) }
    expect(promtool(files, 'test', 'rules', 'test.yml')).toBe('')
  })
})

describe('the recipe of docs/prometheus.md', () => {
  const [scrape = '', rules = '', itsTest = ''] = blocksOf('docs/prometheus.md')
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => text)

  test('its scrape configuration sends the request of mergeq metrics', async () => {
    const [job] = parse(scrape).scrape_configs
    const { url, headers } = JSON.parse(
      (await mergeq('metrics --dry-run --base-url https://api.trunk.io/v1')).out,
    )
    expect(`${job.scheme}://${job.static_configs[0].targets[0]}${job.metrics_path}`).toBe(url)
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(Object.keys(job.http_headers)))
    expect(job.follow_redirects).toBe(false)
  })

  testWith('promtool')('its scrape configuration is valid', () => {
    const [, major = 0, minor = 0] =
      /version (\d+)\.(\d+)/.exec(spawnSync('promtool', ['--version'], { encoding: 'utf8' }).stdout) ?? []
    const hasHeaders = Number(major) > 2 || Number(minor) >= 55
    const configuration = hasHeaders ? scrape : scrape.replace(/ {4}http_headers:\n(?: {6}.*\n)+/, '')
    expect(configuration.includes('x-api-token')).toBe(hasHeaders)
    const files = { 'mergeq.yml': rules, 'prometheus.yml': configuration }
    expect(promtool(files, 'check', 'config', 'prometheus.yml')).toBe('')
  })

  testWith('promtool')('the test of its rules passes', () => {
    const files = { 'mergeq.yml': rules, 'test.yml': itsTest }
    expect(promtool(files, 'test', 'rules', 'test.yml')).toBe('')
  })

  testWith('promtool')('its rules are valid, and fire for the metrics of a broken queue', async () => {
    const broken = (await metricsOf('paused')).split('\n').filter(line => line.startsWith('mq_'))
    // A second queue that is slow.
    const api = 'repo="acme/api",branch="main"'
    const slow = [
      `mq_pr_conclusions_1h_total{${api},conclusion="merged"} 1`,
      ...bucketLines('mq_pr_time_in_queue_1h_seconds', `${api},conclusion="merged"`, [5, 5, 10, 10]),
    ]
    const alerts = [
      [
        'MergeQueueMergesNothing',
        'acme/web',
        'No pull request has merged into main of acme/web for an hour, although some are queued',
      ],
      [
        'MergeQueueIsSlow',
        'acme/api',
        'One in 20 pull requests takes more than an hour to merge into main of acme/api',
      ],
    ].flatMap(([alert, repo, summary]) => [
      `    - alertname: ${alert}`,
      '      eval_time: 45m',
      '      exp_alerts:',
      `       - exp_labels: { repo: ${repo}, branch: main }`,
      `         exp_annotations: { summary: "${summary}" }`,
    ])
    const test = ruleTest('rules.yml', [...broken, ...slow], 'x60', ['   alert_rule_test:', ...alerts])
    const files = { 'rules.yml': rules, 'test.yml': test }
    expect(promtool(files, 'check', 'rules', 'rules.yml')).toBe('')
    expect(promtool(files, 'test', 'rules', 'test.yml')).toBe('')
  })
})
