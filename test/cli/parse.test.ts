import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completeWords } from '../../src/cli/complete.ts'
import { globalOptions, type ParsedCommandLine, parseCommandLine } from '../../src/cli/parse.ts'
import { type Definition, isOption } from '../../src/command/inputs.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { allCommands } from '../support/commands.ts'
import { splitWords } from '../support/harness.ts'

const readLine = (line: string): Promise<ParsedCommandLine> =>
  parseCommandLine(splitWords(line), commandGroups)

/** What a reading says, in a line: `pr get --head=x pr=7`, or its problem. */
function describeReading({ asksFor, path, args, problem }: ParsedCommandLine): string {
  if (asksFor === 'error') return problem?.kind ?? ''
  if (asksFor !== 'run') return [asksFor, ...path].join(' ')
  const values = [...args].flatMap(([name, list]) => list.map(value => `${name}=${value}`))
  return [...path, ...values].join(' ')
}

describe('one reading of lines that several scanners once read differently', () => {
  test.each([
    // Short options join everywhere.
    ['queue get -qb main', 'queue get --quiet=true --target-branch=main'],
    ['pr cancel 7 -yq', 'pr cancel --yes=true --quiet=true pr=7'],
    ['pr get 7 -qx', 'unknown-option'],
    ['pr get 7 -qh', 'short help pr get'],
    // An option is never the value of another.
    ['queue get -b', 'missing-value'],
    ['pr get --head -- 7', 'missing-value'],
    ['queue get --target-branch=--json', 'queue get --target-branch=--json'],
    ['queue get -b --help', 'missing-value'],
    ['queue get -b - --json', 'queue get --target-branch=- --json=true'],
    ['queue get -b -5', 'queue get --target-branch=-5'],
    ['queue get --target-branch= --json', 'queue get --target-branch= --json=true'],
    // A value is never a command.
    ['-R pr queue -b queue get', 'queue get --repo=pr --target-branch=queue'],
    // The options of a command stand after the command.
    ['queue --concurrency 5 update', 'unknown-option'],
    ['queue --json update --concurrency 5', 'queue update --json=true --concurrency=5'],
    // Options end at `--`, and at the first word of a command to run.
    ['pr targets 7 --sha s -- --all -R -x', 'pr targets --sha=s pr=7 target=--all target=-R target=-x'],
    ['pr get -- --json', 'pr get pr=--json'],
    ['sandbox exec --seed 2 -- git -h', 'sandbox exec --seed=2 command=git command=-h'],
    ['sandbox exec --help git', 'help sandbox exec'],
    ['sandbox exec npm test -- --watch', 'sandbox exec command=npm command=test command=-- command=--watch'],
    ['sandbox exec git --help', 'sandbox exec command=git command=--help'],
    // Help wins over mistakes once the command is known.
    ['nope --help', 'unknown-command'],
    ['--nope --help', 'unknown-option'],
    ['pr get --nope -h', 'short help pr get'],
    ['help --help', 'help help'],
    // A missing value and a repeated option are always errors.
    ['pr get --help --head', 'missing-value'],
    ['pr get -R a/b -R c/d --help', 'repeated-option'],
    ['--version -R', 'missing-value'],
    ['-R a/b queue get -R a/b', 'queue get --repo=a/b'],
    ['pr nope --version', 'version pr'],
    ['queue get --version --help', 'version queue get'],
  ])('%s', async (line, reading) => {
    expect(describeReading(await readLine(line))).toBe(reading)
  })
})

test.each([
  ['pr get --nope', { kind: 'unknown-option', word: '--nope' }],
  ['pr get -5 - --nope=x -- --other', { kind: 'unknown-option', word: '--nope=x' }],
  ['pr get 7 -qx -z', { kind: 'unknown-option', word: '-x' }],
  ['pr -5 --nope', { kind: 'unknown-option', word: '-5' }],
  ['pr nope --other', { kind: 'unknown-command', word: 'nope' }],
  ['config set', { kind: 'missing-argument', argument: 'key' }],
  ['config set repo', { kind: 'missing-argument', argument: 'value' }],
  ['config set repo a/b c', { kind: 'extra-argument', word: 'c' }],
  ['queue get main rel', { kind: 'extra-argument', word: 'main' }],
])('the problem of `%s` names its words', async (line, problem) => {
  expect((await readLine(line)).problem).toEqual(problem)
})

/** A value that is no number, no option and no command. */
const value = fc.stringMatching(/^[a-z][a-z0-9/=.-]{0,8}$/).map(text => `v${text}`)

/** An option as it is typed, with the value that it gives. */
const flagOption = (definition: Definition) => {
  const { name, short, value: placeholder } = definition
  if (placeholder === undefined)
    return fc
      .constantFrom(...[name, short ?? []].flat())
      .map(word => ({ definition, value: 'true', words: [word] }))
  return fc.tuple(value, fc.nat(3)).map(([text, form]) => {
    const forms = [[name, text], [`${name}=${text}`]]
    if (short !== undefined) forms.push([short, text], [`${short}${text}`])
    return { definition, value: text, words: forms[form % forms.length] ?? [] }
  })
}

const manyOptions = (definitions: readonly Definition[]) =>
  fc
    .shuffledSubarray(
      definitions.filter(({ name }) => name !== '--fields' && name !== '--profile'),
      { maxLength: 4 },
    )
    .chain(chosen => fc.tuple(...chosen.map(flagOption)))

/** A command line without a mistake, and what it says. */
const commandLine = fc
  .constantFrom(...allCommands.filter(({ definitions }) => !definitions.some(({ program }) => program)))
  .chain(command => {
    const own = command.definitions.filter(isOption)
    const inputs = command.definitions.filter(definition => !isOption(definition))
    const count = inputs.filter(({ required }) => required === true).length
    return fc.record({
      command: fc.constant(command),
      options: manyOptions([...own, ...globalOptions]),
      /** Where each option stands: global options can stand before and after every word. */
      positions: fc.array(fc.nat(20), { minLength: 4, maxLength: 4 }),
      values: fc.array(value, {
        minLength: count,
        maxLength: inputs.at(-1)?.variadic === true ? inputs.length + 2 : inputs.length,
      }),
    })
  })
  .map(({ command, options, positions, values }) => {
    const path = command.command.split(' ')
    const slots: string[][] = [...path, ...values].map(word => [word])
    slots.unshift([])
    for (const [index, { definition, words }] of options.entries()) {
      const first = globalOptions.includes(definition) ? 0 : path.length
      slots[first + ((positions[index] ?? 0) % (slots.length - first))]?.push(...words)
    }
    const inputs = command.definitions.filter(definition => !isOption(definition))
    const args = new Map(options.map(({ definition, value }) => [definition.name, [value]]))
    for (const [index, { name, variadic }] of inputs.entries()) {
      const given = variadic === true ? values.slice(index) : values.slice(index, index + 1)
      if (given.length > 0) args.set(name, given)
    }
    return { path, args, argv: slots.flat() }
  })

const sorted = (args: Iterable<readonly [string, unknown]>) => Object.fromEntries([...args].sort())

test('the run, help and completion see the same command, options and values', async () => {
  await fc.assert(
    fc.asyncProperty(commandLine, async ({ path, args, argv }) => {
      const run = await parseCommandLine(argv, commandGroups)
      expect({ path: run.path, args: sorted(run.args), problem: run.problem }).toEqual({
        path,
        args: sorted(args),
        problem: undefined,
      })
      const help = await parseCommandLine([...argv, '--help'], commandGroups)
      expect({ path: help.path, asksFor: help.asksFor }).toEqual({ path, asksFor: 'help' })
      const { lookup } = await completeWords([...argv, '--profile'], '', commandGroups)
      expect({ source: lookup?.source, args: sorted(lookup?.args ?? []) }).toEqual({
        source: 'profiles',
        args: sorted(args),
      })
    }),
  )
})

const words = splitWords(
  "pr get queue update sandbox exec help 7 x '' - -5 -- -b -qb -yq -h --help --json --head --no-batch --nope -R --repo=a/b --concurrency",
)

test('every line has a reading, and completion offers nothing after a mistake', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...words), { maxLength: 6 }), async argv => {
      const { problem, asksFor } = await parseCommandLine(argv, commandGroups)
      if (problem === undefined) expect(asksFor).not.toBe('error')
      const isMistake = problem !== undefined && !/^missing-/.test(problem.kind)
      const { candidates, lookup } = await completeWords(argv, '', commandGroups)
      if (isMistake) expect({ candidates, lookup }).toEqual({ candidates: [], lookup: undefined })
    }),
  )
})
