import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { blocksOf } from '../support/code-blocks.ts'
import { mergeq } from '../support/harness.ts'
import { testWith } from '../support/programs.ts'
import { promtool } from '../support/promtool.ts'

const read = (name: string): string => readFileSync(join('docs/prometheus', name), 'utf8')
const rules = read('mergeq.rules.yml')
const rulesTest = read('mergeq.rules.test.yml')
const files = { 'mergeq.rules.yml': rules, 'mergeq.rules.test.yml': rulesTest }

interface Rule {
  readonly alert?: string
  readonly labels: { readonly severity: string }
}

interface AlertTest {
  readonly alertname: string
  readonly exp_alerts: readonly unknown[]
}

describe('the rules', () => {
  test('have a severity for each alert, and tests in which it fires and does not fire', () => {
    const allRules: readonly Rule[] = parse(rules).groups[0].rules
    const alerts = allRules.filter(({ alert }) => alert !== undefined)
    const groups: readonly { alert_rule_test?: readonly AlertTest[] }[] = parse(rulesTest).tests
    const tests = groups.flatMap(({ alert_rule_test = [] }) => alert_rule_test)
    expect(alerts).not.toEqual([])
    for (const { alert, labels } of alerts) {
      expect(labels.severity).toMatch(/^(?:critical|warning)$/)
      const ofAlert = tests.filter(({ alertname }) => alertname === alert)
      const fires = ofAlert.map(({ exp_alerts }) => exp_alerts.length > 0)
      expect({ alert, fires }).toEqual({ alert, fires: expect.arrayContaining([true, false]) })
    }
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
