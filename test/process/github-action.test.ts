import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { recordedJobs } from '../support/ci-jobs.ts'
import { action, type Runner, runJob, type Step } from '../support/ci-runner.ts'
import { place, type Variables } from '../support/documentation-runs.ts'
import { npmEnvironment, packPackage } from '../support/package.ts'

const recording = recordedJobs.github ?? expect.fail('no jobs of GitHub')

/** A step that runs the action; the command may fail. */
const use = (inputs: Step['with'], id = 'used'): Step => ({
  ...{ uses: 'mergeq/mergeq@v1', id, if: 'always()' },
  with: { token: 'sandbox', ...inputs },
})

describe('the action', { timeout: 90_000 }, () => {
  let sandbox: Sandbox
  afterEach(() => sandbox?.close())

  interface Given extends Partial<Runner> {
    readonly scenario?: SandboxOptions['scenario']
    readonly job?: string
  }
  /** Runs steps of a recorded job. */
  async function run(steps: readonly Step[], { scenario, job = 'pull request', ...runner }: Given = {}) {
    const queues = [{ repo: parseRepository('acme/web'), targetBranch: 'release/2.4' }]
    const options = { speed: 20, now: Date.now, queues }
    sandbox = await startSandbox(scenario === undefined ? options : { ...options, scenario })
    const { env: variables, event } = recording.jobs[job] ?? expect.fail(`no job ${job}`)
    const folder = mkdtempSync(join(place, 'action-'))
    writeFileSync(join(folder, 'event.json'), JSON.stringify(event))
    const env: Variables = {
      ...{ ...recording.common, ...variables, ...npmEnvironment(folder) },
      ...{ MERGEQ_BASE_URL: sandbox.baseUrl, MERGEQ_ORG: sandbox.org, ...runner.env },
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

  test('installs its own version by default, and gives the token to no other step', async () => {
    const { codes, logs, outputs } = await run([
      use({ command: 'queue get' }, 'get'),
      { run: 'test -z "$MERGEQ_TOKEN"' },
      use({}, 'none'),
      use({ command: 'config set color never' }, 'silent'),
    ])
    expect(codes).toEqual([0, 0, 0, 0])
    expect(logs[0]).toContain(` mergeq@${manifest.version}\n`)
    expect(outputs('none')).toMatchObject({ json: '{}', summary: '' })
    expect(outputs('silent')).toMatchObject({ json: '{}' })
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

  test('exposes the JSON and the exit code of a command, with or without a newline at the end', async () => {
    const command = 'mergeq pr get 7 --fields "state,prNumber"'
    const { codes, outputs } = await run([
      use({ command, 'allow-failure': true }, 'before'),
      use({ command: 'pr submit 7' }),
      use({ command: 'pr get 99' }),
      use({ command: 'api getQueue' }, 'api'),
      use({ command }, 'after'),
    ])
    expect(codes).toEqual([0, 0, 5, 0, 0])
    const summary = expect.stringMatching(/not in the queue/)
    const document = { error: { kind: 'not-found', exit: 5 } }
    expect(outputs('before')).toMatchObject({ code: '5', summary, document })
    const { json, document: after, file } = outputs('after')
    expect(after).toEqual({ state: expect.any(String), prNumber: 7 })
    expect(readFileSync(file, 'utf8')).toBe(`${json}\n`)
    expect(outputs('api').document).toMatchObject({ branch: 'release/2.4' })
  })

  test('shows failing checks in the log, and gives them as JSON and as a summary', async () => {
    const submit = use({ command: 'pr submit 9 --wait', 'allow-failure': true })
    const steps = [submit, use({ command: 'pr get 9' }, 'get')]
    const { codes, log, outputs } = await run(steps, { scenario: 'failure' })
    expect(codes).toEqual([0, 0])
    const { code, summary, document } = outputs()
    const { reason, failingChecks } = document
    const [{ name, url }] = failingChecks
    expect(log).toContain(`\n#9: ${name} failed: ${url}\n`)
    expect({ code, summary }).toEqual({
      code: '3',
      summary: `${reason}\n- [${name}](<${url}>)\n\nExit code of pr submit 9 --wait --interval 1s: 3`,
    })
    expect(outputs('get')).toMatchObject({ code: '0', summary: 'Exit code of pr get 9: 0' })
  })

  test('runs no part of a command as a shell', async () => {
    const command = 'api status $(touch ran) `touch ran` ; touch ran "&& touch ran"'
    const { codes, folder } = await run([use({ command })])
    expect({ codes, ran: existsSync(join(folder, 'ran')) }).toEqual({ codes: [2], ran: false })
  })

  test('a quote without its end has an exit code and an error', async () => {
    const command = "pr submit 9 --set note=it's"
    const { codes, outputs } = await run([
      use({ command }),
      use({ command, 'allow-failure': true }, 'allowed'),
    ])
    expect(codes).toEqual([2, 0])
    const { code, summary, document } = outputs()
    expect({ code, ...document.error }).toMatchObject({ code: '2', kind: 'usage', exit: 2 })
    expect(summary).toMatch(/^The input "command" has a quote without its end\. Nothing was run\.\n\nWrite /)
  })

  test('the summary says a thing once', async () => {
    const { codes, outputs } = await run([use({ command: 'pr land 8 9 -b nope' })])
    expect(codes).toEqual([5])
    const lines = outputs()
      .summary.split('\n')
      .filter(line => line !== '')
    expect(lines).toEqual([...new Set(lines)])
    expect(lines.join('\n')).toMatch(/has no queue for nope/)
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
