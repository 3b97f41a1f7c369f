import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScenarioName } from '../../src/domain/scenario-names.ts'
import { openStory } from './harness.ts'

/** What promtool says of files with these texts, which are in its folder; nothing if it is content. */
export function promtool(files: Readonly<Record<string, string>>, ...args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'mergeq-promtool-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return status === 0 ? '' : `${status}: ${stderr}${stdout}`
}

interface ExpectedResult {
  readonly query: string
  /** The samples of the result, in YAML. */
  readonly samples: string
}

/**
 * What promtool says of the results of queries, when the series have had the same values for 25 hours; nothing if
 * they are as expected. The lines of the series are those of a metrics text.
 */
export function evaluate(
  series: readonly string[],
  expected: readonly ExpectedResult[],
  rules = 'groups: []',
): string {
  const test = [
    'rule_files: [rules.yml]',
    'evaluation_interval: 1h',
    'tests:',
    ' - interval: 1h',
    '   input_series:',
    ...series.flatMap(line => {
      const [, name = '', value = ''] = /^(.*) (\S+)$/.exec(line) ?? []
      return [`    - series: '${name}'`, `      values: '${value}x25'`]
    }),
    '   promql_expr_test:',
    ...expected.flatMap(({ query, samples }) => [
      `    - expr: ${JSON.stringify(query)}`,
      '      eval_time: 25h',
      `      exp_samples: ${samples}`,
    ]),
  ].join('\n')
  return promtool({ 'rules.yml': rules, 'test.yml': test }, 'test', 'rules', 'test.yml')
}

/** The metrics of a sandbox where three pull requests were submitted. */
export async function metricsOf(scenario: ScenarioName): Promise<string> {
  const story = await openStory({ dialect: 'hosted', scenario })
  await story.mergeq('pr submit 1 2 3')
  story.clock.now += 20_000
  const { out } = await story.mergeq('metrics')
  await story.close()
  return out
}
