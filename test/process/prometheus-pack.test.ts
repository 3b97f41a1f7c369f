import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import dashboard from '../../docs/prometheus/dashboard.json' with { type: 'json' }
import { blocksOf } from '../support/code-blocks.ts'
import { mergeq, openStory } from '../support/harness.ts'
import { testWith } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const read = (name: string): string => readFileSync(join('docs/prometheus', name), 'utf8')
const rules = read('mergeq.rules.yml')
const rulesTest = read('mergeq.rules.test.yml')
const files = { 'mergeq.rules.yml': rules, 'mergeq.rules.test.yml': rulesTest }
const place = temporaryFolder('mergeq-prometheus-')

/** What promtool says of files with these texts, which are in its folder; nothing if it is content. */
function promtool(files: Readonly<Record<string, string>>, ...args: readonly string[]): string {
  const folder = mkdtempSync(join(place, 'files-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })
  return status === 0 ? '' : `${status}: ${stderr}${stdout}`
}

describe('the rules', () => {
  test('have a severity for each alert, and tests in which it fires and does not fire', () => {
    const alerts = parse(rules).groups[0].rules.filter((rule: object) => 'alert' in rule)
    const tests: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[] = parse(
      rulesTest,
    ).tests.flatMap(({ alert_rule_test = [] }) => alert_rule_test)
    expect(alerts).not.toEqual([])
    for (const { alert, labels } of alerts) {
      expect(labels.severity).toMatch(/^(?:critical|warning)$/)
      const ofAlert = tests.filter(({ alertname }) => alertname === alert)
      const fires = ofAlert.map(({ exp_alerts }) => exp_alerts.length > 0)
      expect({ alert, fires }).toEqual({ alert, fires: expect.arrayContaining([true, false]) })
    }
  })
})

describe('the dashboard', () => {
  /** The queries as Grafana sends them for all queues. */
  const queries = dashboard.panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll(/\$(?:repo|branch)\b/g, '.+')),
  )

  testWith('promtool')('finds numbers in the metrics of the sandbox with each query', async () => {
    const story = await openStory({ dialect: 'hosted' })
    await story.mergeq('pr submit 1 2 3')
    story.clock.now += 20_000
    const { out } = await story.mergeq('metrics')
    await story.close()
    // The series have had the same values for 25 hours.
    const series = out.split('\n').filter(line => line.startsWith('mq_'))
    const input_series = series.map(line => {
      const end = line.lastIndexOf(' ')
      return { series: line.slice(0, end), values: `${line.slice(end + 1)}x25` }
    })
    const promql_expr_test = queries.map(query => ({
      // NaN is not less than infinity.
      expr: `count((${query}) < Inf) > bool 0`,
      eval_time: '25h',
      exp_samples: [{ value: 1 }],
    }))
    const tests = [{ interval: '1h', input_series, promql_expr_test }]
    const test = JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '1h', tests })
    expect(promtool({ 'rules.yml': rules, 'test.yml': test }, 'test', 'rules', 'test.yml')).toBe('')
  })

  test('has the types of the schema of Grafana', async () => {
    const folder = mkdtempSync(join(place, 'dashboard-'))
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    // In JSON, a member of an enumeration is its text.
    const lines = [
      "import type { Dashboard } from '@grafana/schema'",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a type of text.
      'type Json<T> = T extends string ? `${T}` : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T',
      `export const dashboard: Json<Dashboard> = ${read('dashboard.json')}`,
    ]
    writeFileSync(join(folder, 'dashboard.mts'), lines.join('\n'))
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'preserve', '--types', '']
    const { stdout } = await execa(resolve('node_modules/.bin/tsc'), [...options, 'dashboard.mts'], {
      cwd: folder,
      reject: false,
    })
    expect(stdout).toBe('')
  })
})

describe('docs/prometheus.md', () => {
  const blocks = blocksOf('docs/prometheus.md')
  const [scrape = ''] = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text)

  test('its scrape configuration sends the request of mergeq metrics', async () => {
    const [job] = parse(scrape).scrape_configs
    const { url, headers } = JSON.parse(
      (await mergeq('metrics --dry-run --base-url https://api.trunk.io/v1')).out,
    )
    expect(`${job.scheme}://${job.static_configs[0].targets[0]}${job.metrics_path}`).toBe(url)
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(Object.keys(job.http_headers)))
    expect(job.follow_redirects).toBe(false)
  })

  testWith('promtool')('its command lines find the files valid, and the tests of the rules pass', () => {
    const [, major = 0, minor = 0] =
      /version (\d+)\.(\d+)/.exec(spawnSync('promtool', ['--version'], { encoding: 'utf8' }).stdout) ?? []
    const hasHeaders = Number(major) > 2 || Number(minor) >= 55
    const configuration = hasHeaders ? scrape : scrape.replace(/ {4}http_headers:\n(?: {6}.*\n)+/, '')
    expect(configuration.includes('x-api-token')).toBe(hasHeaders)
    const lines = blocks.flatMap(({ text }) => text.match(/^promtool .*$/gm) ?? [])
    expect(lines).toHaveLength(3)
    for (const line of lines)
      expect(promtool({ ...files, 'prometheus.yml': configuration }, ...line.split(' ').slice(1))).toBe('')
  })
})
