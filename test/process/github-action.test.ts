import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { recordedJob } from '../support/ci-jobs.ts'
import { action, type Runner, runJob, type Step } from '../support/ci-runner.ts'
import { place, type Variables } from '../support/documentation-runs.ts'
import { npmEnvironment, packPackage } from '../support/package.ts'

/** A step that runs the action; the command may fail. */
const use = (inputs: Step['with'], id = 'used'): Step => ({
  uses: 'mergeq/mergeq@v1',
  id,
  if: 'always()',
  with: { token: 'sandbox', ...inputs },
})

describe('the action', { timeout: 90_000 }, () => {
  let sandbox: Sandbox
  afterEach(() => sandbox?.close())

  interface Given extends Partial<Runner> {
    readonly scenario?: 'happy' | 'failure'
    readonly job?: string
  }
  /** Runs steps of a recorded job. */
  async function run(
    steps: readonly Step[],
    { scenario = 'happy', job = 'pull request', ...runner }: Given = {},
  ) {
    const queues = [{ repo: parseRepository('acme/web'), targetBranch: 'release/2.4' }]
    sandbox = await startSandbox({ speed: 20, now: Date.now, queues, scenario })
    const { env: variables, event } = recordedJob('github', job)
    const folder = mkdtempSync(join(place, 'action-'))
    writeFileSync(join(folder, 'event.json'), JSON.stringify(event))
    const env: Variables = {
      ...variables,
      ...npmEnvironment(folder),
      MERGEQ_BASE_URL: sandbox.baseUrl,
      MERGEQ_ORG: sandbox.org,
      ...runner.env,
    }
    const result = await runJob(steps, folder, { ...runner, env })
    const outputs = (id = 'used') => {
      const { json = '{}', summary = '', 'exit-code': code, 'json-file': file = '' } = result.outputs(id)
      return { json, summary, code, file, document: JSON.parse(json.split('\n')[0] ?? '') }
    }
    return { ...result, outputs, folder }
  }

  test('is described: inputs, outputs and where they come from', () => {
    const guide = readFileSync('docs/github-action.md', 'utf8')
    expect(action.runs.using).toBe('composite')
    for (const [name, { description }] of Object.entries({ ...action.inputs, ...action.outputs })) {
      expect(guide).toContain(`\n| \`${name}\` | `)
      expect(description).not.toBe('')
    }
    expect(action.runs.steps.every(step => 'shell' in step)).toBe(true)
  })

  test('installs mergeq for later steps with npm, and masks the token', async () => {
    const { tarball } = await packPackage()
    const { codes, logs } = await run(
      [
        use({ version: `file:${tarball}`, 'export-token': true }),
        { run: 'mergeq queue get --json 2> errors' },
      ],
      { installs: true },
    )
    expect(codes).toEqual([0, 0])
    expect(logs.join('')).toMatch(/^\d+\.\d+\.\d+(?:\+[0-9a-f]{8}(?:\.changed)?)?\n::add-mask::sandbox/m)
    expect(JSON.parse(logs.at(-1) ?? '')).toMatchObject({ branch: 'release/2.4' })
  })

  test('in a pull request from a fork, without a token, says so in every output', async () => {
    const { codes, outputs } = await run(
      [use({ token: '', command: 'pr targets web' }, 'targets'), use({ token: '', command: 'pr get' })],
      { job: 'fork pull request' },
    )
    expect(codes).toEqual([0, 4])
    const { code, json, summary, document, file } = outputs()
    const { message, hint } = document.error
    expect({ code, message }).toEqual({ code: '4', message: expect.stringMatching(/^No API token/) })
    expect(summary.replaceAll('\\', '')).toBe(`${message}\n\n${hint}\n\nExit code of pr get: 4`)
    expect(readFileSync(file, 'utf8')).toBe(`${json}\n`)
  })

  test('masks a token with a percent sign as the runner reads it, and takes none with a line break', async () => {
    const { codes, log } = await run([use({ token: 'sand%41box' }), use({ token: 'a\nNODE_OPTIONS=--bad' })])
    expect(codes).toEqual([0, 1])
    expect(log).toContain('\n::add-mask::sand%2541box')
    expect(log).not.toContain('NODE_OPTIONS')
  })

  test('installs its own version, gives the token to no other step, and exposes the JSON and the exit code', async () => {
    const command = 'mergeq pr get 7 --fields "state,prNumber"'
    const { codes, logs, outputs } = await run([
      use({ command, 'allow-failure': true }, 'before'),
      { run: 'test -z "$MERGEQ_TOKEN"' },
      use({ command: 'pr submit 7' }),
      use({ command: 'pr get 99' }),
      use({ command: 'api getQueue' }, 'api'),
      use({ command }, 'after'),
      use({}, 'none'),
    ])
    expect(codes).toEqual([0, 0, 0, 5, 0, 0, 0])
    expect(logs[0]).toContain(` mergeq@${manifest.version}\n`)
    const document = { error: { kind: 'not-found', exit: 5 } }
    const summary = expect.stringMatching(/not in the queue/)
    expect(outputs('before')).toMatchObject({ code: '5', summary, document })
    const { json, document: after, file } = outputs('after')
    expect(after).toEqual({ state: expect.any(String), prNumber: 7 })
    expect(readFileSync(file, 'utf8')).toBe(`${json}\n`)
    // Its response ends without a newline.
    expect(outputs('api').document).toMatchObject({ branch: 'release/2.4' })
    expect(outputs('none')).toMatchObject({ json: '{}', summary: '' })
  })

  test('shows failing checks in the log, and gives them as JSON and as a summary', async () => {
    const submit = use({ command: 'pr submit 9 --wait', 'allow-failure': true })
    const { log, outputs } = await run([submit], { scenario: 'failure' })
    const { code, summary, document } = outputs()
    const { reason, failingChecks } = document
    const [{ name, url }] = failingChecks
    expect(log).toContain(`\n#9: ${name} failed: ${url}\n`)
    expect({ code, summary }).toEqual({
      code: '3',
      summary: `${reason}\n- [${name}](<${url}>)\n\nExit code of pr submit 9 --wait --interval 1s: 3`,
    })
  })

  test('runs no part of a command as a shell, and nothing where a quote has no end', async () => {
    const { codes, folder, outputs } = await run([
      use({ command: 'api status $(touch ran) `touch ran` ; touch ran "&& touch ran"' }),
      use({ command: "pr submit 9 --set note=it's", 'allow-failure': true }, 'quoted'),
    ])
    expect({ codes, ran: existsSync(join(folder, 'ran')) }).toEqual({ codes: [2, 0], ran: false })
    const { code, summary, document } = outputs('quoted')
    expect({ code, ...document.error }).toMatchObject({ code: '2', kind: 'usage', exit: 2 })
    expect(summary).toMatch(/^The input "command" has a quote without its end\. Nothing was run\.\n\nWrite /)
  })

  test('names what to add if Node is too old', async () => {
    const bin = join(place, 'old node')
    mkdirSync(bin)
    writeFileSync(join(bin, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const { codes, log } = await run([use({})], { env: { PATH: `${bin}:${process.env.PATH}` } })
    expect(codes).toEqual([1])
    expect(log).toMatch(/::error::mergeq needs Node 20\.18\.1 or newer/)
  })
})
