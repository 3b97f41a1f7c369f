import { afterEach, expect, test } from 'vitest'
import { mergeq, type Setting } from '../support/harness.ts'
import { serveInProcess } from '../support/in-process.ts'

const origin = 'https://api.trunk.io'
const note =
  'Requests go to https://api.trunk.io/v1, the default address. For another one, use --base-url or MERGEQ_BASE_URL.'
let stop = () => {}
afterEach(() => stop())

/** Reads a queue of the hosted service, which this process plays. */
async function readQueue(setting: Setting, line = 'queue get --json') {
  stop = serveInProcess(origin, async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"state":"RUNNING","enqueuedPullRequests":[]}',
  }))
  const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', ...setting.env }
  const { code, err } = await mergeq(line, { columns: 200, ...setting, env })
  expect(code).toBe(0)
  return err.split(note).length - 1
}

test('with a token and nothing else, a person at a terminal is told once where requests go', async () => {
  expect(await readQueue({ terminal: true })).toBe(1)
})

const file = '/home/me/.config/mergeq/config.json'
test.each<[string, Setting, string?]>([
  ['a script', {}],
  ['whoever typed the address', { terminal: true }, `queue get --json --base-url ${origin}/v1`],
  ['whoever set the address', { terminal: true, env: { MERGEQ_BASE_URL: `${origin}/v1` } }],
  ['a CI job', { terminal: true, env: { CI: 'true' } }],
  ['-q', { terminal: true }, 'queue get --json -q'],
  [
    'whoever stored a setting',
    {
      terminal: true,
      env: { HOME: '/home/me' },
      files: { [file]: '{"profiles":{"default":{"org":"acme"}}}' },
    },
  ],
])('%s is not', async (_, setting, line) => {
  expect(await readQueue(setting, line)).toBe(0)
})
