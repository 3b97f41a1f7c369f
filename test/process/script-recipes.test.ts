import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { blocksOf, linesOf } from '../support/code-blocks.ts'
import { place, sh, type Variables } from '../support/documentation-runs.ts'
import { testWith } from '../support/programs.ts'

const scriptOf = (page: string): string =>
  blocksOf(page).find(({ language }) => language === 'bash')?.text ?? ''
const recipe = (name: string): string => readFileSync(`docs/recipes/${name}`, 'utf8')

/** What each command of mergeq prints or writes in these tests, and what it does with its words. */
const mergeq = `#!/bin/sh
echo "$*" >> mergeq.log
case "$*" in "$FAILS"*) [ -z "$FAILS" ] || { [ $1 = pr ] || [ "$2" = watch ] || echo partial; exit "$CODE"; } ;; esac
case "$1 $2" in
  'queue pause') printf '[{"repo":"github.com/acme/web","targetBranch":"main","before":"RUNNING","after":"PAUSED"}]' > "$5" ;;
  'flaky list') echo '{"name":"a <b>","failure_rate_last_7d":0.25,"codeowners":["@acme/web"],"html_url":"https://x.example/1"}' ;;
  'pr submit') echo '{"type":"result","pr":7,"exit":0,"url":"https://x.example/7","reason":"merged"}' ;;
  metrics*) echo new ;;
esac`

/** Runs a script with programs of which one fails; a command line of mergeq fails by how it begins. */
async function run(script: string, words: readonly string[], fails: string, code = 7) {
  const folder = mkdtempSync(join(place, 'script-'))
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  const isProgram = /^(?:jq|curl|mv|seq)$/.test(fails)
  if (isProgram) writeFileSync(join(programs, fails), '#!/bin/sh\necho partial\nexit 7\n', { mode: 0o755 })
  writeFileSync(join(programs, 'mergeq'), mergeq, { mode: 0o755 })
  // Ten minutes pass between two looks at the clock.
  writeFileSync(join(programs, 'date'), '#!/bin/sh\necho . >> looks\necho $(($(wc -l < looks) * 600))\n', {
    mode: 0o755,
  })
  writeFileSync(join(programs, 'sleep'), '#!/bin/sh\n', { mode: 0o755 })
  writeFileSync(join(folder, 'script.sh'), script)
  writeFileSync(join(folder, 'mergeq.prom'), 'old\n')
  const env: Variables = {
    PATH: `${programs}:${process.env.PATH}`,
    FAILS: isProgram ? '' : fails,
    CODE: String(code),
    WEBHOOK: 'http://127.0.0.1:9/',
  }
  const outcome = await sh(['bash', 'script.sh', ...words], folder, env)
  const read = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined
  return { code: outcome.code, out: outcome.out, log: read('mergeq.log')?.trim().split('\n') ?? [], read }
}

describe('incident.sh', () => {
  const script = recipe('incident.sh')
  const begins = (log: readonly string[]) => log.map(line => line.split(' ').slice(0, 2).join(' '))
  const words = ['touch', 'ran']

  testWith('jq')('runs the command between the pause and the restoration', async () => {
    const { code, log, read } = await run(script, words, '')
    expect({ code, log: begins(log) }).toEqual({
      code: 0,
      log: ['queue pause', 'queue wait', 'queue resume'],
    })
    expect(read('ran')).toBe('')
  })

  testWith('jq').each([
    ['queue pause', 7, ['queue pause', 'queue pause', 'queue pause']],
    ['queue pause', 6, ['queue pause']],
    ['jq', 7, ['queue pause', 'queue wait', 'queue resume']],
    ['queue wait', 124, ['queue pause', 'queue wait', 'queue resume']],
  ])('does not run the command if %s fails, and restores what it paused', async (fails, due, log) => {
    const found = await run(script, words, fails, due)
    expect({ code: found.code, log: begins(found.log) }).toEqual({ code: due, log })
    expect(found.read('ran')).toBeUndefined()
  })

  testWith('jq')('ends with the code of the command, and restores the states', async () => {
    const { code, log } = await run(script, ['sh', '-c', 'exit 3'], '')
    expect({ code, last: begins(log).at(-1) }).toEqual({ code: 3, last: 'queue resume' })
  })

  testWith('jq').each([
    [14, 1],
    [7, 3],
  ])('fails with %i if the states are not restored, after %i attempts', async (due, attempts) => {
    const { code, log, read } = await run(script, words, 'queue resume', due)
    const resumed = begins(log).filter(line => line === 'queue resume')
    expect({ code, ran: read('ran'), attempts: resumed.length }).toEqual({ code: due, ran: '', attempts })
  })
})

describe('worst-tests.sh', () => {
  const script = scriptOf('docs/flaky.md')
  testWith('jq')('prints a message', async () => {
    const { code, out } = await run(script, ['24h'], '')
    expect({ code, ...JSON.parse(out) }).toEqual({
      code: 0,
      text: '25% a &lt;b&gt; (@acme/web) https://x.example/1',
    })
  })
  testWith('jq')('prints nothing of its own if mergeq fails', async () =>
    expect(await run(script, ['24h'], 'flaky list', 17)).toMatchObject({ code: 17, out: '' }),
  )
  testWith('jq')('fails if jq fails', async () =>
    expect(await run(script, ['24h'], 'jq')).toMatchObject({ code: 7 }),
  )
})

describe('train.sh', () => {
  const script = scriptOf('docs/train.md')
  testWith('jq').each([
    ['seq', 7, []],
    ['pr submit', 3, [expect.stringMatching(/^pr submit - /)]],
    ['jq', 7, [expect.stringMatching(/^pr submit - /)]],
  ])('ends with the code of %s', async (fails, due, log) => {
    const found = await run(script, ['7', '8'], fails, due)
    expect({ code: found.code, log: found.log }).toEqual({ code: due, log })
  })
})

describe('tell.sh', () => {
  const script = recipe('tell.sh')
  testWith('jq').each([
    ['queue watch', 5],
    ['jq', 7],
  ])('ends with the code of %s', async (fails, due) =>
    expect(await run(script, [], fails, due)).toMatchObject({ code: due }),
  )
})

describe('the text file of docs/prometheus.md', () => {
  const blocks = blocksOf('docs/prometheus.md').filter(({ text }) => text.includes('mv "$directory'))
  const scripts = blocks.flatMap(linesOf).map(text => text.replace('/var/lib/prometheus/node-exporter', '.'))
  testWith('jq')('both are here', () => expect(scripts).toHaveLength(2))
  const [metrics = '', queues = ''] = scripts

  testWith('jq').each([
    ['metrics --all-repos', 7],
    ['mv', 7],
  ])('stays as it was if %s fails', async (fails, due) => {
    const { code, read } = await run(metrics, [], fails, due)
    expect({ code, text: read('mergeq.prom') }).toEqual({ code: due, text: 'old\n' })
  })

  testWith('jq').each([
    [7, 1, undefined],
    [17, 0, 'partial\n'],
    [0, 0, 'partial\n'],
  ])('of the queues is written after exit code %i only if some could be read', async (given, due, text) => {
    const { code, read } = await run(queues, [], 'metrics --queues', given)
    expect({ code, text: read('mergeq-queues.prom') }).toEqual({ code: due, text })
  })
})
