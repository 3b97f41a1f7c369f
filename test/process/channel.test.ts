import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { createSandboxService, startSandbox } from '../../src/sandbox/sandbox.ts'
import { checkout, environmentOf, inSandbox, sh } from '../support/documentation-runs.ts'
import { testWith } from '../support/programs.ts'
import { startTestServer } from '../support/service.ts'

/** A line of a pull request that left. */
const left = (pr: number, to: string | null, words: object = {}) => ({
  type: 'change',
  pr,
  from: 'TESTING',
  to,
  at: '2026-01-05T12:00:00.000Z',
  position: null,
  repo: 'github.com/acme/web',
  targetBranch: 'main',
  by: null,
  actor: null,
  ...words,
})

const lines = [
  { type: 'queue', repo: 'github.com/acme/web', targetBranch: 'main', state: 'RUNNING' },
  { type: 'change', pr: null, from: 'RUNNING', to: 'PAUSED', at: '2026-01-05T12:00:00.000Z', position: null },
  { ...left(1, 'TESTING'), position: 1 },
  left(2, 'NOT_READY'),
  left(3, 'MERGED', { reason: 'The queue merged it.', again: 'done', by: 'queue' }),
  left(4, 'FAILED', {
    author: 'ada',
    reason: 'Say\n<!channel> &\tgo.',
    again: 'after-change',
    mayBeMerged: false,
  }),
  left(5, 'FAILED', { reason: 'GitHub failed.', again: 'later', mayBeMerged: false }),
  left(6, 'CANCELLED', { reason: 'It was closed.', again: 'no', by: 'person', actor: 'grace' }),
  left(7, 'FAILED', { reason: 'Unclear.', again: 'look', mayBeMerged: true }),
  left(8, null, { repo: 'git.acme.example/acme/api', targetBranch: 'dev' }),
  left(9, 'FAILED', { reason: 'New.', again: 'word-of-tomorrow', mayBeMerged: false }),
  left(10, 'MERGED', { reason: null, again: 'done' }),
  // What --since has of a pull request that was told already.
  left(9, 'FAILED', { reason: 'New.', again: 'word-of-tomorrow', mayBeMerged: false }),
]

const main = 'the queue for main of github.com/acme/web.'
const url = (pr: number) => `https://github.com/acme/web/pull/${pr}`
const messages = [
  `#3 merged in ${main} The queue merged it. ${url(3)}`,
  `#4 of ada failed in ${main} Say &lt;!channel&gt; &amp; go. Change it before you submit it again. ${url(4)}`,
  `#5 failed in ${main} GitHub failed. Submit it again after a pause. ${url(5)}`,
  `#6 was cancelled in ${main} It was closed. Caused by: person, grace. Do not submit it again. ${url(6)}`,
  `#7 failed in ${main} Unclear. It may have merged all the same: look at the target branch first. ${url(7)}`,
  '#8 left the queue for dev of git.acme.example/acme/api. The reason is not known yet. Look at it before you submit it again. https://git.acme.example/acme/api/pull/8',
  `#9 failed in ${main} New. Look at it before you submit it again. ${url(9)}`,
  `#10 merged in ${main} ${url(10)}`,
]

describe('docs/channel.md', { timeout: 60_000 }, () => {
  /** Runs the script against a chat; `mergeq` is a program that prints these lines and ends with a code. */
  async function tell(name: string, answer: (text: string, index: number) => number, code = 0) {
    const folder = checkout(`channel-${name}`)
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(folder, 'lines'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    writeFileSync(join(bin, 'mergeq'), `#!/bin/sh\necho "$*" > typed\ncat lines\nexit ${code}\n`, {
      mode: 0o755,
    })
    const chat = await startTestServer({
      answer: ({ body }, index) => ({ status: answer(JSON.parse(body).text, index) }),
    })
    const { PATH } = environmentOf({ baseUrl: '' }, folder)
    const result = await sh(['bash', 'tell.sh', '--interval', '2s'], folder, {
      PATH: `${bin}:${PATH}`,
      WEBHOOK: chat.baseUrl(),
    })
    await chat.close()
    const kept = join(folder, 'undelivered.ndjson')
    return {
      ...result,
      typed: readFileSync(join(folder, 'typed'), 'utf8'),
      sent: chat.requests.map(({ body }) => JSON.parse(body).text),
      types: [...new Set(chat.requests.map(({ headers }) => headers['content-type']))],
      undelivered: existsSync(kept)
        ? readFileSync(kept, 'utf8')
            .trim()
            .split('\n')
            .map(line => JSON.parse(line).text)
        : [],
    }
  }

  testWith('jq', 'curl')('sends a message for each pull request that left', async () => {
    const { code, typed, sent, types, undelivered } = await tell('all', () => 200)
    expect({ code, typed, types, undelivered }).toEqual({
      code: 0,
      typed: 'queue watch -o ndjson --since 1h --interval 2s\n',
      types: ['application/json'],
      undelivered: [],
    })
    expect(sent).toEqual(messages)
  })

  testWith('jq', 'curl')(
    'keeps what the chat refuses, repeats what it cannot take now, and goes on',
    async () => {
      const answer = (text: string, index: number) => (text.startsWith('#4') ? 404 : index === 0 ? 503 : 200)
      const { code, sent, undelivered } = await tell('failing', answer, 5)
      // The exit code is that of the watch.
      expect({ code, undelivered }).toEqual({ code: 5, undelivered: [messages[1]] })
      expect(sent).toEqual([messages[0], ...messages])
    },
  )

  testWith('jq', 'curl')('says why a pull request of the sandbox failed', async () => {
    const folder = checkout('channel-sandbox')
    const options = { speed: 2, now: Date.now, scenario: 'failure' } as const
    const service = createSandboxService(options)
    let isWatched = false
    const handle: typeof service.handle = request => {
      isWatched ||= request.path.endsWith('/getQueue')
      return service.handle(request)
    }
    const sandbox = await startSandbox(options, { ...service, handle })
    const chat = await startTestServer({ answer: () => ({}) })
    const env = { ...environmentOf(sandbox, folder), ...inSandbox(sandbox), WEBHOOK: chat.baseUrl() }
    const telling = sh(['bash', 'tell.sh', '--for', '6s', '--interval', '1s'], folder, env)
    await expect.poll(() => isWatched, { timeout: 20_000 }).toBe(true)
    expect(await sh(['mergeq', 'pr', 'submit', '9'], folder, env)).toMatchObject({ code: 0 })
    const { code, err } = await telling
    await Promise.all([sandbox.close(), chat.close()])
    expect(code, String(err)).toBe(0)
    expect(chat.requests.map(({ body }) => JSON.parse(body).text)).toEqual([
      expect.stringMatching(/^#9 failed in .* A required check failed\. Caused by: author\. Change it /),
    ])
  })
})
