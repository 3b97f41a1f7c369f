import { describe, expect, test } from 'vitest'
import { globalOptions } from '../../src/cli/parse.ts'
import { checkout } from '../support/checkout.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, type Setting } from '../support/harness.ts'
import { mergeSettings, runningQueue } from '../support/settings-sources.ts'

const remotes = { origin: 'git@github.com:me/web.git', upstream: 'git@github.com:acme/web.git' }
const setting: Setting = {
  env: { MERGEQ_REPO: 'acme/web' },
  spawn: checkout({ remotes, refs: ['refs/heads/origin/local', 'refs/remotes/upstream/origin/there'] }),
  answer: runningQueue,
}

/** Returns the branch that a command line is about. */
async function branchOf(line: readonly string[], more: Setting = {}) {
  const { code, err, requests } = await mergeq(line, mergeSettings(setting, more))
  const [branch] = requests.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body).targetBranch]))
  return { code, err, branch }
}

/** Branches that are refused, with the branch that is meant; undefined where none is known. */
const refused: readonly (readonly [string, string | undefined, RegExp])[] = [
  ['https://github.com/acme/web/tree/dev', 'dev', /is a URL/],
  ['https://github.com/acme/web/tree/release/2.4?tab=readme', 'release/2.4', /is a URL/],
  ['https://gitlab.com/acme/web/-/tree/dev', 'dev', /is a URL/],
  ['https://github.com/acme/web', undefined, /is a URL/],
  ['ssh://git@github.com/acme/web.git', undefined, /is a URL/],
  ['origin/dev', 'dev', /begins with the name of the remote origin/],
  ['upstream/release/2.4', 'release/2.4', /begins with the name of the remote upstream/],
  ['refs/remotes/origin/dev', 'dev', /is a branch of a remote/],
  ['remotes/origin/dev', 'dev', /is a branch of a remote/],
  ['refs/tags/v1', undefined, /is a ref, but not that of a branch/],
  ['refs/heads/a..b', undefined, /two dots/],
  ['a b', undefined, /space/],
  ['a:b', undefined, /contains one of/],
  ['a*', undefined, /contains one of/],
  ['a\\b', undefined, /contains one of/],
  ['.a', undefined, /begins with a dot/],
  ['a/.b', undefined, /begins with a dot/],
  ['a.lock', undefined, /ends with \.lock/],
  ['a.', 'a', /ends with a dot/],
  ['/dev', 'dev', /slash/],
  ['dev/', 'dev', /slash/],
  ['a//b', undefined, /slash/],
  ['a@{1}', undefined, /expression of git/],
  ['@', undefined, /expression of git/],
  ['HEAD', undefined, /what is checked out/],
]

describe.each(refused)('the branch %j', (branch, meant, problem) => {
  test.each(['queue create', 'queue get', 'pr submit 7'])('is refused, nothing is sent: %s', async line => {
    const words = line.split(' ')
    const typed = await branchOf([...words, `--target-branch=${branch}`])
    const inVariable = await branchOf(words, { env: { MERGEQ_TARGET_BRANCH: branch } })
    for (const { code, err, branch } of [typed, inVariable]) {
      expect({ code, branch }).toEqual({ code: 2, branch: undefined })
      expect(err).toMatch(problem)
      if (meant !== undefined) expect(err).toContain(`Use -b ${meant}`)
    }
    expect(typed.err).toContain('--target-branch: ')
    expect(inVariable.err).toContain('MERGEQ_TARGET_BRANCH: ')
  })
})

/** Every option for a branch beside that for the target branch. */
const branchOptions = allCommands.flatMap(({ command, definitions }) =>
  definitions.filter(({ values }) => values === 'branches').map(({ name }) => ({ command, name })),
)

test('the options for a branch were found', () => {
  expect(branchOptions.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['--for', '--with-branch', '--head']),
  )
  expect(globalOptions.filter(({ values }) => values === 'branches')).toHaveLength(1)
})

describe.each(branchOptions)('$command $name', ({ command, name }) => {
  test.each(refused)('refuses %j', async (branch, meant, problem) => {
    const { code, err, requests } = await mergeq(
      [...command.split(' '), '-b', 'main', `${name}=${branch}`],
      setting,
    )
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toMatch(problem)
    expect(err).toContain(meant === undefined ? `${name}: ` : `Use ${name} ${meant}`)
  })
})

test('the head of a pull request may be typed as a ref', async () => {
  const { requests } = await mergeq('pr get -b main --head refs/heads/fix-cart', setting)
  expect(requests.map(({ body }) => JSON.parse(body).pr)).toEqual([{ branch: 'fix-cart' }])
})

test.each([
  ['dev', 'dev'],
  ['=dev', '=dev'],
  ['release/2.4', 'release/2.4'],
  ['feature.x', 'feature.x'],
  ['refs/heads/origin/dev', 'origin/dev'],
  ['refs/heads/remotes/origin/dev', 'remotes/origin/dev'],
  ['origin/local', 'origin/local'],
  ['origin/there', 'origin/there'],
  ['originals/dev', 'originals/dev'],
  ['größe', 'größe'],
])('the branch %j is %s', async (branch, name) => {
  expect(await branchOf(['queue', 'get', '-b', branch])).toMatchObject({ code: 0, branch: name })
})

test('what a file says is not judged', async () => {
  const { code, branch } = await branchOf(['queue', 'get'], {
    files: { '/repo/.mergeq.json': JSON.stringify({ targetBranch: 'origin/dev' }) },
  })
  expect({ code, branch }).toEqual({ code: 0, branch: 'origin/dev' })
})

test('git is asked only about a branch with a slash', async () => {
  const asked: string[] = []
  const spawn: Setting['spawn'] = (_, args) => {
    asked.push(args.join(' '))
    return { code: 1, out: '' }
  }
  await branchOf(['queue', 'get', '-b', 'feature.x'], { spawn })
  expect(asked).toEqual([])
  await branchOf(['queue', 'get', '-b', 'a/x'], { spawn })
  expect(asked).not.toEqual([])
})

test.each([
  ['-b=dev', 'github.com/acme/web dev'],
  ['-R=acme/api -b main', 'github.com/acme/api main'],
  ['-b =dev', 'github.com/acme/web =dev'],
])('one letter and = are read like the long form: %s', async (words, queue) => {
  const { requests } = await mergeq(['queue', 'get', ...words.split(' ')], setting)
  const [{ repo, targetBranch }] = requests.map(({ body }) => JSON.parse(body))
  expect(`${repo.host}/${repo.owner}/${repo.name} ${targetBranch}`).toBe(queue)
  expect(JSON.parse((await mergeq('queue get -b dev -o=json', setting)).out)).toHaveProperty('state')
})
