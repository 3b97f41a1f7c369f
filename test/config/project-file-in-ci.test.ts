import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../support/command-checks.ts'
import { mergeq, type Setting } from '../support/harness.ts'
import { clientOf, nodeHost } from '../support/library-client.ts'
import { mergeSettings, runningQueue } from '../support/settings-sources.ts'

const path = '/repo/.mergeq.json'
const projectFile = (document: object): Setting => ({ files: { [path]: JSON.stringify(document) } })

/** A job of GitHub for pull request 7, into main. */
const env = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/web',
  GITHUB_EVENT_NAME: 'pull_request',
  GITHUB_REF: 'refs/pull/7/merge',
  GITHUB_BASE_REF: 'main',
}
const inJob = (document: object, other: Setting = {}) =>
  mergeSettings({ ...projectFile(document), env, answer: runningQueue }, other)
/** A job for a push to main. */
const push = {
  env: { GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/main', GITHUB_BASE_REF: '' },
}

const sentQueue = ({ requests }: { readonly requests: readonly { readonly body: string }[] }) => {
  const { repo, targetBranch } = JSON.parse(requests.find(({ body }) => body !== '')?.body ?? '{}')
  return `${repo?.host}/${repo?.owner}/${repo?.name} ${targetBranch}`
}

describe('the target branch of the project file, in a job of a pull request with another base', () => {
  const document = { targetBranch: 'release/2.4' }
  test.each(['pr submit 7', 'pr cancel', 'queue pause', 'api cancelPullRequest -F pr.number=7'])(
    'a change is refused with both: %s',
    async line => {
      const { code, out, err, requests } = await mergeq(line, inJob(document))
      expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
      expect(err).toBe(
        `mergeq: ${path} names the target branch release/2.4, but the base of this job is main (GITHUB_BASE_REF).\n  Use -b main or -b release/2.4, or set MERGEQ_TARGET_BRANCH.\n`,
      )
      const { err: json } = await mergeq(`${line} --json`, inJob(document))
      expect(JSON.parse(json).error).toMatchObject({ kind: 'usage', exit: 2 })
    },
  )

  test.each(['queue get', 'queue check', 'pr get', 'pr get 7 8 9'])(
    'a read takes the base: %s',
    async line => {
      const ran = await mergeq(line, inJob(document))
      expect(sentQueue(ran)).toBe('github.com/acme/web main')
      const remark = `Using the target branch main of this job, not release/2.4 of ${path}.\n`
      expect(ran.err.split(remark)).toHaveLength(2)
    },
  )

  test.each([
    ['an option', 'pr submit 7 -b release/2.4', {}],
    ['MERGEQ_TARGET_BRANCH', 'pr submit 7', { env: { MERGEQ_TARGET_BRANCH: 'release/2.4' } }],
    ['a job without a pull request', 'pr submit 7', push],
    ['no CI job', 'pr submit 7 -R acme/web', { env: { CI: '', GITHUB_ACTIONS: '' } }],
  ])('does not matter with %s', async (_, line, other) => {
    const ran = await mergeq(line, inJob(document, other))
    expect(ran.code).toBe(0)
    expect(sentQueue(ran)).toBe('github.com/acme/web release/2.4')
  })

  test('may be a ref of the base', async () => {
    const ran = await mergeq('pr submit 7', inJob({ targetBranch: 'refs/heads/main' }))
    expect({ code: ran.code, queue: sentQueue(ran) }).toEqual({ code: 0, queue: 'github.com/acme/web main' })
  })
})

describe('the repository of the project file, in a job of another repository', () => {
  const document = { repo: 'evil/web' }
  test.each([
    ['a change', 'pr submit 7'],
    ['a check', 'queue check'],
    ['a gate', 'flaky gate --max 1 --org acme'],
    ['a comparison', 'queue diff --with-branch release'],
    ['a change of any operation', 'api cancelPullRequest -F pr.number=7'],
  ])('%s is refused with both', async (_, line) => {
    const { code, out, err, requests } = await mergeq(line, inJob(document))
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err).toBe(
      `mergeq: ${path} names the repository github.com/evil/web, but this job is one of github.com/acme/web (GITHUB_REPOSITORY).\n  The file may come from a pull request. Use -R github.com/acme/web or -R github.com/evil/web, or set MERGEQ_REPO.\n`,
    )
  })

  test('another read uses it, and says so once', async () => {
    for (const line of ['queue get', 'pr get 7 8', 'api getQueue']) {
      const ran = await mergeq(line, inJob(document))
      expect(sentQueue(ran)).toBe('github.com/evil/web main')
      const remark = `Using the repository github.com/evil/web of ${path}; this job is one of github.com/acme/web.\n`
      expect(ran.err.split(remark)).toHaveLength(2)
    }
  })

  test.each([
    ['an option', 'pr submit 7 -R acme/web', {}],
    ['MERGEQ_REPO', 'pr submit 7', { env: { MERGEQ_REPO: 'acme/web' } }],
    ['a URL', 'pr submit https://github.com/acme/web/pull/7', {}],
    ['MERGEQ_PROJECT_FILE=off', 'pr submit 7', { env: { MERGEQ_PROJECT_FILE: 'off' } }],
  ])('is not compared with %s', async (_, line, other) => {
    const ran = await mergeq(line, inJob(document, other))
    expect({ code: ran.code, queue: sentQueue(ran) }).toEqual({ code: 0, queue: 'github.com/acme/web main' })
  })

  test.each([
    ['in other letters', { repo: 'ACME/Web' }, {}, 'github.com/acme/web'],
    [
      'without a host on another host',
      { repo: 'acme/web' },
      { env: { GITHUB_SERVER_URL: 'https://ghe.acme.example' } },
      'ghe.acme.example/acme/web',
    ],
  ])('is the same %s', async (_, file, other, repo) => {
    const ran = await mergeq('pr submit 7', inJob(file, other))
    expect({ code: ran.code, queue: sentQueue(ran) }).toEqual({ code: 0, queue: `${repo} main` })
  })

  test('with a host is another one on another host', async () => {
    const other = { env: { GITHUB_SERVER_URL: 'https://ghe.acme.example' } }
    expectUsageError(await mergeq('pr submit 7', inJob({ repo: 'github.com/acme/web' }, other)))
  })
})

describe('a base that has no queue, as in a stack', () => {
  const noQueue: Setting = { answer: () => ({ status: 404, body: 'not found' }) }
  const stacked = mergeSettings(noQueue, { env: { GITHUB_BASE_REF: 'part-1' } })
  const hint = 'The base of this job is part-1. Use -b main, or set MERGEQ_TARGET_BRANCH.'
  const checkout: Setting = {
    spawn: (_, args) =>
      args.join(' ').endsWith('remote -v')
        ? { code: 0, out: 'origin\thttps://github.com/acme/web.git (fetch)\n' }
        : { code: 0, out: 'refs/remotes/origin/main\n' },
  }
  test.each<readonly [string, Setting]>([
    ['the project file', inJob({ targetBranch: 'main' }, stacked)],
    ['git', inJob({}, { ...stacked, ...checkout })],
  ])('the error names the branch of %s', async (_, setting) => {
    for (const line of ['queue get', 'pr get 7']) {
      const { code, err } = await mergeq(line, setting)
      expect(code).toBe(5)
      expect(err).toContain(`acme/web has no queue for part-1.\n  ${hint}\n`)
      const { err: json } = await mergeq(`${line} --json`, setting)
      expect(JSON.parse(json.trim().split('\n').at(-1) ?? '').error.hint).toBe(hint)
    }
  })

  test.each<readonly [string, Setting, string]>([
    ['no other branch is known', inJob({}, stacked), 'queue get'],
    ['the branch was typed', inJob({ targetBranch: 'main' }, stacked), 'queue get -b part-1'],
  ])('not if %s', async (_, setting, line) => {
    expect((await mergeq(line, setting)).err).not.toContain('The base of this job')
  })
})

test('the output of the project file is ignored in a job', async () => {
  const document = { output: 'json' }
  expect((await mergeq('config get retries', inJob(document))).out).toBe('3\n')
  expect((await mergeq('config get retries', projectFile(document))).out).toMatch(/^\{/)
})

describe('in the library', () => {
  const clientIn = (document: object, onNotice: (text: string) => void) => {
    const files = {
      ...nodeHost.files,
      exists: async (name: string) => name === path,
      read: async (name: string) => (name === path ? JSON.stringify(document) : undefined),
    }
    const host = { ...nodeHost, cwd: '/repo', env: { HOME: '/nowhere', ...env }, files }
    // Without values of its own, the client looks for them.
    const unset = { repo: undefined, targetBranch: undefined } as object
    return clientOf(runningQueue, { ...unset, onNotice }, host)
  }

  test('a change is refused as on the command line, and a read says what it takes', async () => {
    const notices: string[] = []
    const document = { targetBranch: 'release/2.4', repo: 'evil/web' }
    const { client, requests } = await clientIn(document, text => notices.push(text))
    await expect(client.cancelPullRequest({ pr: 7 })).rejects.toMatchObject({
      kind: 'usage',
      hint: expect.stringContaining("repo: 'github.com/acme/web' or repo: 'github.com/evil/web'"),
    })
    await expect(client.cancelPullRequest({ pr: 7, repo: 'acme/web' })).rejects.toMatchObject({
      kind: 'usage',
      hint: "Use targetBranch: 'main' or targetBranch: 'release/2.4', or set MERGEQ_TARGET_BRANCH.",
    })
    expect(requests).toEqual([])
    await client.getQueue()
    expect(sentQueue({ requests })).toBe('github.com/evil/web main')
    expect(notices).toHaveLength(2)
  })
})
