import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { blocksOf, linesOf } from '../support/code-blocks.ts'
import { place, sh } from '../support/documentation-runs.ts'
import { testWith } from '../support/programs.ts'

const scriptOf = (page: string): string =>
  blocksOf(page).find(({ language }) => language === 'bash')?.text ?? expect.fail(page)
const [metrics = '', queues = ''] = blocksOf('docs/prometheus.md')
  .filter(({ text }) => text.includes('mv "$directory'))
  .flatMap(linesOf)
  .map(text => text.replace('/var/lib/prometheus/node-exporter', '.'))

/** What each command of mergeq prints or writes in these tests, and what it does with its words. */
const mergeq = `#!/bin/sh
echo "$1 $2" >> mergeq.log
case "$*" in "$FAILS"*) [ -z "$FAILS" ] || { [ $1 = pr ] || echo partial; exit "$CODE"; } ;; esac
case "$1 $2" in
  'queue pause') printf '[{"repo":"github.com/acme/web","targetBranch":"main","before":"RUNNING","after":"PAUSED"}]' > "$5" ;;
  'flaky list') echo '{"name":"a <b>","failure_rate_last_7d":0.25,"codeowners":["@acme/web"],"html_url":"https://x.example/1"}' ;;
  'pr submit') echo '{"type":"result","pr":7,"exit":0,"url":"https://x.example/7","reason":"merged"}' ;;
  metrics*) echo new ;;
esac`

/** Runs a script with a mergeq of which a command fails, by how it begins. */
async function run(script: string, words: readonly string[], fails: string, code: number) {
  const folder = mkdtempSync(join(place, 'script-'))
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  const program = (name: string, text: string) => writeFileSync(join(programs, name), text, { mode: 0o755 })
  program('mergeq', mergeq)
  // Ten minutes pass between two looks at the clock.
  program('date', '#!/bin/sh\necho . >> looks\necho $(($(wc -l < looks) * 600))\n')
  program('sleep', '#!/bin/sh\n')
  writeFileSync(join(folder, 'script.sh'), script)
  for (const name of ['mergeq.prom', 'mergeq-queues.prom']) writeFileSync(join(folder, name), 'old\n')
  const env = { PATH: `${programs}:${process.env.PATH}`, FAILS: fails, CODE: String(code) }
  const outcome = await sh(['bash', 'script.sh', ...words], folder, env)
  const read = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined
  return { code: outcome.code, out: outcome.out, log: read('mergeq.log')?.trim().split('\n') ?? [], read }
}

describe('incident.sh', () => {
  const [paused, waits, resumed] = ['queue pause', 'queue wait', 'queue resume']
  testWith('jq').each([
    ['nothing', 0, true, [paused, waits, resumed]],
    [paused, 6, false, [paused]],
    [paused, 7, false, [paused, paused, paused]],
    [waits, 124, false, [paused, waits, resumed]],
    [resumed, 14, true, [paused, waits, resumed]],
    [resumed, 7, true, [paused, waits, resumed, resumed, resumed]],
  ])('if %s fails with %i, whether its command runs: %s', async (fails, due, runs, log) => {
    const found = await run(readFileSync('docs/recipes/incident.sh', 'utf8'), ['touch', 'ran'], fails, due)
    const hasRun = found.read('ran') !== undefined
    expect({ code: found.code, hasRun, log: found.log }).toEqual({ code: due, hasRun: runs, log })
  })

  testWith('jq')('ends with the code of its command, and restores the states', async () => {
    const words = ['sh', '-c', 'exit 3']
    const { code, log } = await run(readFileSync('docs/recipes/incident.sh', 'utf8'), words, '', 0)
    expect({ code, last: log.at(-1) }).toEqual({ code: 3, last: resumed })
  })
})

testWith('jq').each([
  ['', 0, '25% a &lt;b&gt; (@acme/web) https://x.example/1'],
  ['flaky list', 17, undefined],
])('worst-tests.sh where mergeq fails (%j) ends with %i', async (fails, due, text) => {
  const { code, out } = await run(scriptOf('docs/flaky.md'), ['24h'], fails, due)
  expect({ code, text: out === '' ? undefined : JSON.parse(out).text }).toEqual({ code: due, text })
})

testWith('jq')('train.sh ends with the code of the submission', async () =>
  expect(await run(scriptOf('docs/train.md'), ['7', '8'], 'pr submit', 3)).toMatchObject({
    code: 3,
    log: ['pr submit'],
  }),
)

testWith('jq').each([
  [metrics, 'mergeq.prom', 'metrics --all-repos', 7, 7, 'old\n'],
  [queues, 'mergeq-queues.prom', 'metrics --queues', 7, 1, 'old\n'],
  [queues, 'mergeq-queues.prom', 'metrics --queues', 17, 0, 'partial\n'],
])(
  '%s writes %s if %s ends with %i only where some could be read',
  async (script, file, fails, given, due, text) => {
    const { code, read } = await run(script, [], fails, given)
    expect({ code, text: read(file) }).toEqual({ code: due, text })
  },
)
