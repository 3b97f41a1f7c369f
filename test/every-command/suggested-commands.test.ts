import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandGroups } from '../../src/commands/index.ts'
import { mergeq, queueEnv, type Seen, type Setting, splitWords } from '../support/harness.ts'

const person: Setting = { terminal: true, columns: 200, env: { NO_COLOR: '1', MERGEQ_TARGET_BRANCH: 'main' } }
const json = (value: unknown) => ({ body: JSON.stringify(value) })

/** A service whose pull requests are in this state, and in no queue. */
const inState =
  (record: object) =>
  ({ path }: Seen) =>
    path.endsWith('getQueue') ? json({ state: 'running', enqueuedPullRequests: [] }) : json(record)
const testing = inState({ state: 'testing' })

/** The command lines in a text, each up to two spaces or the end of its line. */
const commandsIn = (text: string) => text.match(/mergeq (?:pr|flaky|queue) .*?(?= {2}|$)/gm) ?? []

const [web, api] = ['https://github.com/acme/web/pull/1', 'https://github.com/acme/api/pull/2']

describe('a suggested command names the same pull request', () => {
  test('of several repositories', async () => {
    const { out } = await mergeq(`pr wait ${web} ${api} --timeout 0`, { ...person, answer: testing })
    const waits = ['web', 'api'].map(
      (name, index) => `mergeq pr wait ${index + 1} --repo github.com/acme/${name}`,
    )
    expect(commandsIn(out)).toEqual(waits)
    const { err } = await mergeq(`pr submit ${web} ${api}`, {
      ...person,
      answer: ({ path }) => (path.endsWith('submitPullRequest') ? { body: 'OK' } : { status: 404 }),
    })
    expect(commandsIn(err)).toEqual(waits)
  })

  test('whose repository a receipt on standard input names', async () => {
    const { out } = await mergeq('pr wait - --timeout 0', {
      ...person,
      input: '{"pr":7,"repo":"github.com/acme/api","ok":false}\n',
      answer: testing,
    })
    expect(commandsIn(out)).toEqual([
      'mergeq pr wait 7 --repo github.com/acme/api',
      'mergeq pr explain 7 --repo github.com/acme/api',
    ])
  })

  test('of a branch with a sign of the shell in its name', async () => {
    const { err } = await mergeq("pr submit 7 -R acme/web -b 'release#1'", {
      ...person,
      answer: ({ path }) => (path.endsWith('submitPullRequest') ? { body: 'OK' } : { status: 404 }),
    })
    expect(commandsIn(err)).toEqual([`mergeq pr wait 7 --repo acme/web --target-branch 'release#1'`])
  })

  test('whose submission does not become visible', async () => {
    const { err } = await mergeq('pr submit 7 --wait --grace 1s -R acme/web -b main', {
      answer: ({ path }) =>
        path.endsWith('submitPullRequest') ? { body: 'OK' } : json({ state: 'cancelled' }),
    })
    expect(err).toContain('the service still shows only the previous attempt (CANCELLED).\n')
    expect(commandsIn(err)).toEqual(['mergeq pr get 7 --repo acme/web --target-branch main'])
  })
})

describe('a suggested command runs nothing that the service made up', () => {
  const hostile = '$(reboot)'

  test('as a head commit', async () => {
    const { out } = await mergeq(
      'pr wait 7 --match-head 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9 -R acme/web -b main',
      {
        ...person,
        answer: inState({ state: 'testing', prSha: hostile }),
      },
    )
    expect(out).toContain('The head of #7 moved')
    expect(commandsIn(out)).toEqual([])
  })

  test('as a test branch', async () => {
    const { out } = await mergeq('pr explain 7 -R acme/web -b main', {
      ...person,
      answer: seen =>
        seen.path.endsWith('TestingDetails')
          ? json({ testBranch: `x/${hostile}`, status: 'failed' })
          : inState({ state: 'failed' })(seen),
    })
    expect(commandsIn(out)).toEqual(['mergeq pr submit 7 --repo acme/web --target-branch main'])
  })
})

test.each([
  ['flaky list', [{ id: 'x', name: 'a' }], ['flaky get x']],
  ['flaky list', [], ['flaky list --since 30d']],
  ['flaky unhealthy', [], ['flaky list']],
])('%s of %j suggests commands for the same repository and organization', async (line, tests, commands) => {
  const answer = () => json({ tests, page: {} })
  const { out } = await mergeq(`${line} -R acme/api --org acme`, { ...person, answer })
  expect(commandsIn(out)).toEqual(commands.map(command => `mergeq ${command} --repo acme/api --org acme`))
})

describe('every suggested command of the screens and of the troubleshooting page runs', () => {
  const folder = 'test/golden/screens'
  const pages = ['docs/troubleshooting.md', ...readdirSync(folder).map(name => `${folder}/${name}`)]
  const groupNames = commandGroups.map(({ name }) => name).join('|')
  const suggestion = new RegExp(
    `(?<!\\$ |Usage: )\\bmergeq ((?:${groupNames}|--).*?)(?=\`|,? mergeq| {2}| [|] | \\(repeatable|[.;…]?$)`,
    'gm',
  )
  const values: Readonly<Record<string, string>> = {
    branch: 'main',
    pr: '7',
    command: 'get',
    topic: 'formatting',
  }
  const lines = pages.flatMap(path =>
    [...readFileSync(path, 'utf8').matchAll(suggestion)].map(([, line = '']) =>
      line.replace(/<(\w+)>/g, (placeholder, name: string) => values[name] ?? placeholder),
    ),
  )

  test.each([...new Set(lines)])('%s', async line => {
    const env = { ...queueEnv, MERGEQ_PR: '7', MERGEQ_CONFIG_DIR: '/config' }
    const { code, err } = await mergeq([...splitWords(line), '--dry-run'], { env })
    expect(err).not.toMatch(/^mergeq: unknown|usage/)
    expect(code).not.toBe(2)
  })
})
