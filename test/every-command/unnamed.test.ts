import { describe, expect, test } from 'vitest'
import { isChange } from '../../src/api/operation.ts'
import { isOption } from '../../src/command/inputs.ts'
import { flagsOf } from '../support/asking-commands.ts'
import { checkout } from '../support/checkout.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, queueEnv, type Seen, type Setting, splitWords } from '../support/harness.ts'
import { queueChanges } from '../support/operations.ts'
import { ciJob } from '../support/settings-sources.ts'

/** Every command that changes something at the service and takes pull requests that need not be named. */
const commands = allCommands.filter(
  ({ operation, definitions }) =>
    operation !== undefined &&
    isChange(operation) &&
    definitions.some(definition => !isOption(definition) && definition.name === 'pr'),
)

/** Whether the operation of a command changes a pull request that nobody named without a question. */
const actsOnGuess = (name: string) =>
  commands.find(({ command }) => command === name)?.operation?.change?.actsOnGuess === true

const changes = queueChanges.filter(({ operation }) => 'pr' in operation.params).map(({ name }) => name)

const queued = {
  state: 'PENDING',
  isCurrentlySubmittedToQueue: true,
  stateChangedAt: '2026-01-05T12:00:00Z',
}

/** Runs a command line in a checkout of pull request 9, and returns which pull requests it changed. */
async function run(command: string, words: readonly string[], setting: Setting) {
  let isSubmitted = false
  const answer = ({ path, body }: Seen) => {
    const isOfChange = changes.some(name => path.endsWith(name))
    isSubmitted ||= isOfChange
    if (isOfChange) return { body: '' }
    if (!path.endsWith('getSubmittedPullRequest') || !isSubmitted) return { status: 404, body: 'not found' }
    return { body: JSON.stringify({ ...queued, prNumber: JSON.parse(body).pr.number }) }
  }
  // The question is what these tests are about.
  const flags = (flagsOf[command] ?? '').replace('--yes', '')
  const line = [...command.split(' '), ...words, ...splitWords(flags)]
  const { code, err, out, requests } = await mergeq(line, {
    spawn: checkout({ pr: 9 }),
    answer,
    columns: 200,
    ...setting,
    env: { ...queueEnv, ...setting.env },
  })
  const changed = requests
    .filter(({ path }) => changes.some(name => path.endsWith(name)))
    .map(({ body }) => (JSON.parse(body) as { pr: { number: number } }).pr.number)
  return { code, changed, err, out }
}

/** Kinds of standard input. */
const inputs: Readonly<Record<string, { readonly setting: Setting; readonly mayGuess: boolean }>> = {
  terminal: { setting: { inputTerminal: true, terminal: true, typed: ['n'] }, mayGuess: true },
  '/dev/null or closed': { setting: {}, mayGuess: true },
  'an empty pipe': { setting: { input: '' }, mayGuess: false },
  'a pipe, file or socket with a number': { setting: { input: '5\n' }, mayGuess: false },
}

test('every command that changes pull requests is covered', () => {
  expect(commands.map(({ command }) => command)).toEqual(
    expect.arrayContaining(['pr submit', 'pr cancel', 'pr restart', 'pr land', 'pr targets']),
  )
})

describe.each(commands.map(({ command, definitions }) => ({ command, definitions })))(
  '`$command`',
  ({ command, definitions }) => {
    test.each(Object.entries(inputs))(
      'without an argument, standard input is %s',
      async (_, { setting, mayGuess }) => {
        const { code, changed, err } = await run(command, [], setting)
        if (mayGuess && actsOnGuess(command)) return expect(changed).toEqual([9])
        expect({ code, changed }).toEqual({ code: 2, changed: [] })
        if (!mayGuess) return expect(err).toContain('To read pull requests from standard input, add -.')
        if (setting.inputTerminal)
          expect(err).toMatch(/#9 \(branch fix-cart\) in the queue for main of acme\/web\?/)
        else expect(err).toMatch(/#9 \(branch fix-cart\)[\s\S]*run: mergeq pr \w+ 9/)
      },
    )

    test('an answer, --yes and the number answer the question', async () => {
      if (actsOnGuess(command)) return
      expect(definitions.map(({ name }) => name)).toContain('--yes')
      const asked = await run(command, [], { inputTerminal: true, terminal: true, typed: ['y'] })
      expect(asked.changed).toEqual([9])
      expect((await run(command, ['--yes'], {})).changed).toEqual([9])
      const named = await run(command, ['9'], { inputTerminal: true, terminal: true })
      expect(named).toMatchObject({ changed: [9], err: expect.not.stringContaining('?') })
    })

    test.each(Object.entries(inputs))(
      'MERGEQ_PR and a CI job name the pull request, standard input is %s',
      async (_, { setting }) => {
        expect((await run(command, [], { ...setting, env: { MERGEQ_PR: '5' } })).changed).toEqual([5])
        const job = { ...ciJob, GITHUB_REPOSITORY: 'acme/web' }
        expect((await run(command, [], { ...setting, env: job })).changed).toEqual([7])
      },
    )

    test('the pull request of a CI job is none of another repository', async () => {
      const job = { ...ciJob, GITHUB_REPOSITORY: 'acme/web' }
      const byOption = await run(command, ['-R', 'acme/api'], { env: job })
      const byVariable = await run(command, [], { env: { ...job, MERGEQ_REPO: 'acme/api' } })
      for (const { code, changed, err } of [byOption, byVariable]) {
        expect({ code, changed }).toEqual({ code: 2, changed: [] })
        expect(err).toContain('is a pull request of github.com/acme/web, not of github.com/acme/api.')
      }
    })

    test('a CI job without a pull request guesses, and asks nobody', async () => {
      const job = {
        CI: 'true',
        GITHUB_ACTIONS: 'true',
        GITHUB_REPOSITORY: 'acme/web',
        GITHUB_REF: 'refs/heads/main',
      }
      const { code, changed } = await run(command, [], { inputTerminal: true, terminal: true, env: job })
      if (actsOnGuess(command)) expect(changed).toEqual([9])
      else expect({ code, changed }).toEqual({ code: 2, changed: [] })
    })

    test('an empty word and a word that a shell took for a comment change nothing that is not named', async () => {
      const { code, changed, err } = await run(command, [''], {})
      expect({ code, changed }).toEqual({ code: 2, changed: [] })
      expect(err).toContain('<pr> is an empty word')
      expect((await run(command, ['#5'], {})).changed).toEqual([5])
    })

    test('a dry run is not held up, and asks nothing', async () => {
      const { code, changed } = await run(command, ['--dry-run'], { input: '' })
      expect({ code, changed }).toEqual({ code: 0, changed: [] })
    })

    test('the sentence names queue and repository, and how the pull request was found', async () => {
      const guess = actsOnGuess(command)
      const { out, err } = await run(command, guess ? [] : ['9'], { inputTerminal: true, terminal: true })
      expect(out + err).toContain('for main of acme/web')
      expect(out + err).toContain(guess ? '#9 (branch fix-cart)' : '#9')
    })
  },
)

test('an option that reads standard input leaves no list of pull requests in it', async () => {
  const { code, changed } = await run('pr targets', ['--from', '-', '--no-sha'], { input: '//a\n' })
  expect({ code, changed }).toEqual({ code: 2, changed: [] })
})
