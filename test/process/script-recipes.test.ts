import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { blocksOf, linesOf } from '../support/code-blocks.ts'
import { adaptForTest, place, sh } from '../support/documentation-runs.ts'
import { testWith } from '../support/programs.ts'

const scriptOf = (page: string): string =>
  blocksOf(page).find(({ language }) => language === 'bash')?.text ?? expect.fail(page)
const [metrics = '', queues = ''] = blocksOf('docs/prometheus.md')
  .filter(({ text }) => text.includes('mv "$directory'))
  .flatMap(linesOf)
const scripts = {
  'incident.sh': readFileSync('docs/recipes/incident.sh', 'utf8'),
  'worst-tests.sh': scriptOf('docs/flaky.md'),
  'train.sh': scriptOf('docs/train.md'),
  'the metrics of the service': metrics,
  'the metrics of the queues': queues,
}

const incident = ['sh', '-c', 'mergeq my command; exit 3']
const [paused, waits, resumed] = ['queue pause', 'queue wait', 'queue resume']

// What is left: the commands of mergeq that ran, what was printed, or the file with metrics.
testWith('jq').each([
  ['incident.sh', incident, '', 0, 3, { log: [paused, waits, 'my command', resumed] }],
  ['incident.sh', incident, paused, 7, 7, { log: [paused, paused, paused] }],
  ['incident.sh', incident, waits, 124, 124, { log: [paused, waits, resumed] }],
  ['worst-tests.sh', ['24h'], '', 0, 0, { out: /"25% a &lt;b&gt; \(@acme\/web\) https:\/\/x\.example\/1"/ }],
  ['worst-tests.sh', ['24h'], 'flaky list', 17, 17, { out: /^$/ }],
  ['train.sh', ['7', '8'], 'pr submit', 3, 3, { log: ['pr submit'] }],
  ['the metrics of the service', [], 'metrics --all-repos', 7, 7, { service: 'old\n' }],
  ['the metrics of the queues', [], 'metrics --queues', 7, 1, { queues: 'old\n' }],
  ['the metrics of the queues', [], 'metrics --queues', 17, 0, { queues: 'partial\n' }],
] as const)(
  '%s %j where mergeq %s fails with %i ends with %i',
  async (name, words, fails, given, due, leaves) => {
    const folder = mkdtempSync(join(place, 'script-'))
    writeFileSync(join(folder, 'script.sh'), adaptForTest(scripts[name]))
    for (const name of ['mergeq.prom', 'mergeq-queues.prom']) writeFileSync(join(folder, name), 'old\n')
    const env = {
      PATH: `${resolve('test/fixtures/script-programs')}:${process.env.PATH}`,
      FAILS: fails,
      CODE: String(given),
    }
    const { code, out } = await sh(['bash', 'script.sh', ...words], folder, env)
    const read = (name: string) =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
    expect(code).toBe(due)
    const left = {
      log: read('mergeq.log').trim().split('\n'),
      service: read('mergeq.prom'),
      queues: read('mergeq-queues.prom'),
    }
    if ('out' in leaves) expect(out).toMatch(leaves.out)
    else expect(left).toMatchObject(leaves)
  },
)
