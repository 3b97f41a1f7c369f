import { describe, expect, test } from 'vitest'
import { completeWords, formatCompletion } from '../../src/cli/complete.ts'
import { globalOptions } from '../../src/cli/parse.ts'
import { isOption } from '../../src/command/inputs.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { allCommands } from '../support/commands.ts'

/** Completes a line at its end: the words are separated by single spaces. */
function completeLine(line: string) {
  const words = line.split(' ')
  return completeWords(words.slice(0, -1), words.at(-1) ?? '', commandGroups)
}

/** The candidates at the end of a line, then the directive. */
const offered = async (line: string): Promise<string> => {
  const { candidates, directive } = await completeLine(line)
  return [...candidates.map(({ value }) => value), `:${directive}`].join(' ')
}

describe('completeWords offers', () => {
  const cases: readonly (readonly [title: string, line: string, offers: string])[] = [
    ['groups and commands', 'qu', 'queue :nofiles'],
    ['the commands of a group', 'auth ', 'login logout status list token :nofiles'],
    ['aliases', 'pr st', 'status :nofiles'],
    ['nothing for a command without arguments', 'metrics ', ':nofiles'],
    ['the command after global options', '-R acme/web -q --color always pr ca', 'cancel :nofiles'],
    ['nothing for an unknown command', 'prr s', ':nofiles'],
    ['global options of a group', 'pr --js', '--json :nofiles'],
    ['the version at the root', '--vers', '--version :nofiles'],
    ['the version nowhere else', 'pr get --vers', ':nofiles'],
    ['short names', 'api -X', '-X :nofiles'],
    ['nothing after the short name of an option that was typed', 'api -X get --meth', ':nofiles'],
    ['no option twice', 'pr get --json --js', ':nofiles'],
    [
      'an option of the command whose opposite is another global option',
      'api getQueue --no-input --inp',
      '--input :nofiles',
    ],
    ['a variadic option again', 'queue update --set a=1 --se', '--set :nofiles'],
    ['both options of a pair', 'queue update --no-ba', '--no-batch :nofiles'],
    [
      'neither option of a pair that was typed',
      'queue update --no-batch --batch',
      '--batching-min-size --batching-max-wait-time-minutes :nofiles',
    ],
    ['choices', 'pr submit 7 --priority ', 'urgent high medium low :nofiles'],
    ['whole words after =', 'pr get --color=ne', '--color=never :nofiles'],
    ['nothing after = of an unknown option', 'pr get --nothing=', ':nofiles'],
    ['nothing after = of an option without a value', 'pr get --json=', ':nofiles'],
    ['files', 'pr targets 7 --from ', ':files'],
    ['choices of an argument', 'config get col', 'color :nofiles'],
    ['nothing beyond the last argument', 'config get color ', ':nofiles'],
    ['arguments and no options after --', 'config get -- --', ':nofiles'],
    ['no hidden argument', 'auth login ', ':nofiles'],
    ['commands for a command line', 'sandbox exec ', ':commands'],
    ['files after the first word of a command line', 'sandbox exec -- git ', ':files'],
    ['no options of mergeq in a command line', 'sandbox exec git --', ':files'],
    ['the commands and topics of help', 'help e', 'exit-codes environment :nofiles'],
    ['the commands of a group for help', 'help queue dr', 'drain :nofiles'],
    ['nothing after a command for help', 'help pr submit ', ':nofiles'],
    ['no hidden command', '__', ':nofiles'],
  ]

  test.each(cases)('%s: %j', async (_, line, offers) => {
    expect(await offered(line)).toBe(offers)
  })

  const lookups: readonly (readonly [line: string, source: string | undefined])[] = [
    ['pr get ', 'pull-requests'],
    ['pr submit 7 -- ', 'pull-requests'],
    ['pr wait 7 --until ', undefined],
    ['pr targets ', 'pull-requests'],
    ['pr targets 7 ', undefined],
    ['pr testing --pr=', 'pull-requests'],
    ['pr get --head ', 'branches'],
    ['queue get -b ', 'branches'],
    ['pr get --profile ', 'profiles'],
    ['config set ', undefined],
  ]
  test.each(lookups)('%j: the values of %s', async (line, source) => {
    expect((await completeLine(line)).lookup?.source).toBe(source)
  })

  test('every argument <pr> with pull requests', () => {
    const definitions = allCommands.flatMap(({ command, definitions }) =>
      definitions.flatMap(({ name, values }) => (name === 'pr' ? [`${command}: ${values}`] : [])),
    )
    expect(definitions.length).toBeGreaterThan(6)
    expect(definitions.filter(definition => !definition.endsWith(': pull-requests'))).toEqual([])
  })

  test('every value <file> with files', () => {
    const definitions = allCommands.flatMap(({ command, definitions }) =>
      definitions.flatMap(definition =>
        isOption(definition) && definition.value?.startsWith('file')
          ? [`${command} ${definition.name}: ${definition.file}`]
          : [],
      ),
    )
    expect(definitions.length).toBeGreaterThan(15)
    expect(definitions.filter(definition => !definition.endsWith(': true'))).toEqual([])
  })

  test('for a lookup what was typed before, with the options by their long names', async () => {
    const line = '-Racme/web --profile work pr get --target-branch=release --json 7 --head f'
    const { lookup } = await completeLine(line)
    expect({ ...lookup, args: Object.fromEntries(lookup?.args ?? []) }).toEqual({
      source: 'branches',
      prefix: '',
      current: 'f',
      args: {
        '--repo': ['acme/web'],
        '--profile': ['work'],
        '--target-branch': ['release'],
        '--json': ['true'],
        pr: ['7'],
      },
      words: ['7'],
    })
    expect((await completeLine('pr get --head=f')).lookup).toMatchObject({ prefix: '--head=', current: 'f' })
  })

  test('every group and command at the root, with its summary', async () => {
    const { candidates } = await completeLine('')
    const names = new Set(allCommands.map(({ command }) => command.split(' ')[0]))
    expect(new Set(candidates.map(({ value }) => value))).toEqual(names)
    for (const { description } of candidates) expect(description).not.toBe('')
  })

  test('every command of every group, and its own and all global options', async () => {
    for (const { command, definitions } of allCommands) {
      const [parent] = /^.* /.exec(command) ?? ['']
      expect((await completeLine(parent)).candidates.map(({ value }) => value)).toContain(
        command.slice(parent.length),
      )
      const options = definitions.filter(isOption)
      const names = (await completeLine(`${command} --`)).candidates.map(({ value }) => value)
      expect(names).toHaveLength(options.length + globalOptions.length + 1)
      expect(new Set(names)).toHaveProperty('size', names.length)
    }
  })
})

describe('formatCompletion', () => {
  test('a line for each candidate, then the directive', () => {
    const candidates = [{ value: 'a', description: 'An\n\u001b[31ma' }, { value: 'b c' }]
    expect(formatCompletion({ candidates, directive: 'files' })).toBe('a\tAn a\nb c\n:files\n')
  })

  test('no candidate that a shell would misread', () => {
    const candidates = ['a\nb', 'a\tb', '\u001b[31m', ':files'].map(value => ({ value }))
    expect(formatCompletion({ candidates, directive: 'nofiles' })).toBe(':nofiles\n')
  })
})
