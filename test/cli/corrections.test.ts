import { describe, expect, test } from 'vitest'
import { createUsageError } from '../../src/cli/correct.ts'
import { globalOptions, read } from '../../src/cli/parse.ts'
import { commandSynonyms, optionSynonyms, watchCommands } from '../../src/cli/synonyms.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, type Setting, splitWords } from '../support/harness.ts'

/** Runs a wrong command line, checks that nothing else happens than a usage error, and returns its hint. */
async function hintOf(line: string | readonly string[], setting: Setting = {}): Promise<string> {
  const { code, out, err, requests } = await mergeq(line, { answer: () => ({ body: '{}' }), ...setting })
  expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
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
  ['pr show 7 --json', 'pr get 7 --json'],
  ['pr view fix-cart', 'pr get --head fix-cart'],
  ['pr view https://github.com/acme/web/pull/7', 'pr get https://github.com/acme/web/pull/7'],
  ['pr 7', 'pr get 7'],
  ['pr add 7', 'pr submit 7'],
  ['pr enqueue 7 8 --priority high', 'pr submit 7 8 --priority high'],
  ['pr merge 7', 'pr submit 7'],
  ['pr remove 7', 'pr cancel 7'],
  ['pr dequeue 7', 'pr cancel 7'],
  ['pr close 7 --yes', 'pr cancel 7 --yes'],
  ['pr checks 7', 'pr testing --pr 7'],
  ['pr checks -R acme/web 7', 'pr testing -R acme/web --pr 7'],
  ['pr checks', 'pr testing'],
  ['pr rerun 7', 'pr restart 7'],
  ['pr watch 7', 'pr wait 7'],
  ['pr describe 7', 'pr explain 7'],
  ['queue show', 'queue get'],
  ['queue view', 'queue get'],
  ['queue status', 'queue get'],
  ['queue describe main', 'queue get -b main'],
  ['queue get main', 'queue get -b main'],
  ['queue pause main', 'queue pause -b main'],
  ['queue get 7', 'pr get 7'],
  ['queue 7', 'pr get 7'],
  ['queue add 7', 'pr submit 7'],
  ['queue remove 7', 'pr cancel 7'],
  ['queue add', 'queue create'],
  ['queue remove', 'queue delete'],
  ['queue edit --concurrency 5', 'queue update --concurrency 5'],
  ['queue start', 'queue resume'],
  ['queue top', 'queue watch'],
  ['flaky show x', 'flaky get x'],
  ['flaky ls', 'flaky list'],
  ['tests', 'flaky list'],
  ['metrics show', 'metrics'],
  ['auth whoami', 'auth status'],
  ['config ls', 'config list'],
  ['config delete color', 'config unset color'],
  ['sandbox up', 'sandbox start'],
  ['get queue', 'queue get'],
  ['get queue main', 'queue get -b main'],
  ['get pr 7', 'pr get 7'],
  ['describe pr 7', 'pr explain 7'],
  ['create queue', 'queue create'],
  ['queues', 'queue list'],
  ['list prs', 'pr list'],
  ['pr ls', 'pr list'],
  ['queue ls', 'queue list'],
  ['prs get 7', 'pr get 7'],
  ['login', 'auth login'],
  ['logout', 'auth logout'],
  ['whoami', 'auth status'],
  ['version', '--version'],
  ['123', 'pr get 123'],
  ['#123 --json', "pr get '#123' --json"],
  ['https://github.com/acme/web/pull/7', 'pr get https://github.com/acme/web/pull/7'],
  ['-R acme/web 123', '-R acme/web pr get 123'],
  ['submit 7 --wait', 'pr submit 7 --wait'],
  ['add 7', 'pr submit 7'],
  ['enqueue 7', 'pr submit 7'],
  ['cancel 7', 'pr cancel 7'],
  ['remove 7', 'pr cancel 7'],
  ['view 7', 'pr get 7'],
  ['status 7', 'pr get 7'],
  ['status', 'queue get'],
  ['list', 'queue get'],
  ['ls', 'queue get'],
  ['show', 'queue get'],
  ['explain 7', 'pr explain 7'],
  ['watch 7', 'pr wait 7'],
  ['watch', 'queue watch'],
  ['pause', 'queue pause'],
  ['exit-codes', 'help exit-codes'],
  ['ps', 'queue get'],
  ['log', 'pr list --state=merged'],
  ['log -b main', 'pr list --state=merged -b main'],
  ['log 7', 'pr testing --pr 7'],
  ['merge', 'pr submit'],
  ['merge 7', 'pr submit 7'],
  ['merged', 'pr list --state=merged'],
  ['open 7', 'pr get --web 7'],
  ['queue log', 'queue watch'],
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
    ['pr sbumit 7 --wait', 'pr submit 7 --wait'],
    ['sumbit 7', 'pr submit 7'],
    ['pr veiw 7', 'pr get 7'],
    ['queu get', 'queue get'],
    ['queu', 'queue'],
    ['prr get 7', 'pr get 7'],
    [`-q ${where} flaky lits --limit 3`, `-q ${where} flaky list --limit 3`],
    ['confg set color always', 'config set color always'],
    ['pr submit 7 --prio high', 'pr submit 7 --priority high'],
    ['pr submit 7 --prio=high', 'pr submit 7 --priority=high'],
    ['pr submit 7 --priorty high', 'pr submit 7 --priority high'],
    ['queue get --jsn', 'queue get --json'],
    ['queue get --repository acme/web', 'queue get --repo acme/web'],
    ['queue get -B main', 'queue get --target-branch main'],
    ['flaky list --start 2026-01-01', 'flaky list --since 2026-01-01'],
    ['flaky list --end 2026-01-01', 'flaky list --until 2026-01-01'],
    ['pr get 7 --format json', 'pr get 7 --output json'],
    ['pr cancel 7 8 --force', 'pr cancel 7 8 --yes'],
    ['pr get 7 --no-color', 'pr get 7 --color=never'],
    ['pr list -s merged', 'pr list --state merged'],
    ['flaky unhealthy -s flaky', 'flaky unhealthy --status flaky'],
    ['pr submit 7 -p high', 'pr submit 7 --priority high'],
    ['pr list --merged', 'pr list --state=merged'],
    ['pr list --failed --since 24h', 'pr list --state=failed --since 24h'],
    ['pr list --closed', 'pr list --state=merged --state=failed --state=cancelled'],
    ['pr list -A ada', 'pr list --author ada'],
    ['pr list --mine', 'pr list --author=NAME'],
    ['pr list --all', 'pr list --limit=0'],
    ['pr list -n 5', 'pr list --limit 5'],
    ['pr cancel 7 -n', 'pr cancel 7 --dry-run'],
    ['metrics -A', 'metrics --all-repos'],
    ['pr wait 7 -t 5m', 'pr wait 7 --timeout 5m'],
    ['pr get 7 --watch', 'pr wait 7'],
    ['queue get --watch', 'queue watch'],
    ['--versoin', '--version'],
    [`pr view 7 --fields 'a b'`, `pr get 7 --fields "a b"`],
  ])('%s', async (typed, meant) => {
    expect(await hintOf(typed)).toBe(`Did you mean: mergeq ${meant}`)
    await isAccepted(meant)
  })

  test.each([
    ['flaky show', 'Did you mean: mergeq flaky get'],
    ['config add', 'Did you mean: mergeq config set'],
    ['completions bash', 'Did you mean: mergeq completion bash'],
    ['doctor foo', 'To see the usage, run: mergeq doctor --help'],
  ])('an argument may be missing: %s', async (typed, hint) => {
    expect(await hintOf(typed)).toBe(hint)
  })

  test('other words after `queue set` are not repeated', async () => {
    expect(await hintOf('queue set speed 4')).toBe('Did you mean: mergeq queue update')
  })

  test.each([
    ['frobnicate', 'To list the commands, run: mergeq --help'],
    ['pr frobnicate', 'To list the commands, run: mergeq pr --help'],
    ["pr ''", 'To list the commands, run: mergeq pr --help'],
    ['pr get 7 --frobnicate', 'To see the usage, run: mergeq pr get --help'],
    ['flaky get', 'To see the usage, run: mergeq flaky get --help'],
    // A word that is only a little like a change is not answered with the change.
    ['queue main', 'To list the commands, run: mergeq queue --help'],
  ])('%s: nothing is similar', async (typed, hint) => {
    expect(await hintOf(typed)).toBe(hint)
  })

  test.each([
    ['queue update --batch=true', '--batch takes no value.', 'Did you mean: mergeq queue update --batch'],
    ['queue update --batch=false', '--batch takes no value.', 'Did you mean: mergeq queue update --no-batch'],
    [
      'queue update --no-batch=False',
      '--no-batch takes no value.',
      'Did you mean: mergeq queue update --batch',
    ],
    ['pr cancel 7 --yes=true', '--yes takes no value.', 'Did you mean: mergeq pr cancel 7 --yes'],
    ['pr cancel 7 --yes=false', '--yes takes no value.', 'To see the usage, run: mergeq pr cancel --help'],
    [
      'queue update --batch=5',
      '--batch takes no value.',
      'To see the usage, run: mergeq queue update --help',
    ],
  ])('%s: a flag takes no value', async (typed, message, hint) => {
    const { code, err } = await mergeq(typed)
    expect({ code, err }).toEqual({ code: 2, err: `mergeq: ${message}\n  ${hint}\n` })
  })

  test.each([
    [
      'completion',
      'Specify the shell: bash, zsh, fish, powershell. For bash, run: source <(mergeq completion bash)',
    ],
    ['pr cancel 70,#71', 'Separate pull requests with spaces: 70 71'],
    [
      'pr get 7 --json number,state,title',
      'To print only some fields, use: --json --fields prNumber,state,prTitle',
    ],
    [
      'pr list -R acme/web -b main --state open',
      'For open pull requests: --state not-ready --state pending --state testing --state tests-passed --state pending-failure',
    ],
    [
      'pr list -R acme/web -b main --state closed',
      'For closed pull requests: --state merged --state failed --state cancelled',
    ],
    ['pr list -R acme/web -b main --state queued', 'For queued pull requests: --state not-ready'],
    ['pr list -R acme/web -b main --state all', 'For all pull requests, omit --state.'],
    ['pr get 7 -o yaml', 'To print the settings of a queue as YAML, run: mergeq queue export'],
    [
      'flaky list -R acme/web --org acme --since yesterday',
      'Use a duration (90s, 12h, 7d, 2w) or a date (2026-01-05, 2026-01-05T12:00:00Z).',
    ],
    [
      'pr list -R acme/web -b main --since 7days',
      'Use a duration (90s, 12h, 7d, 2w) or a date (2026-01-05, 2026-01-05T12:00:00Z).',
    ],
    ['pr get 7 --jq .state', "To select from the JSON, run: mergeq pr get 7 --json | jq '.state'"],
    ['pr get 7 --json --jq=.state', "To select from the JSON, run: mergeq pr get 7 --json | jq '.state'"],
    [`queue get --jq "a'b"`, String.raw`run: mergeq queue get --json | jq 'a'\''b'`],
    [
      'queue get -R acme/web',
      'run: git remote set-head origin -a\nTo list the queues, run: mergeq queue list',
    ],
  ])('%s: the hint has what to type', async (typed, hint) => {
    expect(await hintOf(typed)).toContain(hint)
  })

  test.each([
    ['queue', "mergeq knows no operation named 'queue'. Did you mean getQueue?"],
    ['getQueues', "mergeq knows no operation named 'getQueues'. Did you mean getQueue?"],
  ])('api %s: is sent, and a 404 names the nearest operation', async (name, hint) => {
    const { err, requests } = await mergeq(`api ${name}`, { answer: () => ({ status: 404 }) })
    expect(requests).toHaveLength(1)
    expect(err).toContain(hint)
  })

  test.each(['queue update --batch=x', 'queue update --batch=true', 'queue update --json=', 'queue --batch'])(
    '%s: the hint is never the command line that was typed',
    async typed => {
      const hint = await hintOf(typed)
      expect(hint.split('\n').filter(line => line.endsWith(`: mergeq ${typed}`))).toEqual([])
    },
  )

  test.each([
    ['queue update concurrency=5', 'queue update --concurrency 5'],
    ['queue update requiredStatuses=build', 'queue update --required-status build'],
    ['queue update batch=false', 'queue update --no-batch'],
    ['queue diff q.json', 'queue diff -f q.json'],
    // The line with everything that was typed would be wrong, too.
    ['pr view 7 --frobnicate', 'pr get'],
  ])('%s', async (typed, meant) => {
    expect(await hintOf(typed)).toBe(`Did you mean: mergeq ${meant}`)
  })

  test.each([
    ['pr cancle 7', 'pr'],
    ['pr remov 7', 'pr'],
    ['prr cancel 7', ''],
    ['cancle 7', ''],
    ['queue delte', 'queue'],
    ['queu delete', ''],
    ['queue destory', 'queue'],
    ['auth logot', 'auth'],
    ['config unse color', 'config'],
  ])('%s: a misspelling is not corrected to a command that destroys something', async (typed, group) => {
    const hint = await hintOf(typed)
    expect(hint).toBe(`To list the commands, run: mergeq ${group} --help`.replace('  ', ' '))
  })

  test.each(['pr cancel 7 --no-dry-run', 'queue get --no-json', 'queue get --no-quiet', 'pr get 7 --input'])(
    '%s: an option is not corrected to its opposite',
    async typed => {
      expect(await hintOf(typed)).toMatch(/^To see the usage, run: /)
    },
  )

  test('every misspelling of a command leads to a line that can be typed, and destroys nothing', async () => {
    for (const { command } of allCommands)
      for (let index = 0; index < command.length; index++) {
        const argv = `${command.slice(0, index)}${command.slice(index + 1)}`.split(' ')
        const reading = await read(argv, commandGroups)
        if (reading.asksFor !== 'error') continue
        const { details } = await createUsageError(argv, reading, commandGroups)
        const [, line] = /^Did you mean: mergeq (.*)$/.exec(details.hint ?? '') ?? []
        if (line === undefined) continue
        const corrected = await read(splitWords(line), commandGroups)
        const problem = corrected.problem?.kind === 'missing-argument' ? undefined : corrected.problem
        expect({ argv, problem }).toEqual({ argv, problem: undefined })
        expect({ argv, destroys: corrected.command?.destructive === true }).toEqual({ argv, destroys: false })
      }
  })

  test.each([
    ['help exit-code', 'help exit-codes'],
    ['help pr view', 'help pr get'],
    ['help sumbit', 'help pr submit'],
    ['help prr', 'help pr'],
  ])('%s', async (typed, meant) => {
    expect(await hintOf(typed)).toBe(`Did you mean: mergeq ${meant}`)
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

describe('fields after --json, as with gh, are answered with --fields', () => {
  test.each([
    ['queue get --json=state', 'queue get --json --fields state'],
    ['queue get --json state,mode', 'queue get --json --fields state,mode'],
  ])('%s', async (typed, meant) => {
    const { err } = await mergeq(typed)
    expect(err).toContain(`To print only some fields, run: mergeq ${meant}`)
  })
})

describe('a wrong value is answered with the right one', () => {
  const at = '-R acme/web -b main'
  const stored = '{"profiles":{"staging":{"color":"never"}}}'
  const files = { '/settings/config.json': stored }
  test.each([
    [`pr submit 7 ${at} --priority hgih`, 'Did you mean high?'],
    [`pr get 7 ${at} -o jsno`, 'Did you mean json?'],
    [`pr get 7 ${at} --output=markdwon`, 'Did you mean markdown?'],
    [`pr get 7 ${at} --color alwyas`, 'Did you mean always?'],
    [`queue update ${at} --mode paralel`, 'Did you mean parallel?'],
    [`queue create ${at} --mode sinlge`, 'Did you mean single?'],
    [`queue update ${at} --state paussed`, 'Did you mean paused?'],
    [`queue update ${at} --merge-method sqash`, 'Did you mean squash?'],
    [`pr wait 7 ${at} --until merg`, 'Did you mean merged?'],
    [`pr targets 7 a --sha x ${at} --too-large fial`, 'Did you mean fail?'],
    [`flaky list -R acme/web --org acme --sort rcent`, 'Did you mean recent?'],
    ['config get colr', 'Did you mean color?'],
    ['completion bsh', 'Did you mean bash?'],
    ['api getQueue -X psot', 'Did you mean post?'],
    ['sandbox exec --scenario flakey true', 'Did you mean flaky?'],
    [`queue get ${at} --profile stagin`, 'Did you mean staging?'],
  ])('%s', async (typed, hint) => {
    const setting = { files, env: { MERGEQ_CONFIG_DIR: '/settings' } }
    expect(await hintOf(typed, setting)).toContain(hint)
  })

  test.each([`pr get 7 ${at} -o yaml`, `pr submit 7 ${at} --priority p1`, 'config get token'])(
    '%s: nothing is similar',
    async typed => {
      expect(await hintOf(typed)).not.toContain('Did you mean')
    },
  )
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
      [...globalOptions, ...allCommands.flatMap(({ definitions }) => definitions)].map(({ name }) => name),
    )
    const meant = optionSynonyms.flatMap(([target]) => target.split(' '))
    expect(meant.filter(name => !options.has(name.split('=')[0] ?? ''))).toEqual([])
  })

  test('contain no command of the group', () => {
    for (const [group, rows] of Object.entries(commandSynonyms))
      for (const [target, words] of rows)
        if (!target.endsWith('<pr>') && !target.includes(' --'))
          for (const word of words.split(' '))
            if (!target.startsWith(`${group} ${word}`))
              expect(allCommands.map(({ command }) => command)).not.toContain(`${group} ${word}`)
  })
})
