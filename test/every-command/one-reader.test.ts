import { describe, expect, test } from 'vitest'
import { isOption } from '../../src/command/inputs.ts'
import { ciSystems } from '../../src/config/ci-systems.ts'
import { flagsOf } from '../support/asking-commands.ts'
import { allCommands } from '../support/commands.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../support/harness.ts'
import { clientOf } from '../support/library-client.ts'
import { methodName, operationExamples, responseText } from '../support/operations.ts'
import { mergeSettings, profiles } from '../support/settings-sources.ts'

/** Spellings of `github.com/acme/web`, wherever a repository is read. */
const addresses = [
  'https://github.com/acme/web.git',
  'http://WWW.GitHub.com./acme/web/',
  'https://ann:secret@github.com:443/acme/web',
  'git@github.com:acme/web.git',
  'git@ssh.github.com:acme/web',
  'ssh://git@www.github.com:22/acme/web.git',
]
const repositories = [
  'acme/web',
  'acme/web.git',
  'GitHub.com/acme/web',
  'www.github.com./acme/web.git',
  ...addresses,
]

/** Spellings of pull request 7 of that repository. */
const pullRequests = [
  'acme/web#7',
  'www.GitHub.com/acme/web.git#7',
  'https://github.com/acme/web/pull/7/files?w=1',
  'HTTPS://GitHub.com/acme/web/pull/7',
  'http://www.github.com./acme/web/pull/7.',
  'github.com/acme/web/pull/7),',
]

const web = { host: 'github.com', owner: 'acme', name: 'web' }
const branch = { MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme' }

/** The repository and the pull requests of the requests that a dry run prints. */
async function previews(line: string, setting: Setting) {
  const { code, out, err } = await mergeq(`${line} --dry-run`, mergeSettings({ env: branch }, setting))
  expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' })
  return out
    .trim()
    .split('\n')
    .map(text => JSON.parse(text).body)
}

/** Calls the method of an operation; what was sent counts, not what the answer is good for. */
const call = async (client: object, { operation }: (typeof operationExamples)[number], options: object) => {
  const method: unknown = Reflect.get(client, methodName(operation))
  if (typeof method === 'function')
    await Promise.resolve(Reflect.apply(method, client, [options])).catch(() => undefined)
}

const ofRepository = operationExamples.filter(
  ({ operation, name }) =>
    'repo' in operation.params && operation.route.startsWith('POST') && name !== 'status',
)

describe('a repository is read alike', () => {
  test.each(ofRepository.map(({ name, line }) => [name, line] as const))('-R: %s', async (_, line) => {
    for (const spelling of repositories) {
      const [body] = await previews(`${line} -R ${spelling}`, {})
      expect({ spelling, repo: body.repo }).toEqual({ spelling, repo: web })
    }
  })

  const git = (spelling: string): Setting => ({
    spawn: (_, args) => {
      const text = args.join(' ')
      return { code: 0, out: text.includes('remote -v') ? `origin\t${spelling} (fetch)\n` : '' }
    },
  })

  type Source = readonly [name: string, spellings: readonly string[], (spelling: string) => Setting]

  /** The variables of a CI system that name the repository: an address, or a server beside a path. */
  function variablesOf({
    title,
    markers,
    address,
    repo = [],
  }: (typeof ciSystems)[number]): readonly Source[] {
    const [marker = ''] = markers.split(' ')
    const inJob = (env: Readonly<Record<string, string>>): Setting => ({
      env: { CI: 'true', [marker]: '1', ...env },
    })
    const servers = ['https://github.com', 'http://www.GitHub.com.', 'WWW.github.com']
    return [
      ...(address === undefined ? [] : [[address, addresses, text => inJob({ [address]: text })] as Source]),
      ...repo.flatMap(({ host, path }) => {
        const [name = ''] = path.split(' ')
        return (host?.split(' ') ?? []).map(
          (server): Source => [
            `${title}: ${server}`,
            servers,
            text => inJob({ [server]: text, [name]: 'acme/web.git' }),
          ],
        )
      }),
    ]
  }

  const sources: readonly Source[] = [
    ['MERGEQ_REPO', repositories, spelling => ({ env: { MERGEQ_REPO: spelling } })],
    ['.mergeq.json', repositories, repo => ({ files: { '/repo/.mergeq.json': JSON.stringify({ repo }) } })],
    ['a profile', repositories, repo => profiles({ default: { repo } })],
    ['a git remote', addresses, git],
    ...ciSystems.flatMap(variablesOf),
  ]
  test.each(sources)('%s', async (_, spellings, setting) => {
    for (const spelling of spellings) {
      const [body] = await previews('queue get', setting(spelling))
      expect({ spelling, repo: body.repo }).toEqual({ spelling, repo: web })
    }
  })

  test.each(ofRepository.map(example => [example.name, example] as const))(
    'library: %s',
    async (name, example) => {
      const { client, requests } = await clientOf(() => ({ body: responseText(example) }))
      for (const repo of repositories) {
        const { pr: _, ...options } = example.options as Record<string, unknown>
        const needsPr = 'pr' in example.operation.params && !('run' in options)
        await call(client, example, { ...options, ...(needsPr && { pr: 7 }), repo })
        const body = JSON.parse(requests.at(-1)?.body ?? '{}')
        expect({ name, repo, sent: body.repo }).toEqual({ name, repo, sent: web })
      }
    },
  )
})

describe('a pull request is read alike', () => {
  /** The commands that take a pull request, and how: as an argument, or in an option. */
  const takers = allCommands.flatMap(({ command, definitions }) =>
    definitions
      .filter(({ values, value }) => values === 'pull-requests' || value === 'pr')
      .map(definition => ({ command, definition })),
  )

  const lineOf = (command: string, words: string) => `${command} ${words} ${flagsOf[command] ?? ''}`
  const inOther = { env: { ...branch, MERGEQ_REPO: 'other/place' } }

  test.each(takers.map(({ command, definition }) => [command, definition] as const))(
    '%s %o',
    async (command, definition) => {
      for (const spelling of pullRequests) {
        const words = isOption(definition) ? `${definition.name} ${spelling}` : spelling
        const [body] = await previews(lineOf(command, `"${words.replace(' ', '" "')}"`), inOther)
        expect({ spelling, repo: body.repo }).toEqual({ spelling, repo: web })
        if (command !== 'queue runs') expect(body.pr.number).toBe(7)
      }
    },
  )

  const piped = takers.filter(({ definition }) => definition.variadic === true)
  test.each(piped.map(({ command }) => command))('%s -', async command => {
    const bodies = await previews(lineOf(command, '-'), { ...inOther, input: pullRequests.join('\n') })
    // Each is the same pull request.
    expect(bodies.map(({ repo, pr }) => [repo, pr.number])).toEqual([[web, 7]])
  })

  test('MERGEQ_PR', async () => {
    for (const spelling of pullRequests) {
      const [body] = await previews('pr get', mergeSettings(inOther, { env: { MERGEQ_PR: spelling } }))
      expect({ spelling, body }).toMatchObject({ spelling, body: { repo: web, pr: { number: 7 } } })
    }
  })

  const ofPullRequest = operationExamples.filter(({ operation }) => 'pr' in operation.params)
  test.each(ofPullRequest.map(example => [example.name, example] as const))(
    'library: %s',
    async (_name, example) => {
      const { client, requests } = await clientOf(() => ({ body: responseText(example) }), {
        repo: undefined,
      })
      for (const pr of pullRequests) {
        const { run: _, ...options } = example.options as Record<string, unknown>
        await call(client, example, { ...options, pr })
        const body = JSON.parse(requests.at(-1)?.body ?? '{}')
        expect({ pr, body }).toMatchObject({ pr, body: { repo: web, pr: { number: 7 } } })
      }
    },
  )
})

describe('the address of a test run', () => {
  const run = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
  const found = `https://app.example.com/acme/merge/runs/${run}?tab=checks`
  const answer = ({ path }: Seen): Answer =>
    path.endsWith('getMergeQueueTestingDetails')
      ? {
          body: JSON.stringify({ status: 'running', testedPullRequests: [{ prNumber: 7 }, { prNumber: 8 }] }),
        }
      : path.endsWith('getSubmittedPullRequest')
        ? { body: '{"state":"TESTING"}' }
        : { status: 404 }
  const env = { ...branch, MERGEQ_REPO: 'acme/web' }

  test('pr testing reads the run', async () => {
    const { code, requests } = await mergeq(`pr testing ${found}`, { env, answer })
    expect({ code, sent: requests.map(({ body }) => JSON.parse(body).testRunId) }).toEqual({
      code: 0,
      sent: [run],
    })
  })

  test('pr explain explains the pull requests that the run tests, and those that were typed, once', async () => {
    const { code, out } = await mergeq(`pr explain 9 7 ${found} -o ndjson`, { env, answer })
    const explained = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).pr)
    expect({ code, explained }).toEqual({ code: 0, explained: [9, 7, 8] })
  })

  test.each(
    allCommands
      .filter(({ definitions }) => definitions.some(({ name }) => name === 'pr' || name === 'run'))
      .map(({ command }) => command)
      .filter(command => command !== 'pr targets'),
  )('%s: an address without one, or with two, is refused and says what is taken', async command => {
    for (const address of [
      'https://github.com/acme/web/actions/runs/1',
      `${found}&other=${run.replace('6', '7')}`,
    ]) {
      const { code, err, requests } = await mergeq([...command.split(' '), address], { env, answer })
      expect({ code, requests: requests.length }).toEqual({ code: 2, requests: 0 })
      expect(err).toMatch(/URL of a pull request.*ID of (?:a|one) test run/)
    }
  })
})
