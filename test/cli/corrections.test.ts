import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createUsageError } from '../../src/cli/correct.ts'
import { globalOptions, read, versionOption } from '../../src/cli/parse.ts'
import { commandSynonyms, optionSynonyms, watchCommands } from '../../src/cli/synonyms.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, type Setting, splitWords } from '../support/harness.ts'

/**
 * Runs a wrong command line, checks that it ends with a usage error, and returns its hint. A request would fail: nobody
 * listens at the address.
 */
async function hintOf(line: string | readonly string[], setting: Setting = {}): Promise<string> {
  const env = { MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1', ...setting.env }
  const { code, out, err } = await mergeq(line, { ...setting, env })
  expect({ code, out }).toEqual({ code: 2, out: '' })
  if (err.startsWith('{')) return JSON.parse(err).error.hint
  const [, ...hint] = err.trimEnd().split('\n')
  return hint.map(text => text.slice(2)).join('\n')
}

const commandExists = (path: string): boolean =>
  allCommands.some(({ command }) => command === path) || commandGroups.some(({ name }) => name === path)

/** Checks that the parser accepts a command line. */
async function isAccepted(line: string): Promise<void> {
  expect((await read(splitWords(line), commandGroups)).problem).toBe(undefined)
}

/** What daily users of gh, kubectl and git type, and what they mean. */
const otherWords: readonly (readonly [typed: string, meant: string])[] = [
  ['pr view 7', 'pr get 7'],
  ['pr view fix-cart', 'pr get --head fix-cart'],
  ['pr 7', 'pr get 7'],
  ['pr close 7 --yes', 'pr cancel 7 --yes'],
  ['pr checks 7', 'pr testing --pr 7'],
  ['pr checks', 'pr testing'],
  ['pr checks 7 --watch', 'pr wait 7'],
  ['pr view 7 -w', 'pr get 7 -w'],
  ['pr submit 7 8 -w', 'pr submit 7 8 --wait'],
  ['queue get main', 'queue get -b main'],
  ['queue wait main', 'queue wait -b main'],
  ['queue wait 7', 'pr wait 7'],
  ['queue check main --not-paused', 'queue check -b main --not-paused'],
  ['queue check --depth 20', 'queue check --max-depth 20'],
  ['queue get 7', 'pr get 7'],
  ['queue 7', 'pr get 7'],
  ['queue add 7', 'pr submit 7'],
  ['queue add', 'queue create'],
  ['queue edit --concurrency 5', 'queue update --concurrency 5'],
  ['tests', 'flaky list'],
  ['config delete color', 'config unset color'],
  ['get queue main', 'queue get -b main'],
  ['describe pr 7', 'pr explain 7'],
  ['queues', 'queue list'],
  ['prs get 7', 'pr get 7'],
  ['login', 'auth login'],
  ['version', '--version'],
  ['#123 --json', "pr get '#123' --json"],
  ['https://github.com/acme/web/pull/7', 'pr get https://github.com/acme/web/pull/7'],
  ['-R acme/web 123', '-R acme/web pr get 123'],
  ['submit 7 --wait', 'pr submit 7 --wait'],
  ['status 7', 'pr get 7'],
  ['watch 7', 'pr wait 7'],
  ['watch', 'queue watch'],
  ['exit-codes', 'help exit-codes'],
  ['log -b main', 'pr list --state=merged -b main'],
  ['log 7', 'pr testing --pr 7'],
  ['open 7', 'pr get --web 7'],
]

describe('another word for a command is answered with the command line to paste', () => {
  test.each(otherWords)('%s', async (typed, meant) => {
    expect(await hintOf(typed)).toContain(`Did you mean: mergeq ${meant}`)
    await isAccepted(meant)
  })
})

describe('a misspelt command or option is answered with the whole command line', () => {
  const where = '-R acme/web -b main'
  test.each([
    ['pr sumbit 7', 'pr submit 7'],
    ['sumbit 7', 'pr submit 7'],
    ['queu get', 'queue get'],
    [`-q ${where} flaky lits --limit 3`, `-q ${where} flaky list --limit 3`],
    ['pr submit 7 --prio=high', 'pr submit 7 --priority=high'],
    ['queue get -B main', 'queue get --target-branch main'],
    ['pr get 7 --format json', 'pr get 7 --output json'],
    ['pr get 7 --no-color', 'pr get 7 --color=never'],
    ['pr list --failed --since 24h', 'pr list --state=failed --since 24h'],
    ['pr list --closed', 'pr list --state=merged --state=failed --state=cancelled'],
    ['pr list --all', 'pr list --limit=1000'],
    ['pr ls -L 5 -s merged', 'pr list --limit 5 --state merged'],
    ['pr ls --wait=1', 'pr list'],
    ['pr lst --quiet=1 -L 5', 'pr list'],
    ['pr cancel 7 -n', 'pr cancel 7 --dry-run'],
    ['pr get 7 --watch', 'pr wait 7'],
    ['pr explain 7 --watch', 'pr wait 7'],
    ['pr submit 7 --watch', 'pr submit 7 --wait'],
    ['queue list --watch', 'queue watch'],
    ['queue get --for 5m', 'queue watch --for 5m'],
    ['pr wait 7 --for merged', 'pr wait 7 --until merged'],
    ['pr wait 7 --for=5m', 'pr wait 7 --timeout=5m'],
    ['flaky list --for 7d', 'flaky list --since 7d'],
    ['flaky quarantine', 'flaky quarantined'],
    ['-V', '--version'],
    ['--versoin', '--version'],
    [`pr view 7 --fields 'a b'`, `pr get 7 --fields "a b"`],
  ])('%s', async (typed, meant) => {
    expect(await hintOf(typed)).toBe(`Did you mean: mergeq ${meant}`)
    await isAccepted(meant)
  })

  test.each([
    // Other words after `queue set` are not repeated.
    ['queue set speed 4', 'Did you mean: mergeq queue update --help'],
    ['queue edit', 'Did you mean: mergeq queue update --help'],
    ['frobnicate', 'To list the commands, run: mergeq --help'],
    ['queue get -n foo', 'To see the usage, run: mergeq queue get --help'],
    ['pr list --author @me -R acme/web -b main', 'Use your login, such as: --author octocat'],
    ['pr frobnicate', 'To list the commands, run: mergeq pr --help'],
    ['pr get 7 --frobnicate', 'To see the usage, run: mergeq pr get --help'],
    ['flaky get', 'To see the usage, run: mergeq flaky get --help'],
    // An argument may be missing.
    ['flaky show', 'Did you mean: mergeq flaky get'],
    ['flaky search foo', 'Did you mean: mergeq flaky get foo'],
    ['completions bash', 'Did you mean: mergeq completion bash'],
    ['doctor foo', 'To see the usage, run: mergeq doctor --help'],
    // A word that is only a little like a change is not answered with the change.
    ['queue main', 'To list the commands, run: mergeq queue --help'],
  ])('%s: without a line to paste, where to look', async (typed, hint) => {
    expect(await hintOf(typed)).toBe(hint)
  })

  test.each([
    ['queue update --batch=true', '--batch takes no value.', 'Did you mean: mergeq queue update --batch'],
    ['queue update --batch=false', '--batch takes no value.', 'Did you mean: mergeq queue update --no-batch'],
    ['pr cancel 7 --yes=true', '--yes takes no value.', 'Did you mean: mergeq pr cancel 7 --yes'],
    ['pr cancel 7 --yes=false', '--yes takes no value.', 'To see the usage, run: mergeq pr cancel --help'],
  ])('%s: a flag takes no value', async (typed, message, hint) => {
    const { code, err } = await mergeq(typed)
    expect({ code, err }).toEqual({ code: 2, err: `mergeq: ${message}\n  ${hint}\n` })
  })

  test.each([
    [
      'completion',
      'Specify the shell: bash, zsh, fish, powershell.\nFor bash, run: source <(mergeq completion bash)',
    ],
    ['pr cancel 70,#71', 'Separate pull requests with spaces: 70 71'],
    [
      'pr get 7 --json number,state,title',
      'To print only some fields, use: --json --fields prNumber,state,prTitle',
    ],
    [
      'queue get --json state,mode',
      'To print only some fields, run: mergeq queue get --json --fields state,mode',
    ],
    [
      'pr list --json number,title',
      'To print only some fields, run: mergeq pr list --json --fields prNumber,prTitle',
    ],
    [
      'pr list -R acme/web -b main --state open',
      'For open pull requests: --state not-ready --state pending --state testing --state tests-passed --state pending-failure',
    ],
    [
      'pr list -R acme/web -b main --state closed',
      'For closed pull requests: --state merged --state failed --state cancelled',
    ],
    ['pr list -R acme/web -b main --state all', 'For all pull requests, omit --state.'],
    ['pr get 7 -o yaml', 'To print the settings of a queue as YAML, run: mergeq queue export'],
    [
      'flaky list -R acme/web --org acme --since yesterday',
      'Use a duration (90s, 12h, 7d, 2w) or a date (2026-01-05, 2026-01-05T12:00:00Z).',
    ],
    ['flaky get cart --org acme total price', 'Did you mean: mergeq flaky get "cart total price" --org acme'],
    [
      'flaky quarantine abc123',
      'Tests are quarantined on their page. To open it, run: mergeq flaky get --web abc123',
    ],
    ['pr list --json -q .[]', "To select from the JSON, run: mergeq pr list --json | jq '.[]'"],
    ['api getQueue -q .state', "To select from the JSON, run: mergeq api getQueue --json | jq '.state'"],
    ['pr get 7 --json -q .state', "replace -q and what follows with: --json | jq '.state'"],
    ['pr get 7 --jq .state', "To select from the JSON, run: mergeq pr get 7 --json | jq '.state'"],
    [`queue get --jq "a'b"`, String.raw`run: mergeq queue get --json | jq 'a'\''b'`],
    [
      'queue get -R acme/web',
      'run: git remote set-head origin -a\nTo list the queues, run: mergeq queue list',
    ],
  ])('%s: the hint has what to type', async (typed, hint) => {
    expect(await hintOf(typed)).toContain(hint)
  })

  test('an unknown operation of `api` is sent, and a 404 names the nearest', async () => {
    const { err, requests } = await mergeq('api getQueues', { answer: () => ({ status: 404 }) })
    expect(requests).toHaveLength(1)
    expect(err).toContain("mergeq knows no operation named 'getQueues'. Did you mean getQueue?")
    const other = await mergeq('api repos/acme/web', { answer: () => ({ status: 404 }) })
    expect(other.err).toContain('To list them, run: mergeq api --help')
  })

  test.each([
    ['queue update concurrency=5', 'queue update --concurrency 5'],
    ['queue update batch=false', 'queue update --no-batch'],
    ['queue diff q.json', 'queue diff -f q.json'],
    ['help exit-code', 'help exit-codes'],
    ['help pr view', 'help pr get'],
    ['help prr', 'help pr'],
    // The line with everything that was typed would be wrong, too.
    ['pr view 7 --frobnicate', 'pr get'],
  ])('%s', async (typed, meant) => {
    expect(await hintOf(typed)).toBe(`Did you mean: mergeq ${meant}`)
  })

  test.each([
    ['pr cancle 7', 'pr'],
    ['prr cancel 7', ''],
    ['queue delte', 'queue'],
    ['queu delete', ''],
    ['config unse color', 'config'],
  ])('%s: a misspelling is not corrected to a command that destroys something', async (typed, group) => {
    const hint = await hintOf(typed)
    expect(hint).toBe(`To list the commands, run: mergeq ${group} --help`.replace('  ', ' '))
  })

  test.each(['queue pause --for 1h', 'queue drain --for=1h'])('%s: no option ends the state', async typed => {
    expect(await hintOf(typed)).toBe(
      'This state has no time limit: it lasts until you run `mergeq queue resume`.',
    )
  })

  test.each(['pr cancel 7 --no-dry-run', 'queue get --no-json', 'queue get --no-quiet', 'pr get 7 --input'])(
    '%s: an option is not corrected to its opposite',
    async typed => {
      expect(await hintOf(typed)).toMatch(/^To see the usage, run: /)
    },
  )

  test('a command without one of its letters leads to a line that can be typed, and destroys nothing', async () => {
    const misspelled = fc
      .constantFrom(...allCommands.map(({ command }) => command))
      .chain(name => fc.nat(name.length - 1).map(at => `${name.slice(0, at)}${name.slice(at + 1)}`))
    await fc.assert(
      fc.asyncProperty(misspelled, async typed => {
        const argv = typed.split(' ')
        const reading = await read(argv, commandGroups)
        if (reading.asksFor !== 'error') return
        const { details } = await createUsageError(argv, reading, commandGroups)
        const [, line] = /^Did you mean: mergeq (.*)$/.exec(details.hint ?? '') ?? []
        if (line === undefined) return
        const { problem, command } = await read(splitWords(line), commandGroups)
        expect(problem?.kind ?? 'missing-argument').toBe('missing-argument')
        expect(command?.destructive ?? false).toBe(false)
      }),
    )
  })

  test('a hint repeats neither secrets nor control characters nor endless command lines', async () => {
    for (const words of [
      ['login', 'sesame'],
      ['login', '--token', 'sesame'],
      ['login', '--with-tokn=sesame'],
      ['pr', 'view', '7', '--api-token=sesame'],
      ['pr', 'view', '7', '--api_token', 'sesame'],
      ['pr', 'view', '7', '--apiKey=sesame'],
      ['pr', 'get', '7', '--token', 'sesame'],
      ['pr', 'veiw', 'a\nsesame'],
      ['pr', 'veiw', `sesame${'x'.repeat(500)}`],
    ])
      expect(await hintOf(words)).not.toContain('sesame')
    expect(await hintOf('pr get 7 --token sesame')).toContain('set MERGEQ_TOKEN, or run: mergeq auth login')
    expect(await hintOf(['-q', 'pr', 'veiw', 'x'.repeat(501)])).toBe('Did you mean: mergeq pr get')
  })
})

describe('a wrong value is answered with the right one', () => {
  const at = '-R acme/web -b main'
  const stored = '{"profiles":{"staging":{"color":"never"}}}'
  const files = { '/settings/config.json': stored }
  test.each([
    [`pr submit 7 ${at} --priority hgih`, 'Did you mean high?'],
    [`pr get 7 ${at} -o jsno`, 'Did you mean json?'],
    [`queue update ${at} --mode paralel`, 'Did you mean parallel?'],
    [`pr wait 7 ${at} --until merg`, 'Did you mean merged?'],
    ['config get colr', 'Did you mean color?'],
    ['sandbox exec --scenario flakey true', 'Did you mean flaky?'],
    [`queue get ${at} --profile stagin`, 'Did you mean staging?'],
  ])('%s', async (typed, hint) => {
    const setting = { files, env: { MERGEQ_CONFIG_DIR: '/settings' } }
    expect(await hintOf(typed, setting)).toContain(hint)
  })
})

describe('the tables of other words', () => {
  test('name commands and options that exist', () => {
    const rows = Object.values(commandSynonyms).flat()
    const missing = rows
      .map(([command]) => command.replace(/ [-<].*$/, ''))
      .filter(command => !command.startsWith('--'))
      .map(command => command.replace(/^help .*/, 'help'))
      .filter(command => !commandExists(command))
    expect(missing).toEqual([])
    expect(Object.keys(commandSynonyms).filter(name => name !== '' && !commandExists(name))).toEqual([])
    expect(
      Object.entries(watchCommands)
        .flat()
        .filter(name => !commandExists(name)),
    ).toEqual([])
    const options = new Set(
      [versionOption, ...globalOptions, ...allCommands.flatMap(({ definitions }) => definitions)].map(
        ({ name }) => name,
      ),
    )
    const meant = optionSynonyms.flatMap(([target]) => target.split(' '))
    expect(meant.filter(name => !options.has(name.split('=')[0] ?? ''))).toEqual([])
  })
})
