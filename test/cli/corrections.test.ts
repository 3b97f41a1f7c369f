import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createUsageError } from '../../src/cli/correct.ts'
import { readHabits } from '../../src/cli/other-words.ts'
import { globalOptions, parseCommandLine, versionOption } from '../../src/cli/parse.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { expectUsageError } from '../support/command-checks.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, type Setting, splitWords } from '../support/harness.ts'

/**
 * Runs a wrong command line, checks that it ends with a usage error, and returns its hint. A request would fail: nobody
 * listens at the address.
 */
async function hintOf(line: string | readonly string[], setting: Setting = {}): Promise<string> {
  const env = { MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1', ...setting.env }
  const { err, ...ran } = await mergeq(line, { ...setting, env })
  expectUsageError({ err, ...ran })
  if (err.startsWith('{')) return JSON.parse(err).error.hint
  const [, ...hint] = err.trimEnd().split('\n')
  return hint.map(text => text.slice(2)).join('\n')
}

describe('the hint is something else', () => {
  test.each([
    ['queue set speed 4', 'queue update'],
    ['queue rm release -b main', 'queue delete'],
    ['pr close 7 --comment 8', 'pr cancel'],
    ['pr view 7 --frobnicate', 'pr get'],
    ['pr ls -L 5 --wait=1', 'pr list'],
    ['freeze create', 'queue pause'],
    ['get queue -n acme', 'queue get'],
  ])('%s: if a word or option has no place, with the command alone', async (typed, command) => {
    expect(await hintOf(typed)).toBe(
      `Did you mean ${command}?\nTo see the usage, run: mergeq ${command} --help`,
    )
  })

  test.each([
    ['frobnicate', 'To list the commands, run: mergeq --help'],
    ['queue main', 'To list the commands, run: mergeq queue --help'],
    ['doctor foo', 'To see the usage, run: mergeq doctor --help'],
    ['flaky get', 'To see the usage, run: mergeq flaky get --help'],
    ['pr cancel 7 --yes=false', 'Did you mean: mergeq pr cancel 7'],
    ['pr get 7 --json=', 'To see the usage, run: mergeq pr get --help'],
    ['pr get 7 --frobnicate', 'To see the usage, run: mergeq pr get --help'],
    ['queue new -1', 'Did you mean queue create?\nTo see the usage, run: mergeq queue create --help'],
    ['queue update concurrency', 'To see the usage, run: mergeq queue update --help'],
    ['queue get --timeuot 5s', 'Did you mean: mergeq queue get --timeout 5s'],
    ['pr merge 7 --dry-rn', 'Did you mean: mergeq pr submit 7 --dry-run'],
    [
      'queue diff main release',
      'To name a file, use -f <file>. To compare with the queue of another branch, use queue diff --with-branch <branch>.',
    ],
    [
      'pr merge 7 --auto --squash',
      'Did you mean: mergeq pr submit 7\nThe merge method is a setting of the queue: mergeq queue update --merge-method <method>',
    ],
    [
      'flaky get cart --org acme total price',
      'Put a name of several words in quotes: mergeq flaky get "total price"',
    ],
    [
      'pr list --author @me -R acme/web -b main',
      'Store your login (config set user), or use it, such as: --author octocat',
    ],
  ])('%s', async (typed, hint) => {
    expect(await hintOf(typed)).toBe(hint)
  })

  test.each([
    [
      'completion',
      'Specify the shell: bash, zsh, fish, powershell.\nFor bash, run: source <(mergeq completion bash)',
    ],
    ['queue get --json state,mode', 'run: mergeq queue get --json --fields state,mode'],
    ['pr list --json=number,title', 'run: mergeq pr list --json --fields prNumber,prTitle'],
    [
      'pr list -R acme/web -b main --state open',
      'For open pull requests: --state not-ready --state pending --state testing --state tests-passed --state pending-failure',
    ],
    [
      "pr get 7 --format '{{.state}}'",
      "Did you mean --output?\n'{{.state}}' is not valid; must be one of: table,",
    ],
    ['pr get 7 -o yaml', 'queue export prints the settings of a queue as YAML.'],
    [
      'flaky list -R acme/web --org acme --since lately',
      'Use a duration (90s, 12h, 7d, 2w), a date (2026-01-05, 2026-01-05T12:00:00Z), today, yesterday or a weekday.',
    ],
    ['pr list --json -q .[]', "To select from the JSON, run: mergeq pr list --json | jq '.[]'"],
    [`queue get --jq "a'b"`, String.raw`run: mergeq queue get --json | jq 'a'\''b'`],
    ['queue get -R acme/web', 'a target branch.\nTo list the queues, run: mergeq queue list'],
  ])('%s: it contains what to type', async (typed, hint) => {
    expect(await hintOf(typed)).toContain(hint)
  })

  test('an unknown operation of `api` is sent, and a 404 names the nearest', async () => {
    const { err, requests } = await mergeq('api getQueues', { answer: () => ({ status: 404 }) })
    expect(requests).toHaveLength(1)
    expect(err).toContain("mergeq knows no operation named 'getQueues'. It was sent with POST")
    expect(err).toContain('Did you mean getQueue?')
    const other = await mergeq('api repos/acme/web', { answer: () => ({ status: 404 }) })
    expect(other.err).toContain('To list them, run: mergeq api --help')
  })

  test.each([
    // Misspellings of `remove` and `delete`.
    ['pr remvoe 7', 'pr'],
    ['queue remvoe', 'queue'],
    ['config delte color', 'config'],
  ])(
    '%s: a misspelling of another word is not corrected to a command that destroys something',
    async (typed, group) => {
      expect(await hintOf(typed)).toBe(`To list the commands, run: mergeq ${group} --help`)
    },
  )

  test.each([
    'pr cancel 7 --no-dry-run',
    'pr get 7 --notimeline',
    'guard install --no-fail-closed',
    'flaky list --quarantine=no',
    'flaky list --quarantine no',
  ])('%s: an option is not corrected to its opposite', async typed => {
    expect(await hintOf(typed)).toMatch(/^To see the usage, run: /)
  })

  test('a command without one of its letters leads to a line that can be typed, and destroys nothing else', async () => {
    const misspelled = fc
      .constantFrom(...allCommands.map(({ command }) => command))
      .chain(name =>
        fc.nat(name.length - 1).map(at => [name, `${name.slice(0, at)}${name.slice(at + 1)}`] as const),
      )
    await fc.assert(
      fc.asyncProperty(misspelled, async ([name, typed]) => {
        const argv = typed.split(' ')
        const reading = await parseCommandLine(argv, commandGroups)
        if (reading.asksFor !== 'error') return
        const { details } = await createUsageError(argv, reading, commandGroups)
        const [, line] = /^Did you mean: mergeq (.*)$/.exec(details.hint ?? '') ?? []
        if (line === undefined) return
        const { problem, command } = await parseCommandLine(splitWords(line), commandGroups)
        expect(problem?.kind ?? 'missing-argument').toBe('missing-argument')
        if (command?.destructive === true) expect({ typed, line }).toEqual({ typed, line: name })
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
      ['pr', 'sumbit', 'a\nsesame'],
      ['pr', 'sumbit', `sesame${'x'.repeat(500)}`],
    ])
      expect(await hintOf(words)).not.toContain('sesame')
    expect(await hintOf('pr get 7 --token sesame')).toContain('set MERGEQ_TOKEN, or run: mergeq auth login')
    expect(await hintOf(['-q', 'pr', 'sumbit', 'x'.repeat(501)])).toBe(
      'Did you mean pr submit?\nTo see the usage, run: mergeq pr submit --help',
    )
  })
})

describe('a wrong value is answered with the right one', () => {
  const at = '-R acme/web -b main'
  const stored = '{"profiles":{"staging":{"color":"never"}}}'
  const files = { '/settings/config.json': stored }
  test.each([
    [`queue update ${at} --mode paralel`, 'Did you mean parallel?'],
    [`pr wait 7 ${at} --until mergd`, 'Did you mean merged?'],
    ['config get colr', 'Did you mean color?'],
    ['sandbox exec --scenario flakey true', 'Did you mean flaky?'],
    [`queue get ${at} --profile stagin`, 'Did you mean staging?'],
  ])('%s', async (typed, hint) => {
    const setting = { files, env: { MERGEQ_CONFIG_DIR: '/settings' } }
    expect(await hintOf(typed, setting)).toContain(hint)
  })
})

const habits = await readHabits(commandGroups)

test('habits name commands and options that exist', () => {
  expect(habits.length).toBeGreaterThan(150)
  for (const [places, , meant] of habits) {
    if (meant === '' || meant === 'none' || /^[A-Z]/.test(meant)) continue
    const [first = ''] = meant.split(' ')
    const command = places.replace(/,.*| ?\*/g, '')
    const commands = first.startsWith('-') ? allCommands.filter(each => each.command.startsWith(command)) : []
    const options = [versionOption, ...globalOptions, ...commands.flatMap(({ definitions }) => definitions)]
    const names = options.flatMap(({ name, short = name }) => [name, short])
    const path = meant.replace(/ [-*].*$/, '')
    const isCommand =
      allCommands.some(each => each.command === path) || commandGroups.some(({ name }) => name === path)
    expect({ meant, exists: first.startsWith('-') ? names.includes(first) : isCommand }).toEqual({
      meant,
      exists: true,
    })
  }
})

/** What is typed in each place, and what it means. */
const typedWords = habits.flatMap(([places, typed, meant]) =>
  places.split(', ').flatMap(place => typed.split(' ').map(word => ({ place, word, meant }))),
)

test('what is said of all commands names each that has the option, and no row is about a command', () => {
  const claims = typedWords
    .filter(({ place, meant }) => place === '*' && /^(?:No command|Only) /.test(meant))
    .map(({ word, meant }) => {
      const having = allCommands.filter(({ definitions }) => definitions.some(({ name }) => name === word))
      return { word, unnamed: having.map(({ command }) => command).filter(name => !meant.includes(name)) }
    })
  expect(claims.filter(({ unnamed }) => unnamed.length > 0)).toEqual([])
  const names = allCommands.map(({ command }) => command)
  const dead = typedWords.map(({ place, word, meant }) => ({ typed: `${place} ${word}`.trim(), meant }))
  expect(dead.filter(({ typed, meant }) => names.includes(typed) && typed !== meant)).toEqual([])
})

test('no word has two meanings in one place, but those of options', () => {
  const words = typedWords
    .map(({ place, word, meant }) => ({ key: `${place} ${word}`, meant }))
    .filter(({ meant }) => !/<[12]>/.test(meant))
  const twice = words.filter(
    ({ key, meant }, index) => !meant.startsWith('-') && words.findIndex(other => other.key === key) < index,
  )
  expect(twice).toEqual([])
})

test('a habit is in the folder of the command that it leads to', async () => {
  const files = commandGroups.flatMap(({ name: group, commands }) =>
    commands.flatMap(({ name, habits }) =>
      habits === undefined ? [] : [{ own: `${group} ${name}`.trim(), habits }],
    ),
  )
  expect(files.length).toBeGreaterThan(30)
  for (const { own, habits } of files)
    for (const [places, , meant] of (await habits()).habits) {
      const isOwn = meant.replace('*', '').startsWith(own) || places.includes(own) || meant.includes(own)
      expect({
        own,
        places,
        meant,
        isOwn: isOwn || places.split(', ').some(place => own.startsWith(place.replace(' *', ''))),
      }).toMatchObject({ isOwn: true })
    }
})
